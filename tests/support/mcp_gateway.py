"""A gateway on a free loopback port for tests of the MCP door, and a page that answers without a browser."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

from capabilities.contract import Descriptor
from capabilities.registry import BUILTINS, Builtin
from gateway.asgi import Bounds, server_of
from gateway.bootstrap import Gateway, behind_edge, build
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.configuration import Configuration
from gateway.domain.sites import AgentProfile, Site
from gateway.runtime.admin.trail import TrailRecord
from gateway.runtime.identity import TicketRequest, hash_of
from gateway.runtime.joining import Hello
from gateway.runtime.pages import Joined
from gateway.runtime.services import Services
from gateway.runtime.settlement import Answer
from gateway.settings import Limits, Server
from gateway.transports.agents_mcp import Extensions, McpEndpoint, Patience
from policy.model import Floor
from tests.support.databases import url_for

MODERN = "2026-07-28"
ACCEPT = "application/json, text/event-stream"
QUICK = Patience(before_task=0.3, with_progress=3.0, without=0.6, between_progress=0.3, between_pings=0.3, status=0.6)

Act = Callable[[str, dict[str, Any]], dict[str, Any]]


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class McpGateway:
    """A running one."""

    gateway: Gateway
    endpoint: McpEndpoint
    url: str
    session: AgentSession
    token: str

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.split(":")[2].partition("/")[0])

    @property
    def services(self) -> Services:
        """Its use cases."""
        return self.gateway.services

    async def add_session(self, **how: Any) -> tuple[AgentSession, str]:
        """A further grant."""
        wanted: dict[str, Any] = {"user": "ada", "sites": ["todo"], "scope": ["todo.*", "runtime.*"], **how}
        grant = await self.services.admin.add_session(wanted.pop("agent", "coder"), by="test", **wanted)
        return grant.session, grant.token

    async def records(self, event: str | None = None) -> list[dict[str, Any]]:
        """The audit trail, oldest first: facts with `event` and `stream`."""
        tail: Sequence[TrailRecord] = await self.services.admin.audit_tail(limit=1000)
        return [
            {**record.facts, "event": record.event, "stream": record.stream}
            for record in tail
            if event is None or record.event == event
        ]

    def post_headers(self, token: str | None = None, **more: str) -> dict[str, str]:
        """Headers every POST has."""
        return {
            "authorization": f"Bearer {token or self.token}",
            "accept": ACCEPT,
            "content-type": "application/json",
            **more,
        }

    async def modern(
        self,
        client: httpx.AsyncClient,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        request: Any = 1,
        meta: Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """One request of the newer era, well-formed unless the caller makes it otherwise."""
        message, head = self.modern_parts(
            method, params, request=request, meta=meta, capabilities=capabilities, token=token
        )
        return await client.post(self.url, content=json.dumps(message), headers={**head, **(headers or {})})

    def modern_parts(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        request: Any = 1,
        meta: Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        token: str | None = None,
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Message and headers of one."""
        whole = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "probe", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": dict(capabilities or {}),
            **(meta or {}),
        }
        message = {"jsonrpc": "2.0", "id": request, "method": method, "params": {**(params or {}), "_meta": whole}}
        name = (params or {}).get("name") or (params or {}).get("taskId")
        head = self.post_headers(token, **{"mcp-protocol-version": MODERN, "mcp-method": method})
        if name is not None:
            head["mcp-name"] = name
        return message, head

    async def call(self, client: httpx.AsyncClient, name: str, arguments: Any = None, **how: Any) -> dict[str, Any]:
        """`tools/call`, newer era; the result object, also out of an event stream."""
        answer = await self.modern(client, "tools/call", {"name": name, "arguments": arguments or {}}, **how)
        message = last_message(answer)
        assert "result" in message, message
        return message["result"]


def last_message(answer: httpx.Response) -> dict[str, Any]:
    """The JSON-RPC answer, from a plain body or the last event of a stream."""
    if answer.headers["content-type"].startswith("text/event-stream"):
        return messages_of(answer.text)[-1]
    return answer.json()


def messages_of(text: str) -> list[dict[str, Any]]:
    """Every message of an event stream."""
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


def configuration_for(
    port: int, *, builtins: tuple[str, ...] = (), database: str = "", **changes: Any
) -> Configuration:
    """One site, one agent, every built-in on."""
    server = Server(
        listen_port=port,
        public_url=f"http://127.0.0.1:{port}",
        origins=(f"http://127.0.0.1:{port}", f"http://localhost:{port}"),
        builtins=builtins,
        database=database,
    )
    given: dict[str, Any] = {
        "revision": "policy-000000000001",
        "server": server,
        "limits": Limits(
            calls_per_minute=100_000, calls_burst=10_000, requests_per_minute=1_000_000, requests_burst=100_000
        ),
        "sites": {"todo": site("todo")},
        "agents": {"coder": AgentProfile(name="coder", label="Coder"), "bob": AgentProfile(name="bob", label="Bob")},
        "rules": (),
        **changes,
    }
    return Configuration(**given)


def site(name: str, *expose: str) -> Site:
    """A site that exposes `expose`, by default all of its own name."""
    return Site(
        name=name,
        address=f"http://{name}.test/",
        origins=(f"http://{name}.test",),
        users=("*",),
        expose=tuple(Floor(pattern=pattern) for pattern in expose or (f"{name}.*",)),
    )


