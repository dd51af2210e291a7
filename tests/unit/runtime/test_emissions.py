"""What handlers emit: in time and in bounds it is in the outbox, else it is refused (case C31, L4)."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.calls import CallEvent, CallState, step
from gateway.domain.errors import ErrorCode
from gateway.domain.outbox import OutboxEntry, OutboxState
from gateway.domain.workers import Asker, Conversation, Denial, ServiceDenied
from gateway.runtime.emissions import BURST, Emissions
from gateway.runtime.spine import Spine
from gateway.testing import FakeClock, MemoryStore, SequentialIds
from tests.contract.samples import a_call

pytestmark = pytest.mark.anyio

APP = "com.example.orders"
DEADLINE_MS = 1_000


class Orders:
    """An app whose call is dispatched, and the outbox it emits to."""

    def __init__(self, *, is_consumed: bool = True) -> None:
        self.store = MemoryStore()
        self.clock = FakeClock()
        self.emissions = Emissions(
            spine=Spine(self.store), clock=self.clock, ids=SequentialIds(), is_consumed=is_consumed
        )
        self.asker = Asker(app=APP, conversation=Conversation("maria", "conv_1"), ref="call_1")

    async def dispatched(self, **changes: Any) -> None:
        now = self.clock.now()
        call = a_call(
            state=CallState.DISPATCHED, dispatched_at=now, execute_by=now + DEADLINE_MS, page=None, app=APP, **changes
        )
        await self.store.run(lambda tx: tx.calls.add(call, "{}"))

    async def ends(self, event: CallEvent, code: ErrorCode | None = None) -> None:
        def work(tx: Any) -> None:
            call = tx.calls.find("call_1")
            tx.calls.save(step(call, event, now=self.clock.now(), code=code), was=call.state)

        await self.store.run(work)

    async def emit(self, kind: str = "order.submitted", data: str = '{"order":7}') -> None:
        await self.emissions.emit(self.asker, kind, data)

    async def entries(self) -> list[OutboxEntry]:
        return list(await self.store.run(lambda tx: tx.outbox.page(OutboxState.PENDING, above=0, limit=1_000)))

    async def records(self) -> list[dict[str, Any]]:
        tail = await self.store.run(lambda tx: list(tx.audit.tail(limit=1_000)))
        return [json.loads(record.body) for record in tail]

    async def refused(self, denial: Denial) -> None:
        with pytest.raises(ServiceDenied) as refused:
            await self.emit()
        assert refused.value.denial is denial


async def test_an_event_is_in_the_outbox_before_its_handler_hears_so() -> None:
    orders = Orders()
    await orders.dispatched(traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01")
    await orders.emit()
    [entry] = await orders.entries()
    assert (entry.type, entry.data, entry.app, entry.key) == ("order.submitted", '{"order":7}', APP, "conv_1")
    assert (entry.subject, entry.at, entry.traceparent) == (
        "call_1",
        orders.clock.now(),
        "00-" + "a" * 32 + "-" + "b" * 16 + "-01",
    )


async def test_each_event_has_a_name_of_its_own() -> None:
    orders = Orders()
    await orders.dispatched()
    await orders.emit()
    await orders.emit()
    assert len({entry.id for entry in await orders.entries()}) == 2


async def test_at_the_last_millisecond_it_is_sent_and_at_the_deadline_it_is_not() -> None:
    orders = Orders()
    await orders.dispatched()
    orders.clock.advance(DEADLINE_MS - 1)
    await orders.emit()
    orders.clock.advance(1)
    # Nobody has looked at the call yet: it is still `dispatched`.
    await orders.refused(Denial.REFUSED)
    assert len(await orders.entries()) == 1
    [record] = await orders.records()
    assert record["event"] == "outbox.emission_refused"
    assert record["facts"] == {"app": APP, "ref": "call_1", "type": "order.submitted", "reason": "over"}


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (CallEvent.LOSE, ErrorCode.DEADLINE_EXCEEDED),
        (CallEvent.SUCCEED, None),
        (CallEvent.FAIL, ErrorCode.HANDLER_ERROR),
        (CallEvent.CANCEL_CONFIRMED, ErrorCode.CANCELLED),
    ],
)
async def test_after_the_end_nothing_is_sent(event: CallEvent, code: ErrorCode | None) -> None:
    orders = Orders()
    await orders.dispatched()
    await orders.ends(event, code)
    await orders.refused(Denial.REFUSED)
    assert await orders.entries() == []


async def test_what_was_emitted_in_time_stays_though_the_call_is_lost() -> None:
    orders = Orders()
    await orders.dispatched()
    await orders.emit()
    await orders.ends(CallEvent.LOSE, ErrorCode.DEADLINE_EXCEEDED)
    assert len(await orders.entries()) == 1


async def test_a_call_nobody_knows_emits_nothing() -> None:
    orders = Orders()
    await orders.refused(Denial.REFUSED)
    assert await orders.entries() == []


async def test_the_handler_of_an_operation_has_the_time_of_the_operation() -> None:
    orders = Orders()
    await orders.dispatched(operation="op_1")
    orders.clock.advance(DEADLINE_MS * 100)
    await orders.emit()
    assert len(await orders.entries()) == 1


async def test_a_hook_has_no_call_and_emits_all_the_same() -> None:
    orders = Orders()
    orders.asker = replace(orders.asker, ref=None)
    await orders.emit()
    [entry] = await orders.entries()
    assert (entry.subject, entry.key) == (APP, "conv_1")


@pytest.mark.parametrize(
    ("kind", "data", "denial"),
    [
        ("9", "{}", Denial.REFUSED),
        ("a", "[]", Denial.REFUSED),
        ("a", '{"t":"' + "x" * 70_000 + '"}', Denial.TOO_MUCH),
    ],
)
async def test_what_will_not_do_is_refused(kind: str, data: str, denial: Denial) -> None:
    orders = Orders()
    await orders.dispatched()
    with pytest.raises(ServiceDenied) as refused:
        await orders.emit(kind, data)
    assert refused.value.denial is denial
    assert await orders.entries() == []


async def test_a_flood_of_one_app_is_refused_and_costs_no_other() -> None:
    orders = Orders()
    await orders.dispatched()
    for _ in range(BURST):
        await orders.emit()
    await orders.refused(Denial.REFUSED)
    orders.asker = replace(orders.asker, app="com.example.other")
    await orders.emit()
    assert len(await orders.entries()) == BURST + 1


async def test_without_a_consumer_nothing_is_written_and_the_rules_are_the_same() -> None:
    orders = Orders(is_consumed=False)
    await orders.dispatched()
    await orders.emit()
    orders.clock.advance(DEADLINE_MS)
    await orders.refused(Denial.REFUSED)
    assert await orders.entries() == []
