"""A gateway on a real port, a page that speaks the wire by hand, and an agent that is only a session."""

import asyncio
import hashlib
import json
import secrets
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from gateway.adapters.configuration_file import load, load_file
from gateway.adapters.ids import RandomIds
from gateway.asgi import Bounds, server_of
from gateway.bootstrap import AppHost, behind_edge, wire
from gateway.domain.admin_tokens import AdminScope
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import Stream
from gateway.domain.calls import Call
from gateway.domain.configuration import Configuration, Documents
from gateway.domain.sites import AgentProfile, Site
from gateway.runtime.admin import Reloader
from gateway.runtime.identity import TicketRequest
from gateway.runtime.ports import Store
from gateway.runtime.recovery import recover
from gateway.runtime.requests import CallRequest, Outcome
from gateway.runtime.retention import Retention
from gateway.runtime.services import Services
from gateway.runtime.sweeper import Sweeper
from gateway.settings import Limits, Server
from gateway.testing import FakeClock, MemoryAppFiles
from gateway.transports import admin_http, assets, lineup, page_ws, surface_http
from policy.model import Floor
from tests.support.databases import open_own

HOST: Final = "127.0.0.1"
ORIGIN: Final = "https://app.example.test"
OTHER_ORIGIN: Final = "https://other.example.test"
PATIENCE: Final = 5.0
PATTERNS: Final = tuple(
    f"{noun}.*" for noun in ("todo", "mail", "orders", "notes", "cart", "counter", "ledger", "ok", "bad", "crm")
)
"""What the sites expose, their keys cover and sessions reach, unless a test says otherwise."""

ADD: Final = {
    "id": "todo.add",
    "title": "Add a to-do",
    "description": "Adds one.",
    "input_schema": {
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
        "additionalProperties": False,
    },
    "confirm": "policy",
}
LIST: Final = {
    "id": "todo.list",
    "description": "Lists them.",
    "input_schema": {"type": "object"},
    "effect": "read",
    "confirm": "never",
}
CLEAR: Final = {
    "id": "todo.clear",
    "description": "Clears them.",
    "input_schema": {"type": "object"},
    "effect": "destructive",
    "confirm": "always",
}


def configuration(port: int, **changes: Any) -> Configuration:
    """Two sites, two agents; `changes` replaces fields of `Limits`, the `server`, or what the sites expose."""
    exposed = tuple(Floor(pattern=p) for p in changes.pop("patterns", PATTERNS))
    site = Site(
        name="todo",
        address=f"{ORIGIN}/",
        origins=(ORIGIN,),
        users=("*",),
        expose=exposed,
        label="To-do",
        in_page_scope=changes.pop("in_page_scope", ("todo.*",)),
    )
    other = Site(name="other", address=f"{OTHER_ORIGIN}/", origins=(OTHER_ORIGIN,), users=("*",), expose=exposed)
    server = changes.pop("server", {})
    documents = changes.pop("documents", Documents())
    limits = {
        "calls_per_minute": 10_000,
        "calls_burst": 10_000,
        "requests_per_minute": 1_000_000,
        "requests_burst": 10_000,
        **changes,
    }
    return Configuration(
        revision="policy-000000000000",
        server=Server(listen_port=port, public_url=f"http://{HOST}:{port}", **server),
        limits=Limits(**limits),
        sites={site.name: site, other.name: other},
        agents={name: AgentProfile(name=name, label=name.title()) for name in ("alice", "bob")},
        documents=documents,
    )


