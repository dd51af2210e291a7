"""What the model found: starts nobody waits for any more, work without a frame, and queues that could be jumped."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode
from gateway.domain.instances import InstanceState
from gateway.domain.intents import HostIntent
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.focus import DRAW, LOOK, START, STOP, Screen, a_screen, focus, install, with_focus
from tests.unit.runtime.rig import LIST, Rig, running

pytestmark = pytest.mark.anyio

LONG = 600_000


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_focus()) as made:
        install(made, focus(START, STOP, replace(DRAW, timeout_ms=LONG), replace(LOOK, timeout_ms=LONG)))
        yield made


async def agent(rig: Rig) -> AgentSession:
    return await rig.grant(scope=["focus.*"])


async def ask(rig: Rig, session: AgentSession, capability: str = "focus.draw", **arguments: object) -> str:
    outcome, _ = await rig.submit(session, capability, arguments)
    return outcome.call.ref


async def state(rig: Rig, ref: str) -> CallState:
    return (await rig.call(ref)).state


async def live_attempts(rig: Rig) -> int:
    return len(await rig.store.run(lambda tx: tx.activations.all_live()))


async def test_a_front_nobody_wants_any_more_takes_no_work_down(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    draw, look = await ask(rig, session), await ask(rig, session, "focus.look")
    await rig.services.calls.cancel(session, look)
    await rig.settle()
    await screen.open()
    assert await state(rig, draw) is CallState.DISPATCHED
    assert await live_attempts(rig) == 0
    await rig.after(60_000)
    assert await state(rig, draw) is CallState.DISPATCHED
    assert screen.told("close") == []


async def test_a_call_that_missed_the_moment_leaves_no_start_behind(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    first, waiter = await rig.submit(session, "focus.look", {}, call_id="look-0001")
    rig.hang_up(waiter)
    await rig.settle()
    await screen.come_to_front()
    assert await state(rig, first.call.ref) is CallState.WAITING_ACTIVATION
    await rig.submit(session, "focus.look", {}, call_id="look-0001")
    assert await state(rig, first.call.ref) is CallState.DISPATCHED
    assert await live_attempts(rig) == 0


async def test_what_was_to_run_in_a_frame_that_was_closed_runs_nowhere(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    start = await ask(rig, session, "focus.start", minutes=25)
    await screen.come_to_front()
    assert await state(rig, start) is CallState.DISPATCHED
    screen.page.drop()
    draw = await ask(rig, session)
    assert await state(rig, draw) is CallState.READY
    await ask(rig, session, "focus.stop")
    assert await state(rig, start) is CallState.SUCCEEDED
    back = await rig.page(LIST, resume=screen.page)
    await rig.settle()
    assert back.connection.of("invoke") == []
    assert [frame["ref"] for frame in Screen(back).told("tool")] == []
    assert await state(rig, draw) is CallState.DENIED


async def test_nobody_goes_before_those_who_waited_through_a_restart() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        screen, session = await a_screen(rig), await agent(rig)
        first, waiter = await rig.submit(session, "focus.draw", {"n": 1}, call_id="draw-0001")
        rig.hang_up(waiter)
        await rig.settle()
        await screen.open()
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        await rig.submit(session, "focus.draw", {"n": 1}, call_id="draw-0001")
        again = Screen(await rig.page(LIST, resume=screen.page))
        second = await ask(rig, session, n=2)
        assert again.told("tool") == []
        await again.open()
        assert [frame["ref"] for frame in again.told("tool")] == [first.call.ref, second]
        [instance] = await store.run(lambda tx: list(tx.instances.all_live()))
        assert instance.state is InstanceState.RUNNING


@pytest.mark.parametrize("capability", ["focus.draw", "focus.look"])
async def test_a_call_that_comes_back_starts_its_app_on_the_page_that_is_there(rig: Rig, capability: str) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    first, waiter = await rig.submit(session, capability, {}, call_id="call-0001")
    rig.hang_up(waiter)
    await rig.settle()
    await screen.come_to_front()
    await screen.intend(HostIntent.CLOSED)
    closed = screen.instance
    await rig.submit(session, capability, {}, call_id="call-0001")
    assert screen.instance != closed
    await screen.come_to_front()
    assert [frame["ref"] for frame in screen.told("tool")] == [first.call.ref]


@pytest.mark.parametrize("capability", ["focus.draw", "focus.look"])
async def test_without_a_page_a_call_that_comes_back_is_told_so(rig: Rig, capability: str) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    first, waiter = await rig.submit(session, capability, {}, call_id="call-0001")
    rig.hang_up(waiter)
    await rig.settle()
    await screen.come_to_front()
    await screen.intend(HostIntent.CLOSED)
    screen.page.drop()
    await rig.after(10_000)
    await rig.services.calls.status(session, first.call.ref)
    await rig.settle()
    call = await rig.call(first.call.ref)
    assert (call.state, call.code) == (CallState.FAILED, ErrorCode.APP_ACTIVATION_FAILED)
    assert "page_not_connected" in (call.message or "")


async def test_an_app_that_is_refused_the_front_goes_on_with_what_it_does(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    draw, look = await ask(rig, session), await ask(rig, session, "focus.look")
    await screen.open()
    assert await state(rig, draw) is CallState.DISPATCHED
    await screen.refuse()
    assert await state(rig, look) is CallState.FAILED
    assert await state(rig, draw) is CallState.DISPATCHED
    await screen.answer(draw, "null")
    assert await state(rig, draw) is CallState.SUCCEEDED

    again = await ask(rig, session, "focus.look", n=2)
    await rig.after(60_000)
    assert await state(rig, again) is CallState.FAILED
    assert screen.told("close") == [], "it was there before"


async def test_a_restart_leaves_no_start_behind_that_nobody_waits_for() -> None:
    """Arguments that may stand nowhere are gone with the process, and the call that has them ends."""
    store, clock = MemoryStore(), FakeClock()
    secret = {"type": "object", "properties": {"word": {"type": "string", "writeOnly": True}}}
    offered = [focus(replace(DRAW, input_schema=secret))]
    async with running(store, clock, offered=offered, **with_focus()) as rig:
        await a_screen(rig)
        draw = await ask(rig, await agent(rig), word="MARKER-1")
        assert await state(rig, draw) is CallState.WAITING_ACTIVATION
    async with running(store, clock, offered=offered, **with_focus()) as rig:
        assert await state(rig, draw) is CallState.CANCELLED
        assert await live_attempts(rig) == 0
        assert list(await store.run(lambda tx: tx.instances.all_live())) == []
        assert "MARKER-1" not in await rig.trail()
