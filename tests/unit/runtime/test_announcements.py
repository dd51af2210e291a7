"""Receipts and ends reach the outbox in the transaction they happen in, whatever path they take."""

import inspect
import json
from typing import Any

import pytest

from gateway.domain.calls import Call, CallEvent, CallState, step
from gateway.domain.errors import ErrorCode
from gateway.domain.operations import Carrier, Operation, OperationEvent, OperationState
from gateway.domain.operations import step as step_operation
from gateway.domain.outbox import OutboxState
from gateway.runtime.announcements import (
    AnnouncingStore,
    _ListeningCalls,  # pyright: ignore[reportPrivateUsage] -- their shape is the subject of a test
    _ListeningOperations,  # pyright: ignore[reportPrivateUsage]
    _ListeningOutbox,  # pyright: ignore[reportPrivateUsage]
)
from gateway.runtime.ports import Calls, Operations, Outbox, StoreUnavailable, Tx
from gateway.testing import FakeClock, MemoryStore
from tests.contract.samples import NOW, a_call, a_result, a_session

pytestmark = pytest.mark.anyio


class Told:
    """A store that announces, and what it announced."""

    def __init__(self, *, include_results: bool = False) -> None:
        self.memory = MemoryStore()
        self.clock = FakeClock(NOW)
        self.store = AnnouncingStore(self.memory, self.clock, include_results=include_results)
        self.woken = 0
        self.store.on_written = self.wake

    def wake(self) -> None:
        self.woken += 1

    async def all(self) -> list[tuple[str, str, dict[str, Any]]]:
        found = await self.memory.run(lambda tx: list(tx.outbox.page(OutboxState.PENDING, above=0, limit=100)))
        return [(entry.id, entry.key, json.loads(entry.data)) for entry in found]

    async def ids(self) -> list[str]:
        return [name for name, _, _ in await self.all()]


def moved(event: CallEvent, code: ErrorCode | None = None) -> Any:
    def work(tx: Tx) -> Call:
        call = tx.calls.find("call_1")
        assert call is not None
        after = step(call, event, now=NOW + 5, code=code)
        tx.calls.save(after, was=call.state)
        return after

    return work


async def test_an_admission_tells_its_receipt_and_wakes_the_relay_once() -> None:
    told = Told()

    def work(tx: Tx) -> None:
        tx.calls.add(a_call(), "{}")
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)

    await told.store.run(work)
    [(name, _, data)] = await told.all()
    assert (name, data["status"]) == ("call_1:receipt:1", "accepted")
    assert told.woken == 1


async def test_what_says_nothing_wakes_nobody() -> None:
    told = Told()
    await told.store.run(lambda tx: tx.calls.add(a_call(), "{}"))
    await told.store.run(moved(CallEvent.DISPATCH))
    assert (await told.all(), told.woken) == ([], 0)


@pytest.mark.parametrize(
    ("state", "event", "code"),
    [
        (CallState.AWAITING_APPROVAL, CallEvent.DENY, ErrorCode.DENIED),
        (CallState.AWAITING_APPROVAL, CallEvent.EXPIRE, ErrorCode.APPROVAL_EXPIRED),
        (CallState.WAITING_ACTIVATION, CallEvent.ACTIVATION_FAILED, ErrorCode.APP_ACTIVATION_FAILED),
        (CallState.READY, CallEvent.CANCEL, ErrorCode.CANCELLED),
        (CallState.DISPATCHED, CallEvent.SUCCEED, None),
        (CallState.DISPATCHED, CallEvent.NOT_DELIVERED, ErrorCode.NOT_DELIVERED),
        (CallState.DISPATCHED, CallEvent.LOSE, ErrorCode.OUTCOME_UNKNOWN),
    ],
)
async def test_every_end_is_told_once(state: CallState, event: CallEvent, code: ErrorCode | None) -> None:
    told = Told()
    await told.store.run(lambda tx: tx.calls.add(a_call(state=state), "{}"))
    ended: Call = await told.store.run(moved(event, code))
    [(name, _, data)] = await told.all()
    assert name == "call_1:end"
    assert (data["status"], data.get("code")) == (ended.state.value, None if code is None else code.wire)