@dataclass(eq=False)
class Page:
    """One socket of one document."""

    socket: ClientConnection
    document: str
    user: str
    welcome: dict[str, Any] = field(default_factory=dict[str, Any])
    _kept: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _is_stalled: bool = False

    async def send(self, frame: dict[str, Any]) -> None:
        await self.socket.send(json.dumps(frame))

    async def receive(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next frame of `kind` with these `fields`; the others are kept for later."""
        for frame in self._kept:
            if frame["type"] == kind and fields.items() <= frame.items():
                self._kept.remove(frame)
                return frame
        async with asyncio.timeout(PATIENCE):
            while True:
                frame = json.loads(await self.socket.recv())
                if frame["type"] == kind and fields.items() <= frame.items():
                    return frame
                self._kept.append(frame)

    async def declare(self, *declarations: dict[str, Any], seq: int = 1) -> dict[str, Any]:
        await self.send({"type": "caps", "seq": seq, "part": 1, "parts": 1, "capabilities": list(declarations)})
        return await self.receive("caps_ack", seq=seq)

    async def answer(self, invoke: dict[str, Any], output: Any, **more: Any) -> None:
        frame = {"type": "result", "ref": invoke["ref"], "epoch": invoke["epoch"], "ok": True, "output": output}
        await self.send({**frame, **more})

    async def decide(self, request: dict[str, Any], decision: str, **changes: Any) -> None:
        """Press a button of the dialog `request` opened."""
        payload = json.loads(request["payload"])
        frame = {
            "type": "decision",
            "approval": payload["approval"],
            "nonce": payload["nonce"],
            "sha256": hashlib.sha256(request["payload"].encode()).hexdigest(),
            "decision": decision,
            "visible": True,
        }
        await self.send({**frame, **changes})

    def stalls(self) -> None:
        """Take nothing from the socket any more, and keep it open."""
        self.socket.transport.pause_reading()
        self._is_stalled = True

    async def close(self) -> None:
        """Leave; who takes nothing cannot hear a goodbye either."""
        if self._is_stalled:
            self.socket.transport.abort()
        else:
            await self.socket.close()

    async def closed(self) -> int:
        """The close code, once the gateway has closed."""
        async with asyncio.timeout(PATIENCE):
            await self.socket.wait_closed()
        assert self.socket.close_code is not None
        return self.socket.close_code

    def has(self, kind: str) -> bool:
        """Whether a frame of `kind` was passed over."""
        return any(frame["type"] == kind for frame in self._kept)


@dataclass(eq=False)
class Rig:
    """A running gateway and what tests do to it."""

    services: Services
    port: int
    clock: FakeClock
    store: Store
    http: httpx.AsyncClient
    fail_commits: Callable[[], Callable[[], None]]
    """Let no transaction of its own store come to an end until the answer is called."""
    files: MemoryAppFiles = field(default_factory=MemoryAppFiles)
    """What is installed."""
    way_in: int | None = None
    """The port pages really connect to, where there is something between them and the gateway."""
    _pages: list[Page] = field(default_factory=list[Page])

    @property
    def url(self) -> str:
        return f"ws://{HOST}:{self.port}/page/v1"

    async def sweep(self) -> None:
        """Let what is due happen, as the background task would."""
        await self.sweeper().sweep()

    def sweeper(self) -> Sweeper:
        """The background task of a gateway that starts now."""
        services = self.services
        return Sweeper(
            spine=services.spine,
            clock=services.clock,
            pages=services.pages,
            refusals=services.refusals,
            retention=Retention(store=self.store, live=services.live, clock=services.clock),
            running=services.running,
            surfaces=services.surfaces,
        )

    async def close(self) -> None:
        """Let every page go."""
        for page in self._pages:
            await page.close()

    async def key(self, site: str = "todo") -> str:
        exposed = [floor.pattern for floor in self.services.live.world.configuration.sites[site].expose]
        return (await self.services.admin.add_key(site, capabilities=exposed, by="test")).secret

    async def ticket(self, user: str = "ann", site: str = "todo", origin: str | None = None) -> str:
        key = await self.services.identity.site_key(await self.key(site))
        wanted = origin or (ORIGIN if site == "todo" else OTHER_ORIGIN)
        return (await self.services.identity.mint_ticket(key, TicketRequest(user=user, origin=wanted)))[0]

    async def grant(self, agent: str = "alice", user: str = "ann", **changes: Any) -> tuple[AgentSession, str]:
        given: dict[str, Any] = {
            "sites": ["todo"],
            "scope": [*PATTERNS, "context.read"],
            **changes,
        }
        grant = await self.services.admin.add_session(agent, user=user, by="test", **given)
        return grant.session, grant.token

    async def admin_token(self, *scopes: str, name: str = "pipeline") -> str:
        """A token of the admin API; with every scope unless some are named."""
        tokens = self.services.admin.tokens
        return (await tokens.add(name, scopes=scopes or [s.value for s in AdminScope], by="test")).secret

    async def socket(
        self, origin: str | None = ORIGIN, *, window: int | None = None, **headers: str
    ) -> ClientConnection:
        """A socket; `window` is how many bytes its machine takes before somebody reads them."""
        plain = socket.socket()
        plain.setblocking(False)
        if window is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        await asyncio.get_running_loop().sock_connect(plain, (HOST, self.way_in or self.port))
        try:
            return await connect(
                self.url,
                sock=plain,
                origin=origin,  # type: ignore[arg-type] - a NewType of str
                compression=None,
                max_size=None,
                max_queue=None,
                ping_interval=None,
                additional_headers=headers or None,
            )
        except InvalidStatus:
            plain.close()
            raise

    async def page(
        self,
        *declarations: dict[str, Any],
        user: str = "ann",
        document: str | None = None,
        ticket: str | None = None,
        window: int | None = None,
        **changes: Any,
    ) -> Page:
        """A welcomed document, with `declarations` acknowledged when there are any."""
        page = Page(await self.socket(window=window), document or secrets.token_urlsafe(16), user)
        self._pages.append(page)
        await page.send(hello(page.document, ticket or await self.ticket(user), **changes))
        page.welcome = await page.receive("welcome")
        if declarations:
            await page.declare(*declarations)
        return page

    async def submit(
        self, session: AgentSession, capability: str, arguments: Any, **more: Any
    ) -> tuple[Outcome, Any]:
        return await self.services.calls.submit(
            CallRequest(
                caller=session,
                capability=capability,
                arguments=arguments,
                arrival=self.services.inventories.arrive(),
                **more,
            )
        )

    async def outcome(self, submitted: tuple[Outcome, Any]) -> Outcome:
        """How a submitted call ends."""
        return await self.services.calls.wait(*submitted, PATIENCE)

    async def call(self, ref: str) -> Call:
        found = await self.store.run(lambda tx: tx.calls.find(ref))
        assert found is not None
        return found

    async def records(self, event: str, **facts: Any) -> list[dict[str, Any]]:
        """The facts of the audit records of `event` that hold `facts`."""
        await self.services.spine.drain()
        chained = await self.store.run(
            lambda tx: [r for stream in Stream for r in tx.audit.read(stream, after=0, limit=10_000)]
        )
        bodies = [json.loads(record.body) for record in chained]
        return [b["facts"] for b in bodies if b["event"] == event and facts.items() <= b["facts"].items()]


def hello(document: str, ticket: str, **changes: Any) -> dict[str, Any]:
    """A good first frame; `changes` makes it another."""
    frame: dict[str, Any] = {
        "type": "hello",
        "v": 1,
        "site": "todo",
        "doc": document,
        "ticket": ticket,
        "seen": [],
        "url": f"{ORIGIN}/list",
        "title": "List",
        "visibility": "visible",
        "automated": False,
    }
    return {**frame, **changes}


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def _unable() -> Callable[[], None]:
    raise AssertionError("whoever brings a store knows how to let it fail")


@asynccontextmanager
async def running(
    store: Store | None = None,
    clock: FakeClock | None = None,
    file: Path | None = None,
    *,
    ping_seconds: float = 15.0,
    **changes: Any,
) -> AsyncGenerator[Rig]:
    """Serve a gateway over `store` until the block ends; the store stays, as a database does.

    Without `store`, over one of its own of the kind the test runs on. `file` is what a reload reads; the start does not.
    """
    port, clock = free_port(), clock or FakeClock()
    own, fail_commits = open_own() if store is None else (None, _unable)
    store = store or own
    assert store is not None, "one of the two"
    config = configuration(port, **changes)
    await recover(store, clock.now(), grace_ms=config.limits.page_grace_ms, revision=config.revision)
    files = MemoryAppFiles()
    services = wire(
        store,
        config,
        clock=clock,
        ids=RandomIds(),
        key=bytes(32),
        enabled=lambda _: {},
        handlers={},
        host=AppHost(files=files),
    )
    reloader = Reloader(services=services, path=file, load=load_file, judge=load)
    conversations = lineup.LineupEndpoint(services, ping_seconds=ping_seconds)
    app = behind_edge(
        services,
        *page_ws.routes(services),
        *surface_http.routes(services),
        *conversations.routes,
        *admin_http.routes(services, reloader),
        *assets.routes(services),
    )
    server = server_of(app, HOST, port, lambda: services.pages.close_all("shutdown"), bounds=Bounds.of(services))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.005)
    async with httpx.AsyncClient(base_url=f"http://{HOST}:{port}", timeout=PATIENCE) as http:
        rig = Rig(services, port, clock, store, http, fail_commits, files)
        yield rig
        await rig.close()
    services.pages.close_all("shutdown")
    conversations.close()
    server.should_exit = True
    await serving
    clock.advance(1_000)
    await services.spine.drain()
    if own is not None:
        await own.close()
