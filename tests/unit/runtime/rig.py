"""The use cases over a store in memory, with documents that are only lists of frames: no sockets, no real time."""

import asyncio
import hashlib
import itertools
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from capabilities.contract import Descriptor, Handler
from gateway.adapters.ids import RandomIds
from gateway.bootstrap import AppHost, wire
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.app_catalog import Catalog, OfferedApp
from gateway.domain.audit import Stream
from gateway.domain.calls import Call
from gateway.domain.canonical import canonical
from gateway.domain.configuration import Configuration
from gateway.domain.sites import AgentProfile, Site
from gateway.runtime.attendance import Waiter
from gateway.runtime.identity import TicketRequest
from gateway.runtime.joining import Hello
from gateway.runtime.pages import Joined
from gateway.runtime.ports import AppProbe, Clock, Workers
from gateway.runtime.recovery import recover
from gateway.runtime.requests import CallRequest, Outcome
from gateway.runtime.services import Services
from gateway.runtime.settlement import Answer
from gateway.runtime.sweeper import Sweeper
from gateway.runtime.world import LivePage
from gateway.settings import Limits
from gateway.testing import FakeClock, MemoryAppFiles, MemoryStore
from policy.model import Floor
from policy.vocabulary import Confirm, Effect

ORIGIN: Final = "https://app.example.test"

TITLED: Final = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
    "additionalProperties": False,
}
ADD: Final = Descriptor(id="todo.add", title="Add", description="Adds one.", input_schema=TITLED)
LIST: Final = Descriptor(
    id="todo.list",
    description="Lists them.",
    input_schema={"type": "object"},
    effect=Effect.READ,
    confirm=Confirm.NEVER,
)
MILK: Final[dict[str, Any]] = {"title": "milk"}


def site(name: str = "todo", **changes: Any) -> Site:
    """A site that exposes what the tests declare."""
    given = Site(
        name=name,
        address=f"{ORIGIN}/",
        origins=(ORIGIN,),
        users=("*",),
        expose=tuple(Floor(pattern=p) for p in ("todo.*", "orders.*")),
        label=name.title(),
        in_page_scope=("todo.*",),
    )
    return replace(given, **changes)


def configuration(**changes: Any) -> Configuration:
    """Two sites and two agents; `changes` replaces fields of the configuration, or of its limits."""
    limits = {"calls_per_minute": 10_000, "calls_burst": 10_000}
    for name in tuple(changes):
        if name in Limits.__dataclass_fields__:
            limits[name] = changes.pop(name)
    given = Configuration(
        revision="policy-000000000000",
        limits=Limits(**limits),
        sites={name: site(name) for name in ("todo", "shop")},
        agents={name: AgentProfile(name=name, label=name.title()) for name in ("alice", "bob")},
    )
    return replace(given, **changes)


class Connection:
    """A socket that keeps what was sent to it."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self.closed: tuple[int, str] | None = None

    def send(self, frame: Mapping[str, Any]) -> bool:
        if self.closed is None:
            self.frames.append(dict(frame))
        return self.closed is None

    def close(self, code: int, why: str) -> None:
        self.closed = (code, why)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The frames of one type so far."""
        return [frame for frame in self.frames if frame["type"] == kind]


@dataclass(eq=False)
class Document:
    """One document over one socket."""

    rig: "Rig"
    joined: Joined
    connection: Connection
    document: str
    capabilities: tuple[Descriptor, ...] = ()

    @property
    def id(self) -> str:
        return self.joined.page.id

    @property
    def live(self) -> LivePage:
        return self.rig.services.live.world.pages[self.id]

    @property
    def epoch(self) -> int:
        return self.joined.page.session.epoch

    async def declare(self, *capabilities: Descriptor) -> None:
        await self.rig.services.pages.declare(self.id, {d.id: d for d in capabilities})
        await self.rig.settle()

    def drop(self) -> None:
        """The socket ends."""
        self.connection.closed = (1006, "")
        self.rig.services.pages.leave(self.id, self.connection)

    async def answer(self, ref: str, output: Any) -> bool | None:
        text = canonical(output).decode()
        return await self.rig.services.execution.answered_by_page(self.id, self.epoch, ref, Answer(output=text))

    async def decide(self, *, approve: bool = True, visible: bool = True, number: int = -1) -> None:
        """Press a button of the last dialog."""
        text: str = self.connection.of("approve_request")[number]["payload"]
        payload = json.loads(text)
        await self.rig.services.approvals.decide(
            self.live,
            approval=payload["approval"],
            nonce=payload["nonce"],
            digest=hashlib.sha256(text.encode()).hexdigest(),
            approve=approve,
            visible=visible,
        )
        await self.rig.settle()

    @property
    def invoked(self) -> list[str]:
        """The refs this document was asked to run."""
        return [frame["ref"] for frame in self.connection.of("invoke")]


