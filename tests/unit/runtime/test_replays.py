"""Transmissions count once, refusals leave no trace but one record, and a revoked session hears nothing more."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.attendance import Waiter
from gateway.runtime.refusals import SINGLY, Refusals
from gateway.runtime.surface import Envelope, Handled, Transmission
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.rig import ADD, LIST, MILK, Rig, running

pytestmark = pytest.mark.anyio

WINDOW = 300_000


async def send(rig: Rig, session: AgentSession, nonce: str, *, stamp: int | None = None, wait: float = 0) -> Handled:
    """One `invoke` as it comes over HTTP."""
    waiters: list[Waiter] = []
    sent = Transmission(
        nonce=nonce,
        stamp=rig.clock.now() if stamp is None else stamp,
        wait_seconds=wait,
        arrival=rig.services.inventories.arrive(),
    )
    envelope = Envelope(id="1", method="invoke", capability="todo.list", input={})
    handled = await rig.services.surface.handle(session, envelope, sent, waiters)
    for waiter in waiters:
        rig.services.calls.attendance.leave(waiter)
    await rig.settle()
    return handled


async def code_of(sending: Any) -> str:
    with pytest.raises(GatewayError) as refusal:
        await sending
    return refusal.value.code.wire


async def test_the_same_transmission_runs_nothing_and_names_the_call(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    first = await send(rig, session, "nonce-0000000001")
    with pytest.raises(GatewayError) as refusal:
        await send(rig, session, "nonce-0000000001")
    assert (refusal.value.code.wire, refusal.value.facts["ref"]) == ("replay_detected", first.result["ref"])
    assert len(page.invoked) == 1


async def test_a_clock_set_back_brings_no_forgotten_transmission_back() -> None:
    store, clock = MemoryStore(), FakeClock()
    stamp = clock.now()
    async with running(store, clock) as rig:
        page = await rig.page(LIST)
        session = await rig.grant()
        await send(rig, session, "nonce-0000000001", stamp=stamp)
        await rig.after(2 * WINDOW + 1)
        clock.jump(stamp - clock.now())
        assert await code_of(send(rig, session, "nonce-0000000001", stamp=stamp)) == "call_too_old"
        assert len(page.invoked) == 1
    # A new process goes by the wall clock; what was forgotten is still known by its horizon.
    clock.jump(stamp - clock.now())
    async with running(store, clock) as rig:
        page = await rig.page(LIST)
        assert await code_of(send(rig, session, "nonce-0000000001", stamp=stamp)) == "call_too_old"
        assert page.invoked == []


async def test_what_was_meant_long_ago_is_not_done_today(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    day, now = 86_400_000, rig.clock.now()
    await rig.submit(session, "todo.list", {}, call_id="call-0001", issued_at=now - day)
    too_old = rig.submit(session, "todo.list", {}, call_id="call-0002", issued_at=now - day - 1)
    assert await code_of(too_old) == "call_too_old"
    over = rig.submit(session, "todo.list", {}, call_id="call-0003", expires_at=now)
    assert await code_of(over) == "call_too_old"
    assert len(page.invoked) == 1
    assert len(await rig.records("call.refused", code="call_too_old")) == 2


async def test_arguments_are_as_large_as_the_limit_and_no_larger() -> None:
    async with running(argument_bytes=1_024) as rig:
        page = await rig.page(LIST)
        session = await rig.grant()
        fits = 1_024 - len('{"a":""}')
        await rig.submit(session, "todo.list", {"a": "x" * fits})
        assert await code_of(rig.submit(session, "todo.list", {"a": "x" * (fits + 1)})) == "body_too_large"
        assert len(page.invoked) == 1
        assert len(await rig.records("call.refused", code="body_too_large")) == 1


async def test_a_full_ledger_refuses_with_one_record_and_keeps_neither_nonce_nor_key() -> None:
    store = MemoryStore(open_cap=1)
    async with running(store) as rig:
        page = await rig.page(LIST)
        session = await rig.grant()
        first = await send(rig, session, "nonce-0000000001")
        assert await code_of(send(rig, session, "nonce-0000000002")) == "ledger_full"
        with pytest.raises(GatewayError):
            await rig.submit(session, "todo.list", {}, call_id="call-0001")
        assert len(await rig.records("call.refused", code="ledger_full")) == 2
        await page.answer(first.result["ref"], [])
        await send(rig, session, "nonce-0000000002")
        assert await store.run(lambda tx: tx.calls.usage()) == (2, 1)


async def test_too_many_calls_are_refused_with_one_record_each_and_their_key_stays_free() -> None:
    async with running(calls_per_minute=60, calls_burst=2) as rig:
        await rig.page(LIST)
        session = await rig.grant()
        for number in range(2):
            await rig.submit(session, "todo.list", {}, call_id=f"call-000{number}")
        with pytest.raises(GatewayError) as refusal:
            await rig.submit(session, "todo.list", {}, call_id="call-0009")
        assert refusal.value.code is ErrorCode.RATE_LIMITED
        assert len(await rig.records("call.refused", code="rate_limited")) == 1
        assert (await rig.submit(session, "todo.list", {}, call_id="call-0001"))[0].replayed
        await rig.after(2_000)
        assert not (await rig.submit(session, "todo.list", {"other": 1}, call_id="call-0009"))[0].replayed


async def test_a_no_is_remembered_for_ten_minutes_or_until_it_is_lifted(rig: Rig) -> None:
    page = await rig.page(ADD)
    session = await rig.grant()
    outcome, _ = await rig.submit(session, "todo.add", MILK)
    await page.decide(approve=False)
    assert (await rig.call(outcome.call.ref)).state is CallState.DENIED

    async def is_asked() -> bool:
        before = len(page.connection.of("approve_request"))
        with suppress(GatewayError):
            await rig.submit(session, "todo.add", MILK)
        return len(page.connection.of("approve_request")) > before

    assert not await is_asked()
    await rig.after(599_999)
    assert not await is_asked()
    assert len(await rig.records("call.refused", code="denied")) == 2
    await rig.after(1)
    assert await is_asked()
    await page.decide(approve=False)
    assert not await is_asked()
    await rig.services.activity.act(page.live, "lift_deny", agent="alice", capability="todo.add")
    assert await is_asked()


@pytest.mark.parametrize(("changes", "visible"), [({"automated": True}, True), ({}, False)])
async def test_a_yes_of_a_machine_or_of_nobody_does_not_count(
    rig: Rig, changes: dict[str, Any], visible: bool
) -> None:
    page = await rig.page(ADD, **changes)
    outcome, _ = await rig.submit(await rig.grant(), "todo.add", MILK)
    await page.decide(visible=visible)
    assert page.invoked == []
    assert (await rig.call(outcome.call.ref)).state is CallState.AWAITING_APPROVAL
    assert len(await rig.records("approval.refused", code="forbidden")) == 1
    await page.decide(approve=False, visible=visible)
    assert (await rig.call(outcome.call.ref)).state is CallState.DENIED


async def test_a_revoked_session_stops_waiting_and_gets_no_result(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    sending = asyncio.create_task(send(rig, session, "nonce-0000000001", wait=240.0))
    await rig.settle()
    await rig.services.identity.revoke_session(session.id, by="test")
    await rig.settle()
    async with asyncio.timeout(1):
        handled = await sending
    assert handled.result["pending"]
    await page.answer(page.invoked[0], ["private"])
    assert not vars(rig.services.sessions)["_watchers"]


async def test_a_flood_of_refusals_over_the_minute_is_counted_once(rig: Rig) -> None:
    refusals = rig.services.refusals
    for _ in range(SINGLY + 5):
        await refusals.note("mcp", "10.0.0.1", ErrorCode.UNAUTHENTICATED)
    rig.clock.advance(60_000)
    await asyncio.gather(*(refusals.note("mcp", "10.0.0.1", ErrorCode.UNAUTHENTICATED) for _ in range(4)))
    counted = await rig.records("access.refusals_counted")
    assert [record["further"] for record in counted] == [5]
    assert len(await rig.records("access.refused", peer="10.0.0.1")) == SINGLY + 4


async def test_a_flood_from_many_addresses_is_counted_under_one_name(rig: Rig) -> None:
    refusals = Refusals(rig.services.spine, rig.services.clock, tracked=2)
    for number in range(SINGLY + 7):
        await refusals.note("mcp", f"10.0.0.{number}", ErrorCode.UNAUTHENTICATED)
    peers = [record["peer"] for record in await rig.records("access.refused")]
    assert peers == ["10.0.0.0", "10.0.0.1", *["others"] * SINGLY]
    rig.clock.advance(60_000)
    await refusals.sweep()
    (counted,) = await rig.records("access.refusals_counted")
    assert (counted["peer"], counted["further"]) == ("others", 5)
