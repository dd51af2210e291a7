"""Calls in the hands of a worker: one end each, told the same to everybody, and nothing for a handler after it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from capabilities.contract import (
    AgentTools,
    Confirm,
    ContextError,
    Descriptor,
    Effect,
    HandlerContext,
    HandlerKind,
    HandlerStopped,
    NoAppSession,
    NotPermitted,
    Readiness,
    RequestFailed,
    agent_tools,
    python_tool,
)
from gateway.domain.app_catalog import AppTool, Catalog, OfferedApp
from gateway.domain.calls import CallState
from gateway.domain.configuration import AppGrant
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import STOP_MS
from gateway.runtime.requests import Outcome
from gateway.runtime.running_apps import UNOWNED_MS
from gateway.testing import FakeWorkers, MemoryStore
from tests.unit.runtime.rig import Rig, running

pytestmark = pytest.mark.anyio

APP: Final = "com.example.orders"
OBJECT: Final[dict[str, Any]] = {"type": "object"}
TIMEOUT: Final = 1_000
PERMISSIONS: Final = ("http:localhost:9", "http:nowhere.invalid", "secret:token", "secret:unset")

Doing = Callable[[HandlerContext], Awaitable[dict[str, Any]]]


@dataclass(eq=False)
class Orders:
    """A rig with an app of one tool, whose handler does what the test says."""

    rig: Rig
    workers: FakeWorkers
    doing: list[Doing] = field(default_factory=list[Doing])

    async def ask(self, doing: Doing | None = None) -> str:
        """Call the tool; `doing` is what the handler does."""
        if doing is not None:
            self.doing.append(doing)
        session = await self.rig.grant(scope=["orders.*"])
        outcome, _ = await self.rig.submit(session, "orders.do", {})
        return outcome.call.ref

    async def told(self, doing: Doing) -> dict[str, Any]:
        """What the handler made of it: its output."""
        ref = await self.ask(doing)
        await self.rig.settle()
        result = await self.rig.store.run(lambda tx: tx.calls.result_of(ref))
        assert result is not None, (await self.rig.call(ref)).message
        return json.loads(result.output)

    async def ends(self, ref: str) -> list[tuple[str, str | None, bool]]:
        """Every record that ends the call: event, code, late."""
        ended = [
            ("ended", r.get("code"), r.get("late", False)) for r in await self.rig.records("call.ended", ref=ref)
        ]
        return [*ended, *[("lost", r.get("code"), False) for r in await self.rig.records("call.lost", ref=ref)]]


def declared(**changes: Any) -> Descriptor:
    return Descriptor(
        id="orders.do",
        title="Do",
        description="Does it.",
        input_schema=OBJECT,
        output_schema={"type": "object", "properties": {"n": {"type": "number"}}},
        effect=Effect.READ,
        confirm=Confirm.NEVER,
        handler=HandlerKind.PYTHON,
        app_scope=APP,
        timeout_ms=TIMEOUT,
        permissions=PERMISSIONS,
        **changes,
    )


def tools(doing: list[Doing]) -> AgentTools:
    async def do(_: dict[str, Any], context: HandlerContext) -> dict[str, Any]:
        return await doing.pop(0)(context)

    tool = python_tool("orders.do", do, title="Do", description="Does it.", input=OBJECT, output=OBJECT)
    return agent_tools(app=APP, name="Orders", version="1.0.0", description="D", tools=[tool])


@pytest.fixture
async def orders() -> AsyncGenerator[Orders]:
    doing: list[Doing] = []
    grant = AppGrant(secrets={"token": "ORDERS_TOKEN", "unset": "ORDERS_UNSET", "undeclared": "OTHER"})
    async with running(
        store=MemoryStore(),
        workers=lambda clock: FakeWorkers(clock, {APP: tools(doing)}),
        environment={"ORDERS_TOKEN": "MARKER-9", "OTHER": "MARKER-10"},
        apps={APP: grant},
    ) as rig:
        tool = AppTool(app=APP, descriptor=declared(), permissions=PERMISSIONS)
        offered = OfferedApp(
            id=APP,
            name="Orders",
            version="1.0.0",
            digest="d" * 64,
            is_enabled=True,
            tools={"orders.do": tool},
            granted=frozenset(PERMISSIONS),
            has_worker=True,
        )
        rig.services.live.install(Catalog.of([offered]))
        workers = rig.services.workers
        assert isinstance(workers, FakeWorkers)
        workers.start(APP, Path(), "orders")
        yield Orders(rig, workers, doing)
        await workers.close()


async def good(_: HandlerContext) -> dict[str, Any]:
    return {"n": 1}


def once(gate: asyncio.Event) -> Doing:
    async def doing(_: HandlerContext) -> dict[str, Any]:
        await gate.wait()
        return {"n": 1}

    return doing


# ---- one end -----------------------------------------------------------------------------------------------------


async def test_a_workers_answer_is_the_result_and_its_start_a_receipt(orders: Orders) -> None:
    gate = asyncio.Event()
    ref = await orders.ask(once(gate))
    assert (await orders.rig.call(ref)).state is CallState.DISPATCHED
    gate.set()
    await orders.rig.settle()
    assert (await orders.rig.call(ref)).state is CallState.SUCCEEDED
    receipts = await orders.rig.store.run(lambda tx: tx.calls.receipts_of(ref))
    assert [receipt.status for receipt in receipts] == ["accepted", "started"]
    assert await orders.ends(ref) == [("ended", None, False)]


async def test_what_breaks_its_promise_goes_nowhere(orders: Orders) -> None:
    async def wrong(_: HandlerContext) -> dict[str, Any]:
        return {"n": "MARKER-11"}

    ref = await orders.ask(wrong)
    await orders.rig.settle()
    call = await orders.rig.call(ref)
    assert (call.state, call.code) == (CallState.FAILED, ErrorCode.OUTPUT_SCHEMA_VIOLATION)
    assert "MARKER-11" not in await orders.rig.trail() + (call.message or "")


async def test_an_end_in_the_instant_of_the_verdict_is_one_of_the_two_and_the_same_for_all(orders: Orders) -> None:
    """Case C31, L6: whichever comes first, answer, status and audit say the same."""
    for first in ("answer", "verdict"):
        gate = asyncio.Event()
        orders.doing.append(once(gate))
        session = await orders.rig.grant(scope=["orders.*"])
        outcome, waiter = await orders.rig.submit(session, "orders.do", {})
        waiting = asyncio.create_task(orders.rig.services.calls.wait(outcome, waiter, 60))
        orders.rig.clock.advance(TIMEOUT + STOP_MS)
        if first == "answer":
            gate.set()
            await orders.rig.settle()
        await asyncio.gather(orders.rig.sweeper.sweep(), asyncio.sleep(0))
        gate.set()
        await orders.rig.settle()
        told: Outcome = await waiting
        ref, call = outcome.call.ref, await orders.rig.call(outcome.call.ref)
        if first == "answer":
            assert (told.call.state, call.state, call.late) == (CallState.SUCCEEDED, CallState.SUCCEEDED, False)
            assert await orders.ends(ref) == [("ended", None, False)]
        else:
            assert (told.call.state, call.state, call.late) == (CallState.UNKNOWN, CallState.SUCCEEDED, True)
            assert await orders.ends(ref) == [("ended", None, True), ("lost", "deadline_exceeded", False)]


async def test_a_handler_that_stops_in_time_is_not_lost(orders: Orders) -> None:
    async def patient(context: HandlerContext) -> dict[str, Any]:
        await context.cancelled.wait()
        raise HandlerStopped

    ref = await orders.ask(patient)
    await orders.rig.after(TIMEOUT - 1)
    assert (await orders.rig.call(ref)).state is CallState.DISPATCHED
    await orders.rig.after(1)
    call = await orders.rig.call(ref)
    assert (call.state, call.code, call.late) == (CallState.FAILED, ErrorCode.DEADLINE_EXCEEDED, False)
    await orders.rig.after(STOP_MS)
    assert await orders.ends(ref) == [("ended", "deadline_exceeded", False)]


async def test_a_cancel_reaches_the_handler_and_its_word_ends_the_call(orders: Orders) -> None:
    async def patient(context: HandlerContext) -> dict[str, Any]:
        await context.cancelled.wait()
        raise HandlerStopped

    ref = await orders.ask(patient)
    session = (await orders.rig.call(ref)).session
    owner = await orders.rig.store.run(lambda tx: tx.sessions.find(session))
    assert owner is not None
    await orders.rig.services.calls.cancel(owner, ref)
    await orders.rig.settle()
    call = await orders.rig.call(ref)
    assert (call.state, call.code) == (CallState.CANCELLED, ErrorCode.CANCELLED)


async def test_what_a_dead_worker_held_is_unknown_and_stays_so(orders: Orders) -> None:
    ref = await orders.ask(once(asyncio.Event()))
    orders.workers.crash(APP)
    await orders.rig.settle()
    call = await orders.rig.call(ref)
    assert (call.state, call.code) == (CallState.UNKNOWN, ErrorCode.OUTCOME_UNKNOWN)
    await orders.rig.after(TIMEOUT + STOP_MS)
    assert await orders.ends(ref) == [("lost", "outcome_unknown", False)]


async def test_a_call_no_worker_takes_fails_and_may_be_tried_again(orders: Orders) -> None:
    await orders.workers.stop(APP)
    call = await orders.rig.call(await orders.ask(good))
    assert (call.state, call.code) == (CallState.FAILED, ErrorCode.NOT_AVAILABLE)


# ---- what a handler gets -----------------------------------------------------------------------------------------


async def test_a_secret_is_one_that_is_declared_granted_and_set(orders: Orders) -> None:
    async def ask(context: HandlerContext) -> dict[str, Any]:
        told = dict[str, str]()
        for name in ("token", "unset", "undeclared", "OTHER", "ORDERS_TOKEN"):
            try:
                told[name] = await context.secret(name)
            except NotPermitted as error:
                told[name] = str(error)
        return {"told": told}

    told = (await orders.told(ask))["told"]
    assert told["token"] == "MARKER-9"
    assert [name for name, value in told.items() if "MARKER" in value] == ["token"]
    refused = await orders.rig.records("handler.refused", app=APP, what="secret")
    assert [record["target"] for record in refused] == ["unset", "undeclared", "OTHER", "ORDERS_TOKEN"]
    assert "MARKER" not in await orders.rig.trail()


async def test_a_permission_taken_back_counts_at_once(orders: Orders) -> None:
    gate = asyncio.Event()

    async def ask(context: HandlerContext) -> dict[str, Any]:
        await gate.wait()
        try:
            return {"told": await context.secret("token")}
        except NotPermitted as error:
            return {"told": str(error)}

    ref = await orders.ask(ask)
    app = orders.rig.services.live.world.apps.apps[APP]
    orders.rig.services.live.install(Catalog.of([replace(app, granted=frozenset())]))
    gate.set()
    await orders.rig.settle()
    assert [r["ref"] for r in await orders.rig.records("handler.refused", what="secret", target="token")] == [ref]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://localhost:9/", "localhost:9"),
        ("http://localhost/", "localhost"),
        ("http://api.example.com/", "api.example.com"),
        ("http://169.254.169.254/latest/meta-data", "169.254.169.254"),
        ("http://user@localhost:9/", None),
        ("file:///etc/passwd", None),
    ],
)
async def test_a_request_to_a_host_that_is_not_declared_or_not_public_is_refused_and_leaves_a_record(
    orders: Orders, url: str, target: str | None
) -> None:
    async def ask(context: HandlerContext) -> dict[str, Any]:
        try:
            await context.http.request("GET", url)
        except NotPermitted as error:
            return {"told": str(error)}
        return {}

    ref = await orders.ask(ask)
    async with asyncio.timeout(10):
        while (await orders.rig.call(ref)).state is CallState.DISPATCHED:  # noqa: ASYNC110 - a name is looked up
            await asyncio.sleep(0.01)
    (record,) = await orders.rig.records("handler.refused", app=APP, what="http", ref=ref)
    assert (record.get("target"), record["code"]) == (target, "forbidden")


async def test_a_header_the_gateway_sets_is_refused(orders: Orders) -> None:
    async def ask(context: HandlerContext) -> dict[str, Any]:
        try:
            await context.http.request("GET", "http://localhost:9/", headers={"Host": "evil"})
        except ContextError as error:
            return {"kind": type(error).__name__}
        return {}

    assert await orders.told(ask) == {"kind": "ContextError"}


async def test_a_name_that_leads_nowhere_fails(orders: Orders) -> None:
    async def ask(context: HandlerContext) -> dict[str, Any]:
        try:
            await context.http.request("GET", "http://nowhere.invalid/", timeout_ms=2_000)
        except RequestFailed:
            return {"n": 1}
        return {}

    ref = await orders.ask(ask)
    async with asyncio.timeout(10):
        while (await orders.rig.call(ref)).state is CallState.DISPATCHED:  # noqa: ASYNC110 - a name is looked up
            await asyncio.sleep(0.01)
    assert (await orders.rig.call(ref)).state is CallState.SUCCEEDED
    assert await orders.rig.records("handler.refused") == []


async def test_without_an_app_session_there_is_no_session_data(orders: Orders) -> None:
    async def ask(context: HandlerContext) -> dict[str, Any]:
        told = list[str]()
        for asked in (context.session.get(), context.session.put({}, revision=0)):
            try:
                await asked
            except NoAppSession:
                told.append("none")
        return {"told": told}

    assert await orders.told(ask) == {"told": ["none", "none"]}


async def test_after_the_verdict_a_handler_gets_nothing(orders: Orders) -> None:
    """Case C31, L4."""
    told, gate = list[str](), asyncio.Event()

    async def late(context: HandlerContext) -> dict[str, Any]:
        await gate.wait()
        for asked in (
            context.secret("token"),
            context.session.get(),
            context.session.put({"a": 1}, revision=0),
            context.http.request("GET", "http://localhost:9/"),
            context.emit("order.submitted", {}),
        ):
            try:
                await asked
            except ContextError as error:
                told.append(str(error))
        return {"n": 1}

    ref = await orders.ask(late)
    await orders.rig.after(TIMEOUT + STOP_MS)
    assert (await orders.rig.call(ref)).state is CallState.UNKNOWN
    gate.set()
    await orders.rig.settle()
    assert len(told) == 5
    assert all("its time is up" in words for words in told)
    assert (await orders.rig.call(ref)).late


# ---- nobody left -------------------------------------------------------------------------------------------------


async def test_an_app_without_a_frame_ends_with_the_last_grant_of_its_conversation(orders: Orders) -> None:
    rig = orders.rig
    tool = AppTool(app=APP, descriptor=declared(readiness=Readiness.APP_READY), permissions=PERMISSIONS)
    rig.services.live.install(
        Catalog.of([replace(rig.services.live.world.apps.apps[APP], tools={"orders.do": tool})])
    )
    first = await rig.grant(scope=["orders.*"], conversation="one")
    second = await rig.grant("bob", scope=["orders.*"], conversation="one")
    other = await rig.grant(scope=["orders.*"], conversation="other")
    for session in (first, other):
        orders.doing.append(good)
        await rig.submit(session, "orders.do", {})

    async def there() -> set[str]:
        return {i.conversation for i in await rig.store.run(lambda tx: list(tx.instances.all_live()))}

    await rig.services.admin.revoke_session(first.id, by="test")
    await rig.after(UNOWNED_MS)
    assert await there() == {"one", "other"}
    await rig.services.admin.revoke_session(second.id, by="test")
    await rig.after(UNOWNED_MS)
    assert await there() == {"other"}
    assert len(await rig.records("instance.closed", reason="grants_ended", conversation="one")) == 1