@dataclass(eq=False)
class Rig:
    """The use cases and what tests do to them."""

    services: Services
    store: MemoryStore
    clock: FakeClock
    sweeper: Sweeper
    _documents: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def settle(self) -> None:
        """Let what was started beside the caller go as far as it goes without the clock."""
        for _ in range(40):
            await asyncio.sleep(0)

    async def after(self, ms: int) -> None:
        """Move the clock and let what is due happen."""
        self.clock.advance(ms)
        await self.sweeper.sweep()
        await self.settle()

    async def ticket(self, user: str, name: str) -> str:
        secret = (
            await self.services.admin.add_key(name, capabilities=["todo.*", "orders.*", "focus.*", "ui.*"], by="test")
        ).secret
        key = await self.services.identity.site_key(secret)
        return (await self.services.identity.mint_ticket(key, TicketRequest(user=user, origin=ORIGIN)))[0]

    async def page(
        self,
        *capabilities: Descriptor,
        user: str = "ann",
        name: str = "todo",
        resume: Document | None = None,
        reload: bool = False,
        **changes: Any,
    ) -> Document:
        """A document that joined, with its capabilities declared if there are any."""
        is_same = resume is not None and not reload
        document = resume.document if is_same and resume else f"document-{next(self._documents)}"
        hello = Hello(
            site=name,
            document=document,
            ticket=await self.ticket(user, name),
            resume=resume.joined.resume if resume else None,
            seen=frozenset(changes.pop("seen", ())),
            url=f"{ORIGIN}/list",
            title="List",
            visible=changes.pop("visible", True),
            automated=changes.pop("automated", False),
            origin=ORIGIN,
            has_workspace=changes.pop("has_workspace", True),
        )
        connection = Connection()
        joined = await self.services.pages.join(hello, connection)
        await self.services.pages.arrived(joined, hello.seen)
        await self.services.workspaces.arrived(joined.page)
        await self.services.documents.arrived(joined.page)
        page = Document(self, joined, connection, document)
        if capabilities:
            await page.declare(*capabilities)
        return page

    async def grant(self, agent: str = "alice", user: str = "ann", **changes: Any) -> AgentSession:
        given: dict[str, Any] = {"sites": ["todo"], "scope": ["todo.*", "orders.*"], **changes}
        return (await self.services.admin.add_session(agent, user=user, by="test", **given)).session

    def request(self, session: AgentSession, capability: str, arguments: Any, **more: Any) -> CallRequest:
        given: dict[str, Any] = {"arrival": self.services.inventories.arrive(), **more}
        return CallRequest(caller=session, capability=capability, arguments=arguments, **given)

    async def submit(
        self, session: AgentSession, capability: str, arguments: Any, **more: Any
    ) -> tuple[Outcome, Waiter]:
        submitted = await self.services.calls.submit(self.request(session, capability, arguments, **more))
        await self.settle()
        return submitted

    def hang_up(self, waiter: Waiter) -> None:
        self.services.calls.attendance.hang_up(waiter)

    async def call(self, ref: str) -> Call:
        found = await self.store.run(lambda tx: tx.calls.find(ref))
        assert found is not None
        return found

    async def records(self, event: str, **facts: Any) -> list[dict[str, Any]]:
        """The facts of the audit records of `event` that hold `facts`."""
        chained = await self.store.run(
            lambda tx: [r for stream in Stream for r in tx.audit.read(stream, after=0, limit=10_000)]
        )
        bodies = [json.loads(record.body) for record in chained]
        return [b["facts"] for b in bodies if b["event"] == event and facts.items() <= b["facts"].items()]

    async def stream_of(self, event: str, **facts: Any) -> set[str]:
        """The streams that hold records of `event` with these `facts`."""
        chained = await self.store.run(
            lambda tx: [r for stream in Stream for r in tx.audit.read(stream, after=0, limit=10_000)]
        )
        bodies = [(record.stream.value, json.loads(record.body)) for record in chained]
        return {s for s, b in bodies if b["event"] == event and facts.items() <= b["facts"].items()}

    async def trail(self) -> str:
        """The whole trail as one text."""
        chained = await self.store.run(
            lambda tx: [r for stream in Stream for r in tx.audit.read(stream, after=0, limit=10_000)]
        )
        return "\n".join(str(record.body) for record in chained)


@asynccontextmanager
async def running(
    store: MemoryStore | None = None,
    clock: FakeClock | None = None,
    builtins: Mapping[str, tuple[Descriptor, Handler]] | None = None,
    is_on: Callable[[], bool] = lambda: True,
    offered: Sequence[OfferedApp] = (),
    files: MemoryAppFiles | None = None,
    probe: AppProbe | None = None,
    workers: Callable[[Clock], Workers] | None = None,
    environment: Mapping[str, str] | None = None,
    **changes: Any,
) -> AsyncGenerator[Rig]:
    """The use cases over `store`; it stays when the block ends, as a database does."""
    store, clock, config = store or MemoryStore(), clock or FakeClock(), configuration(**changes)
    await recover(store, clock.now(), grace_ms=config.limits.page_grace_ms, revision=config.revision)
    given = builtins or {}
    services = wire(
        store,
        config,
        clock=clock,
        ids=RandomIds(),
        key=bytes(32),
        enabled=lambda _: {name: descriptor for name, (descriptor, _) in given.items() if is_on()},
        handlers={name: handler for name, (_, handler) in given.items()},
        host=AppHost(
            files=files or MemoryAppFiles(),
            probe=probe,
            workers=workers(clock) if workers else None,
            environment=environment or {},
        ),
    )
    sweeper = Sweeper(
        spine=services.spine,
        clock=services.clock,
        pages=services.pages,
        refusals=services.refusals,
        retention=services.retention,
        running=services.running,
        surfaces=services.surfaces,
    )
    rig = Rig(services, store, clock, sweeper)
    await services.mini_apps.load()
    if offered:
        services.live.install(Catalog.of(offered))
    await services.running.restore()
    await services.surfaces.restore()
    await services.documents.restore()
    yield rig
    await rig.settle()
    clock.advance(1_000)
    await services.spine.drain()
