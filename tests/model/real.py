"""The product's use cases, moved by the events of the model, and seen as the model sees them.

Everything is real but the sockets and the clock: the store is a database, the page is a list of frames and a memory.
"""

import asyncio
import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, cast

from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode
from gateway.domain.intents import HostIntent
from gateway.runtime.attendance import Waiter
from gateway.runtime.ports import Store, Tx
from gateway.runtime.settlement import Answer, PageRefusal
from gateway.runtime.workspaces import Answered, Failed, Foregrounded, News, Opened, Place, Refused
from gateway.runtime.world import LivePage
from gateway.testing import FakeClock, MemoryStore
from policy.vocabulary import Confirm
from tests.model.states import ASKED, OF_APP, Frame, Kind, Link, World
from tests.unit.runtime.focus import DRAW, LOOK, MINUTE, START, STOP, focus, with_focus
from tests.unit.runtime.rig import ADD, LIST, Document, Rig, running

SIGN: Final = replace(DRAW, id="focus.sign", title="Sign", confirm=Confirm.ALWAYS)

CAPABILITIES: Final = {
    Kind.START: START.id,
    Kind.STOP: STOP.id,
    Kind.DRAW: DRAW.id,
    Kind.LOOK: LOOK.id,
    Kind.SIGN: SIGN.id,
    Kind.ADD: ADD.id,
    Kind.READ: LIST.id,
}

WAITS_MS: Final = (1_000, 10_000, 30_000, 60_000, 120_000, 25 * MINUTE, 600_000)
"""How much time may pass at once: what separates one limit from the next."""


class Seen(NamedTuple):
    """What both worlds can say of one call."""

    state: str
    approval: str
    epoch: int
    operation: str
    orphan: bool
    late: bool
    undelivered: bool
    runs: int
    effects: int
    results: int


class View(NamedTuple):
    """What both worlds can say of a moment."""

    calls: tuple[Seen, ...]
    epoch: int
    link: str
    instance: str
    front: bool
    goal: str


def view_of(world: World) -> View:
    """The model's world as it is compared."""
    is_live = world.instance in ("starting", "running")
    return View(
        calls=tuple(
            Seen(
                c.state,
                c.approval,
                c.epoch,
                c.operation,
                c.orphan,
                c.late,
                c.undelivered,
                c.runs,
                c.effects,
                c.results,
            )
            for c in world.calls
            if c.state
        ),
        epoch=world.epoch,
        link=world.link,
        instance=world.instance if is_live else "",
        front=world.front and is_live,
        goal=world.goal if world.attempt == "starting" else "",
    )


class _Settled(Rig):
    """A rig over a store with a thread of its own: what was begun is done once the store and the loop are idle."""

    async def settle(self) -> None:
        for _ in range(4):
            for _ in range(8):
                await asyncio.sleep(0)
            await self.store.run(lambda tx: tx.calls.usage())