async def test_the_late_end_of_an_unknown_call_is_not_told() -> None:
    told = Told()
    await told.store.run(lambda tx: tx.calls.add(a_call(state=CallState.DISPATCHED), "{}"))
    await told.store.run(moved(CallEvent.LOSE, ErrorCode.DEADLINE_EXCEEDED))
    await told.store.run(moved(CallEvent.SUCCEED))
    [(_, _, data)] = await told.all()
    assert (data["status"], data["code"]) == ("unknown", "deadline_exceeded")


async def test_the_late_end_is_not_told_though_the_first_was_forgotten_long_ago() -> None:
    told = Told()
    # As after the retention of the outbox: nothing is left there of the call.
    await told.memory.run(lambda tx: tx.calls.add(a_call(state=CallState.UNKNOWN), None))
    await told.store.run(moved(CallEvent.RECONCILE_SUCCEEDED))
    assert await told.ids() == []


async def test_what_only_computes_is_told_in_the_order_it_happened() -> None:
    told = Told()

    def work(tx: Tx) -> None:
        tx.calls.add(a_call(state=CallState.SUCCEEDED, ended_at=NOW), None)
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)
        tx.calls.put_result("call_1", a_result())

    await told.store.run(work)
    assert await told.ids() == ["call_1:receipt:1", "call_1:end"]


@pytest.mark.parametrize("include_results", [False, True])
async def test_a_result_goes_along_only_where_the_setting_says_so(include_results: bool) -> None:
    told = Told(include_results=include_results)

    def work(tx: Tx) -> None:
        tx.calls.add(a_call(state=CallState.SUCCEEDED, ended_at=NOW), None)
        tx.calls.put_result("call_1", a_result(output='{"id":"marker"}'))

    await told.store.run(work)
    [(_, _, data)] = await told.all()
    assert data.get("result") == ({"id": "marker"} if include_results else None)
    assert ("marker" in json.dumps(data)) is include_results


async def test_the_key_is_the_conversation_or_else_the_page_or_the_user() -> None:
    told = Told()
    ends = {"state": CallState.CANCELLED, "ended_at": NOW}
    calls = [
        a_call("call_1", conversation="conv_app", **ends),
        a_call("call_2", session="ses_2", **ends),
        a_call("call_3", session="", **ends),
        a_call("call_4", session="", page=None, epoch=None, **ends),
    ]
    await told.memory.run(lambda tx: tx.sessions.add(a_session("ses_2", conversation="conv_2")))
    await told.store.run(lambda tx: [tx.calls.add(call, None) for call in calls])
    assert {name: key for name, key, _ in await told.all()} == {
        "call_1:end": "conv_app",
        "call_2:end": "conv_2",
        "call_3:end": "page:page_1",
        "call_4:end": "user:maria",
    }


async def test_an_operation_has_one_end_told_before_that_of_its_call() -> None:
    told = Told()
    operation = Operation(
        id="op_1",
        call="call_1",
        app="com.example.focus",
        user="maria",
        conversation="conv_1",
        carrier=Carrier.RUNTIME,
        state=OperationState.RUNNING,
        started_at=NOW,
        deadline=NOW + 60_000,
    )

    def begin(tx: Tx) -> None:
        tx.calls.add(a_call(state=CallState.DISPATCHED, operation="op_1", conversation="conv_1"), "{}")
        tx.operations.add(operation)

    def end(tx: Tx) -> None:
        tx.operations.save(
            step_operation(operation, OperationEvent.COMPLETE, now=NOW + 5, cause="deadline"), was=operation.state
        )
        moved(CallEvent.SUCCEED)(tx)

    await told.store.run(begin)
    await told.store.run(end)
    assert await told.ids() == ["call_1:operation:end", "call_1:end"]


async def test_a_commit_that_fails_tells_nothing() -> None:
    told = Told()
    told.memory.is_failing = True
    with pytest.raises(StoreUnavailable):
        await told.store.run(lambda tx: tx.calls.add(a_call(state=CallState.CANCELLED, ended_at=NOW), None))
    told.memory.is_failing = False
    assert (await told.all(), told.woken) == ([], 0)


@pytest.mark.parametrize(
    ("listener", "port"), [(_ListeningCalls, Calls), (_ListeningOperations, Operations), (_ListeningOutbox, Outbox)]
)
def test_what_listens_has_the_shape_of_what_it_stands_for(listener: type, port: type) -> None:
    for name, method in vars(listener).items():
        if not name.startswith("_"):
            assert inspect.signature(method) == inspect.signature(getattr(port, name)), name