@asynccontextmanager
async def running_gateway(
    data: Path,
    *,
    builtins: Mapping[str, Builtin] = BUILTINS,
    patience: Patience = QUICK,
    extensions: Extensions | None = None,
    port: int | None = None,
    scope: tuple[str, ...] = ("todo.*", "runtime.*", "context.*"),
    idle_seconds: float = 1800.0,
    session: str | None = None,
    **changes: Any,
) -> AsyncGenerator[McpGateway]:
    """Run one until the block ends."""
    data.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - once, before anything runs
    port = port or free_port()
    configuration = configuration_for(port, builtins=tuple(builtins), database=url_for(data), **changes)
    async with AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(build(configuration, data, builtins=builtins))
        endpoint = McpEndpoint(gateway.services, extensions=extensions, patience=patience, idle_seconds=idle_seconds)
        await stack.enter_async_context(endpoint.run())
        app = behind_edge(gateway.services, endpoint.route)
        server = server_of(app, "127.0.0.1", port, endpoint.close, bounds=Bounds.of(gateway.services))
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        grant = await gateway.services.admin.add_session(
            "coder", user="ada", sites=list(configuration.sites), scope=list(scope), by="test"
        )
        running = McpGateway(gateway, endpoint, f"http://127.0.0.1:{port}/mcp", grant.session, grant.token)
        try:
            yield running
        finally:
            endpoint.close()
            server.should_exit = True
            await serving


@dataclass
class FakePage:
    """A document without a browser: answers the frames it gets by `act`, approves or denies when told to."""

    services: Services
    joined: Joined
    frames: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    act: Act | None = None
    decide: bool | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def send(self, frame: Mapping[str, Any]) -> bool:
        """`PageConnection`."""
        self.frames.append(dict(frame))
        if frame["type"] == "invoke" and self.act is not None:
            self._spawn(self.answer(frame["ref"], self.act(frame["capability"], json.loads(frame["input"]))))
        if frame["type"] == "approve_request" and self.decide is not None:
            self._spawn(self.decided(approve=self.decide))
        return True

    def close(self, code: int, why: str) -> None:
        """`PageConnection`."""
        self.frames.append({"type": "closed", "code": code, "why": why})

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """The frames of one type so far."""
        return [frame for frame in self.frames if frame["type"] == kind]

    async def answer(self, ref: str, output: dict[str, Any], evidence: dict[str, Any] | None = None) -> None:
        """What the handler returned."""
        session = self.joined.page.session
        call = await self.services.spine.store.run(lambda tx: tx.calls.find(ref))
        assert call is not None
        answer = Answer(output=json.dumps(output), evidence=None if evidence is None else json.dumps(evidence))
        await self.services.execution.answer(call, answer, page=session.id, epoch=session.epoch)

    async def asked(self, count: int = 1) -> dict[str, Any]:
        """The newest approval payload, once there were `count`."""
        async with asyncio.timeout(5):
            while len(found := self.of_type("approve_request")) < count:  # noqa: ASYNC110 - a test polls
                await asyncio.sleep(0.01)
        return json.loads(found[-1]["payload"])

    async def decided(self, *, approve: bool, count: int = 1) -> None:
        """The person clicks."""
        payload = await self.asked(count)
        text = self.of_type("approve_request")[-1]["payload"]
        page = self.services.live.world.pages[self.joined.page.id]
        await self.services.approvals.decide(
            page,
            approval=payload["approval"],
            nonce=payload["nonce"],
            digest=hash_of(text).hex(),
            approve=approve,
            visible=True,
        )

    async def declare(self, *descriptors: Descriptor) -> None:
        """Register capabilities."""
        await self.services.pages.declare(self.joined.page.id, {d.id: d for d in descriptors})

    async def drop(self) -> None:
        """The tab is closed, and forgotten at once."""
        page = self.joined.page.id
        self.services.pages.leave(page, self)
        live = self.services.live.world.pages[page]
        self.services.live.put_page(replace(live, dropped_at=0))
        await self.services.pages.sweep(self.services.clock.now())


async def join_page(
    services: Services,
    *descriptors: Descriptor,
    site: str = "todo",
    user: str = "ada",
    url: str | None = None,
    patterns: tuple[str, ...] = (),
) -> FakePage:
    """A page of `user` on `site` that offers `descriptors`."""
    origin = f"http://{site}.test"
    patterns = patterns or tuple(f"{d.id.rpartition('.')[0]}.*" for d in descriptors) or ("todo.*",)
    made = await services.admin.add_key(site, capabilities=patterns, by="test")
    key = await services.identity.site_key(made.secret)
    ticket, _ = await services.identity.mint_ticket(key, TicketRequest(user=user, origin=origin))
    hello = Hello(
        site=site,
        document=services.ids.secret(),
        ticket=ticket,
        resume=None,
        seen=frozenset(),
        url=url or f"{origin}/list?secret=1",
        title=site.title(),
        visible=True,
        automated=False,
        origin=origin,
        has_workspace=True,
    )
    page = FakePage(services, None)  # type: ignore[arg-type] - set in the next line
    page.joined = await services.pages.join(hello, page)
    await services.pages.arrived(page.joined, frozenset())
    await page.declare(*descriptors)
    return page