@dataclass(eq=False)
class Real:
    """One gateway over its lives, with one page and one agent."""

    kinds: tuple[Kind, ...]
    store: Store
    clock: FakeClock = field(default_factory=FakeClock)
    refs: list[str] = field(default_factory=list[str])
    waiters: dict[int, list[Waiter]] = field(default_factory=dict[int, list[Waiter]])
    asked: Counter[str] = field(default_factory=Counter[str])
    """How often a document got the frame that hands a call over."""
    effects: Counter[str] = field(default_factory=Counter[str])
    got: list[str] = field(default_factory=list[str])
    """What the present document was handed and has not looked at."""
    known: set[str] = field(default_factory=set[str])
    """What the present document has run."""
    payloads: dict[str, str] = field(default_factory=dict[str, str])
    """The questions the present document shows, by ref."""
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _read: int = 0
    _documents: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def begin(self) -> None:
        """A page is open, and an agent has a grant."""
        await self._start()
        self.page = await self.rig.page(ADD, LIST)
        self.session = await self.rig.grant(scope=["todo.*", "focus.*"])
        await self.rig.services.inventories.serve(self.session)

    async def end(self) -> None:
        """The last life ends."""
        await self._stack.aclose()

    async def _start(self) -> None:
        offered = [focus(START, STOP, DRAW, LOOK, SIGN)]
        store = cast("MemoryStore", self.store)  # the rig asks nothing of it that the port has not
        made = await self._stack.enter_async_context(
            running(store, self.clock, offered=offered, **with_focus(standing_ms=10**9))
        )
        self.rig = _Settled(made.services, store, made.clock, made.sweeper, self._documents)

    async def does(self, event: str) -> None:
        """Let one event of the model happen here."""
        name, _, rest = event.partition(" ")
        number = int(rest.partition(":")[0]) if rest else 0
        await _EVENTS[name](self, number)
        await self.rig.settle()
        self._take_in()

    async def waits(self, ms: int) -> None:
        """Let time pass, and what is due happen."""
        await self.rig.after(ms)
        await self.rig.settle()
        self._take_in()

    # -- the page -------------------------------------------------------------------------------------------------

    def _take_in(self) -> None:
        frames = self.page.connection.frames
        for frame in frames[self._read :]:
            is_work = frame["type"] == "invoke" or (frame["type"] == "app" and frame["op"] == "tool")
            if is_work:
                self.asked[frame["ref"]] += 1
                self.got.append(frame["ref"])
            elif frame["type"] == "approve_request":
                self.payloads[json.loads(frame["payload"])["ref"]] = frame["payload"]
        self._read = len(frames)

    async def _joined(self, *, reload: bool) -> None:
        before = self.page
        if reload:
            self.known, self.got, self.payloads = set(), [], {}
        seen = list(self.known)
        self._read = 0
        self.page = await self.rig.page(ADD, LIST, resume=before, reload=reload, seen=seen)
        self.page = replace_rig(self.page, self.rig)

    async def drop(self) -> None:
        self.got = []
        self.page.drop()

    async def receive(self, i: int) -> None:
        ref = self.refs[i]
        self.got.remove(ref)
        # As the surface host does: a ref it knows is not run again.
        if ref not in self.known:
            self.known.add(ref)
            self.effects[ref] += 1

    async def answer(self, i: int, answer: Answer) -> None:
        ref = self.refs[i]
        if self.kinds[i] in OF_APP:
            await self._hears(Answered(ref, answer))
        else:
            await self.rig.services.execution.answered_by_page(self.page.id, self.page.epoch, ref, answer)

    async def _hears(self, news: News) -> None:
        live = await self.instance()
        place = Place(page=self._live_page, instance=live.id if live else "inst_gone")
        await self.rig.services.workspaces.hear(place, news)

    @property
    def _live_page(self) -> LivePage:
        return self.rig.services.live.world.pages[self.page.id]

    async def says(self, news: News) -> None:
        await self._hears(news)

    async def intends(self, intent: HostIntent) -> None:
        live = await self.instance()
        assert live is not None
        await self.rig.services.workspaces.intended(Place(page=self._live_page, instance=live.id), intent)

    async def instance(self) -> Any:
        found = await self.store.run(lambda tx: list(tx.instances.all_live()))
        assert len(found) <= 1, "one instance lives at a time"
        return found[0] if found else None

    async def decide(self, i: int, *, approve: bool) -> None:
        text = self.payloads[self.refs[i]]
        payload = json.loads(text)
        await self.rig.services.approvals.decide(
            self._live_page,
            approval=payload["approval"],
            nonce=payload["nonce"],
            digest=hashlib.sha256(text.encode()).hexdigest(),
            approve=approve,
            visible=True,
        )

    async def page_refuses(self, i: int) -> None:
        why = PageRefusal("the page cannot do it")
        await self.rig.services.approvals.refused_by_page(self._live_page, self.refs[i], ErrorCode.NOT_AVAILABLE, why)

    # -- callers --------------------------------------------------------------------------------------------------

    async def submit(self, i: int) -> None:
        arguments: dict[str, Any] = {
            Kind.START: {"minutes": 25},
            Kind.STOP: {},
            Kind.ADD: {"title": f"number {i}"},
        }.get(self.kinds[i], {"n": i})
        capability, key = CAPABILITIES[self.kinds[i]], f"call-{i:04}"
        outcome, waiter = await self.rig.submit(self.session, capability, arguments, call_id=key)
        if i == len(self.refs):
            self.refs.append(outcome.call.ref)
        assert outcome.call.ref == self.refs[i], "the same key is the same call"
        self.waiters.setdefault(i, []).append(waiter)

    async def cancel(self, i: int) -> None:
        await self.rig.services.calls.cancel(self.session, self.refs[i])

    async def hang_up(self, i: int) -> None:
        for waiter in self.waiters.pop(i, []):
            self.rig.hang_up(waiter)

    async def come_back(self, i: int) -> None:
        _, waiter = await self.rig.services.calls.status(self.session, self.refs[i])
        self.waiters.setdefault(i, []).append(waiter)

    async def reconcile(self, i: int) -> None:
        await self.rig.services.admin.reconcile(self.refs[i], succeeded=True, reason=None, by="test")

    async def restart(self) -> None:
        self.page.connection.closed = (1012, "")
        await self._stack.aclose()
        self._stack, self.waiters, self.got = AsyncExitStack(), {}, []
        await self._start()

    # -- how it is ------------------------------------------------------------------------------------------------

    async def view(self) -> View:
        """How it stands, as it is compared."""

        def look(tx: Tx) -> tuple[list[Seen], str, bool, str]:
            seen = [self._seen(tx, ref) for ref in self.refs]
            instance = next(iter(tx.instances.all_live()), None)
            attempt = next(iter(tx.activations.all_live()), None)
            return (
                seen,
                instance.state.value if instance else "",
                bool(instance and instance.is_foreground),
                attempt.goal.value if attempt else "",
            )

        seen, instance, front, goal = await self.store.run(look)
        live = self.rig.services.live.world.pages.get(self.page.id)
        link = Link.AWAY if live is None else Link.CONNECTED if live.is_connected else Link.DROPPED
        return View(tuple(seen), self.page.epoch, link.value, instance, front, goal)

    def _seen(self, tx: Tx, ref: str) -> Seen:
        call = tx.calls.find(ref)
        assert call is not None
        approval = tx.approvals.find(call.approval) if call.approval else None
        operation = tx.operations.find_of_call(ref)
        return Seen(
            state=call.state.value,
            approval=approval.state.value if approval else "",
            epoch=call.epoch or 0,
            operation=operation.state.value if operation else "",
            orphan=call.is_orphaned and call.state.is_undispatched,
            late=call.late,
            undelivered=call.code is ErrorCode.NOT_DELIVERED,
            runs=int(call.dispatched_at is not None),
            effects=self.effects[ref],
            results=int(tx.calls.result_of(ref) is not None),
        )

    async def overdue(self) -> list[str]:
        """What time should have ended and has not."""
        now = self.clock.now()

        def look(tx: Tx) -> list[str]:
            calls: list[Call] = list(tx.calls.due(now, 100))
            rest = [*tx.operations.due(now, 100), *tx.activations.due(now, 100), *tx.instances.due(now, 100)]
            return [f"{call.ref} {call.state}" for call in calls] + [thing.id for thing in rest]

        return await self.store.run(look)


