"""A start that needs the front, the operation it begins, and the one end of both (seed 002 §7, rules B5, F1, F3, F4)."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from capabilities.contract import Leave, Leaving
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.intents import HostIntent
from gateway.domain.operations import OperationState
from gateway.runtime.ports import Tx
from gateway.runtime.workspaces import Place
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.focus import MINUTE, Screen, a_screen, focus, receipts, result, with_focus
from tests.unit.runtime.rig import Rig, running

pytestmark = pytest.mark.anyio

STARTED = ["accepted", "starting", "started"]


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(offered=[focus()], **with_focus()) as made:
        yield made


async def agent(rig: Rig) -> AgentSession:
    return await rig.grant(scope=["focus.*"])


async def start(rig: Rig, session: AgentSession, minutes: float = 10, call_id: str | None = None) -> str:
    outcome, _ = await rig.submit(session, "focus.start", {"minutes": minutes}, call_id=call_id)
    return outcome.call.ref


async def started(rig: Rig) -> tuple[Screen, AgentSession, str]:
    """A screen with a focus that runs."""
    screen, session = await a_screen(rig), await agent(rig)
    ref = await start(rig, session)
    await screen.come_to_front()
    return screen, session, ref


async def stop(rig: Rig, session: AgentSession) -> str | None:
    outcome, _ = await rig.submit(session, "focus.stop", {})
    return await result(rig, outcome.call.ref)


async def operation_state(rig: Rig, ref: str) -> OperationState | None:
    found = await rig.store.run(lambda tx: tx.operations.find_of_call(ref))
    return None if found is None else found.state


async def test_nothing_begins_before_the_person_has_it_in_front(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await start(rig, session)
    assert await receipts(rig, ref) == ["accepted", "starting"]
    await screen.open()
    assert (await rig.call(ref)).state is CallState.WAITING_ACTIVATION
    assert await operation_state(rig, ref) is None
    asked = screen.told("foreground")[-1]
    assert (asked["instance"], asked["agent"]) == (screen.instance, "Alice")


async def test_a_start_in_front_is_told_once_as_started(rig: Rig) -> None:
    screen, _, ref = await started(rig)
    assert await receipts(rig, ref) == STARTED
    call = await rig.call(ref)
    assert (call.state, call.due_at) == (CallState.DISPATCHED, None)
    assert await operation_state(rig, ref) is OperationState.RUNNING
    shown = screen.told("state")[-1]["state"]
    assert shown == {"phase": "running", "remaining_ms": 10 * MINUTE, "total_ms": 10 * MINUTE}


async def test_it_is_complete_at_its_deadline_and_no_earlier(rig: Rig) -> None:
    screen, _, ref = await started(rig)
    await rig.after(10 * MINUTE - 1)
    assert await operation_state(rig, ref) is OperationState.RUNNING
    await rig.after(1)
    assert await operation_state(rig, ref) is OperationState.COMPLETED
    assert await result(rig, ref) == '{"status":"completed"}'
    assert await receipts(rig, ref) == STARTED
    assert screen.phase == "completed"
    assert len(await rig.records("operation.ended", state="completed")) == 1


async def test_it_has_one_end_however_many_come(rig: Rig) -> None:
    screen, session, ref = await started(rig)
    assert await stop(rig, session) == '{"status":"interrupted"}'
    await rig.after(30 * MINUTE)
    assert await stop(rig, session) == '{"status":"nothing_to_stop"}'
    assert await result(rig, ref) == '{"status":"interrupted"}'
    assert len(await rig.records("operation.ended")) == 1
    assert len(await rig.records("call.ended", ref=ref)) == 1
    assert screen.told("close")


async def test_a_stop_while_it_starts_cancels_the_start(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await start(rig, session)
    await screen.open()
    assert await stop(rig, session) == '{"status":"start_cancelled"}'
    call = await rig.call(ref)
    assert call.state is CallState.SUCCEEDED
    assert await result(rig, ref) == '{"status":"not_started"}'
    assert await receipts(rig, ref) == ["accepted", "starting", "activation_cancelled"]
    assert [frame["instance"] for frame in screen.told("close")] == [screen.instance]
    assert len(await rig.records("activation.cancelled")) == 1


async def test_a_person_who_refuses_is_a_business_answer(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await start(rig, session)
    await screen.open()
    await screen.refuse()
    assert await result(rig, ref) == '{"status":"not_started"}'
    assert await receipts(rig, ref) == ["accepted", "starting", "activation_failed"]
    assert len(await rig.records("activation.failed", reason="foreground_refused")) == 1
    assert await operation_state(rig, ref) is None
    assert screen.told("close")


async def test_a_start_nobody_looks_at_is_not_started_after_a_minute(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await start(rig, session)
    await screen.open()
    await rig.after(59_999)
    assert (await rig.call(ref)).state is CallState.WAITING_ACTIVATION
    await rig.after(1)
    assert await result(rig, ref) == '{"status":"not_started"}'
    assert len(await rig.records("activation.failed", reason="timeout")) == 1


async def test_the_app_coming_to_the_front_later_starts_nothing(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await start(rig, session)
    instance = screen.instance
    await rig.after(60_000)
    with pytest.raises(Exception, match="is not open on this page"):
        await screen.intend(HostIntent.FOREGROUNDED, instance)
    assert await operation_state(rig, ref) is None


@pytest.mark.parametrize("intent", [HostIntent.LEFT_WORKSPACE, HostIntent.CLOSED])
async def test_leaving_interrupts(rig: Rig, intent: HostIntent) -> None:
    screen, _, ref = await started(rig)
    await screen.intend(intent)
    assert await result(rig, ref) == '{"status":"interrupted"}'
    assert len(await rig.records("operation.ended", state="interrupted", cause=intent.value)) == 1
    assert len(await rig.records("intent.reported", intent=intent.value)) == 1


@pytest.mark.parametrize("intent", [HostIntent.BACKGROUNDED, HostIntent.LOCKED, HostIntent.RESTORED])
async def test_a_hidden_tab_or_a_locked_screen_is_no_leaving(rig: Rig, intent: HostIntent) -> None:
    screen, _, ref = await started(rig)
    await screen.intend(intent)
    assert await operation_state(rig, ref) is OperationState.RUNNING
    assert await result(rig, ref) is None


async def test_a_page_that_comes_back_within_a_minute_has_not_closed_it(rig: Rig) -> None:
    screen, _, ref = await started(rig)
    instance = screen.instance
    screen.page.drop()
    await rig.after(30_000)
    again = Screen(await rig.page(resume=screen.page, reload=True))
    assert again.instance == instance
    assert again.told("open")[-1]["state"]["phase"] == "running"
    await rig.after(60_000)
    assert await operation_state(rig, ref) is OperationState.RUNNING


async def test_a_page_that_stays_away_a_minute_counts_as_closed(rig: Rig) -> None:
    screen, _, ref = await started(rig)
    screen.page.drop()
    await rig.after(10_000)
    await rig.after(49_999)
    assert await operation_state(rig, ref) is OperationState.RUNNING
    await rig.after(1)
    assert await result(rig, ref) == '{"status":"interrupted"}'


async def test_a_page_that_came_back_since_it_was_found_away_has_not_closed_it(rig: Rig) -> None:
    screen, _, ref = await started(rig)
    screen.page.drop()
    await rig.after(20_000)
    found = await rig.services.running.due(rig.clock.now() + MINUTE)
    await rig.page(resume=screen.page)
    for step in found:
        await step()
    assert await operation_state(rig, ref) is OperationState.RUNNING


async def test_one_that_cannot_end_holds_up_no_other(rig: Rig) -> None:
    _, _, broken = await started(rig)
    screen, other = await a_screen(rig, user="ben"), await rig.grant(user="ben", scope=["focus.*"])
    ref = await start(rig, other)
    await screen.come_to_front()

    def spoil(tx: Tx) -> None:
        operation = tx.operations.find_of_call(broken)
        assert operation is not None
        tx.operations.save(replace(operation, answers="{"), was=OperationState.RUNNING)

    await rig.store.run(spoil)
    await rig.after(10 * MINUTE)
    assert await operation_state(rig, broken) is OperationState.RUNNING
    assert await result(rig, ref) == '{"status":"completed"}'


async def test_a_restart_loses_no_operation() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        screen, _, ref = await started(rig)
        page = screen.page
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        assert (await rig.call(ref)).state is CallState.DISPATCHED
        await rig.page(resume=page)
        await rig.after(10 * MINUTE)
        assert await result(rig, ref) == '{"status":"completed"}'
        assert await receipts(rig, ref) == STARTED


async def test_a_start_that_waits_survives_a_restart() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        screen, session = await a_screen(rig), await agent(rig)
        ref = await start(rig, session)
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        again = Screen(await rig.page(resume=screen.page))
        await again.come_to_front()
        assert await receipts(rig, ref) == STARTED


@pytest.mark.parametrize("jump", [-5 * MINUTE, 5 * MINUTE])
async def test_a_clock_that_is_set_does_not_move_a_deadline(rig: Rig, jump: int) -> None:
    _, _, ref = await started(rig)
    rig.clock.jump(jump)
    await rig.after(10 * MINUTE - 1)
    if jump < 0:
        assert await operation_state(rig, ref) is OperationState.RUNNING
    await rig.after(1)
    assert await result(rig, ref) == '{"status":"completed"}'


async def test_the_same_call_id_finds_the_start_and_adds_nothing(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await start(rig, session, call_id="focus-0001")
    assert await start(rig, session, call_id="focus-0001") == ref
    await screen.come_to_front()
    assert await start(rig, session, call_id="focus-0001") == ref
    await rig.after(10 * MINUTE)
    assert await start(rig, session, call_id="focus-0001") == ref
    assert await receipts(rig, ref) == STARTED
    assert len(await rig.records("operation.started")) == 1


async def test_its_caller_may_cancel_it(rig: Rig) -> None:
    screen, session, ref = await started(rig)
    await rig.services.calls.cancel(session, ref)
    await rig.settle()
    call = await rig.call(ref)
    assert (call.state, call.code) == (CallState.CANCELLED, ErrorCode.CANCELLED)
    assert await operation_state(rig, ref) is OperationState.CANCELLED
    assert screen.phase == "cancelled"


async def test_the_record_of_its_app_session_begins_with_the_work(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await start(rig, session)
    instance = await rig.store.run(lambda tx: tx.instances.find(screen.instance))
    assert instance is not None
    assert await rig.store.run(lambda tx: tx.app_sessions.entries(instance.app_session, limit=9)) == []
    await screen.come_to_front()
    await rig.after(10 * MINUTE)
    entries = await rig.store.run(lambda tx: tx.app_sessions.entries(instance.app_session, limit=9))
    assert [(entry.kind.value, entry.ref, entry.state) for entry in entries] == [
        ("call_started", ref, None),
        ("call_ended", ref, "succeeded"),
    ]


async def test_a_package_that_was_changed_while_no_gateway_ran_takes_its_instances_down() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        screen, _, ref = await started(rig)
        instance = screen.instance
    async with running(store, clock, offered=[focus(digest="e" * 64)], **with_focus()) as rig:
        closed = await rig.store.run(lambda tx: tx.instances.find(instance))
        assert closed is not None
        assert (closed.is_live, closed.reason) == (False, "app_withdrawn")
        await rig.after(10 * MINUTE)
        assert await result(rig, ref) == '{"status":"completed"}'


async def test_the_end_of_work_of_an_app_session_that_is_over_stands_in_no_later_one() -> None:
    keeping = focus(leaving=Leaving(left_workspace=Leave.KEEP, closed=Leave.KEEP))
    async with running(offered=[keeping], **with_focus()) as rig:
        screen, session, first = await started(rig)
        await screen.intend(HostIntent.CLOSED)
        await rig.after(1)
        second = await start(rig, session, minutes=60)
        await screen.come_to_front()
        await rig.after(10 * MINUTE)
        assert (await rig.call(first)).state is CallState.SUCCEEDED
        [instance] = await rig.store.run(lambda tx: list(tx.instances.all_live()))
        lines = await rig.store.run(lambda tx: list(tx.app_sessions.entries(instance.app_session, limit=10)))
        assert [(line.kind.value, line.ref) for line in lines] == [("call_started", second)]


async def test_nothing_is_kept_for_an_app_session_that_ends_meanwhile(rig: Rig) -> None:
    screen, _, _ = await started(rig)
    [instance] = await rig.store.run(lambda tx: list(tx.instances.all_live()))
    place = Place(page=screen.page.live, instance=instance.id)
    closing = rig.services.workspaces.intended(place, HostIntent.CLOSED)
    keeping = rig.services.workspaces.keep(place, 0, {"n": 1})
    _, refused = await asyncio.gather(closing, keeping, return_exceptions=True)
    assert isinstance(refused, GatewayError)
    assert await rig.store.run(lambda tx: tx.session_data.find(instance.app, instance.app_session)) is None