def replace_rig(page: Document, rig: Rig) -> Document:
    """The document, as one of the rig that runs now."""
    page.rig = rig
    return page


Does = Callable[[Real, int], Awaitable[Any]]


def _said(news: News) -> Does:
    return lambda real, _: real.says(news)


def _intended(intent: HostIntent) -> Does:
    return lambda real, _: real.intends(intent)


def _answered(answer: Answer) -> Does:
    return lambda real, i: real.answer(i, answer)


_EVENTS: Final[dict[str, Does]] = {
    "admit": Real.submit,
    "repeat": Real.submit,
    "cancel": Real.cancel,
    "hang_up": Real.hang_up,
    "return": Real.come_back,
    "approve": lambda real, i: real.decide(i, approve=True),
    "deny": lambda real, i: real.decide(i, approve=False),
    "page_refuses": Real.page_refuses,
    "receive": Real.receive,
    "answer": _answered(Answer(output="[]")),
    "fails": _answered(Answer(code=ErrorCode.HANDLER_ERROR, message="it failed")),
    "reconcile": Real.reconcile,
    "drop": lambda real, _: real.drop(),
    "resume": lambda real, _: real._joined(reload=False),  # pyright: ignore[reportPrivateUsage]
    "reload": lambda real, _: real._joined(reload=True),  # pyright: ignore[reportPrivateUsage]
    "opened": _said(Opened()),
    "fronted": _said(Foregrounded()),
    "front_refused": _said(Refused()),
    "app_failed": _said(Failed("load", "it did not load")),
    "hidden": _intended(HostIntent.BACKGROUNDED),
    "left": _intended(HostIntent.LEFT_WORKSPACE),
    "closed": _intended(HostIntent.CLOSED),
    "restart": lambda real, _: real.restart(),
}
"""The events of the model that somebody makes happen; the others are time's."""

BY_HAND: Final = frozenset(_EVENTS)
BY_TIME: Final = frozenset(
    {
        "question_expires",
        "lapse",
        "page_missed",
        "too_old",
        "orphan_over",
        "overrun",
        "complete",
        "start_times_out",
        "gone",
        "away",
    }
)

__all__ = ["ASKED", "BY_HAND", "BY_TIME", "WAITS_MS", "CallState", "Frame", "Real", "View", "view_of"]
