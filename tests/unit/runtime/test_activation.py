"""One attempt for all that wait, in the order they came; every one of them is answered (seed 002 §4.3, case C33)."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.instances import InstanceState
from gateway.domain.intents import HostIntent
from gateway.runtime.workspaces import Failed, Foregrounded, Started
from tests.unit.runtime.focus import DRAW, LOOK, START, Screen, a_screen, focus, install, receipts, result, with_focus
from tests.unit.runtime.rig import Rig, running

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_focus()) as made:
        install(made)
        yield made


async def agent(rig: Rig, **how: Any) -> AgentSession:
    return await rig.grant(scope=["focus.*"], **how)


async def ask(rig: Rig, session: AgentSession, capability: str = "focus.draw", **arguments: Any) -> str:
    outcome, _ = await rig.submit(session, capability, arguments)
    return outcome.call.ref


async def states(rig: Rig, refs: list[str]) -> list[CallState]:
    return [(await rig.call(ref)).state for ref in refs]


async def test_ten_calls_at_once_wait_for_one_start_and_go_in_their_order(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    refs = [await ask(rig, session, n=number) for number in range(10)]
    assert set(await states(rig, refs)) == {CallState.WAITING_ACTIVATION}
    assert len(screen.told("open")) == len(await rig.records("activation.started")) == 1
    await screen.open()
    assert [frame["ref"] for frame in screen.told("tool")] == refs
    assert set(await states(rig, refs)) == {CallState.DISPATCHED}
    assert len(await rig.records("activation.reached")) == 1


async def test_what_waits_for_the_app_does_not_wait_for_the_front(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    look, draw = await ask(rig, session, "focus.look"), await ask(rig, session)
    await screen.open()
    assert await states(rig, [look, draw]) == [CallState.WAITING_ACTIVATION, CallState.DISPATCHED]
    await screen.say(Foregrounded())
    assert await states(rig, [look, draw]) == [CallState.DISPATCHED, CallState.DISPATCHED]
    assert len(await rig.records("activation.started")) == 1


async def test_a_call_of_a_running_app_waits_for_nothing(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    await ask(rig, session)
    await screen.open()
    ref = await ask(rig, session)
    assert (await rig.call(ref)).state is CallState.DISPATCHED
    assert await receipts(rig, ref) == ["accepted"]


async def test_receipts_tell_what_happened_and_the_frame_answers(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await ask(rig, session, shape="circle")
    await screen.open()
    tool = screen.told("tool")[-1]
    assert (tool["ref"], tool["method"], tool["arguments"]) == (ref, "focus.draw", '{"shape":"circle"}')
    await screen.say(Started(ref))
    await screen.answer(ref, '{"drawn":true}')
    assert await receipts(rig, ref) == ["accepted", "starting", "activation_ready", "started"]
    assert await result(rig, ref) == '{"drawn":true}'


async def test_a_failed_start_answers_each_and_the_next_call_tries_again(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    refs = [await ask(rig, session, n=number) for number in range(3)]
    first = screen.instance
    await screen.say(Failed("integrity", "the bundle is not the one that was installed"))
    for ref in refs:
        call = await rig.call(ref)
        assert (call.state, call.code) == (CallState.FAILED, ErrorCode.APP_ACTIVATION_FAILED)
        assert call.message is not None
        assert "integrity" in call.message
        assert await receipts(rig, ref) == ["accepted", "starting", "activation_failed"]
    again = await ask(rig, session)
    assert screen.instance != first
    await screen.open()
    assert (await rig.call(again)).state is CallState.DISPATCHED


async def test_a_slow_start_is_given_up_and_its_late_end_harms_nobody(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref, instance = await ask(rig, session), screen.instance
    await rig.after(60_000)
    assert (await rig.call(ref)).code is ErrorCode.APP_ACTIVATION_FAILED
    assert screen.told("close")[-1]["instance"] == instance
    with pytest.raises(GatewayError):
        await screen.open()
    assert (await rig.call(ref)).state is CallState.FAILED


async def test_one_caller_who_leaves_takes_nothing_from_the_others(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    first, waiter = await rig.submit(session, "focus.draw", {"n": 1})
    second = await ask(rig, session, n=2)
    rig.hang_up(waiter)
    await rig.settle()
    await screen.open()
    assert await states(rig, [first.call.ref, second]) == [CallState.WAITING_ACTIVATION, CallState.DISPATCHED]
    await rig.after(30_000)
    assert (await rig.call(first.call.ref)).state is CallState.CANCELLED


async def test_a_caller_who_comes_back_goes_on_with_the_app_that_is_ready(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    first, waiter = await rig.submit(session, "focus.draw", {"n": 1}, call_id="draw-0001")
    await ask(rig, session, n=2)
    rig.hang_up(waiter)
    await rig.settle()
    await screen.open()
    await rig.submit(session, "focus.draw", {"n": 1}, call_id="draw-0001")
    assert (await rig.call(first.call.ref)).state is CallState.DISPATCHED


async def test_a_caller_who_comes_back_to_an_app_behind_waits_for_the_front_again(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    first, waiter = await rig.submit(session, "focus.look", {"n": 1}, call_id="look-0001")
    await ask(rig, session, "focus.look", n=2)
    rig.hang_up(waiter)
    await rig.settle()
    await screen.come_to_front()
    await screen.intend(HostIntent.BACKGROUNDED)
    await rig.submit(session, "focus.look", {"n": 1}, call_id="look-0001")
    assert (await rig.call(first.call.ref)).state is CallState.WAITING_ACTIVATION
    await screen.intend(HostIntent.FOREGROUNDED)
    assert (await rig.call(first.call.ref)).state is CallState.DISPATCHED


async def test_a_start_nobody_waits_for_any_more_is_given_up(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    refs = [await ask(rig, session, n=number) for number in range(2)]
    await rig.services.calls.cancel(session, refs[0])
    await rig.settle()
    assert await rig.records("activation.cancelled") == []
    await rig.services.calls.cancel(session, refs[1])
    await rig.settle()
    assert len(await rig.records("activation.cancelled", reason="nobody_waits")) == 1
    assert screen.told("close")


async def test_conversations_have_instances_of_their_own(rig: Rig) -> None:
    screen = await a_screen(rig)
    one, other = await agent(rig, conversation="one"), await agent(rig, conversation="other")
    await ask(rig, one)
    first = screen.instance
    await ask(rig, other)
    assert screen.instance != first
    same = await agent(rig, conversation="one")
    await screen.say(Foregrounded(), first)
    assert await result(rig, await ask(rig, same)) is None
    assert len(screen.told("open")) == 2


async def test_an_instance_of_another_page_can_be_spoken_of_by_nobody_else(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await ask(rig, session)
    stranger = Screen(await rig.page(user="eve"))
    with pytest.raises(GatewayError, match="is not open on this page"):
        await stranger.say(Foregrounded(), screen.instance)
    with pytest.raises(GatewayError, match="is not open on this page"):
        await stranger.intend(HostIntent.CLOSED, screen.instance)
    refused = await rig.records("intent.refused", instance=screen.instance)
    assert [(record["user"], record["intent"]) for record in refused] == [("eve", "closed")]
    assert (await rig.call(ref)).state is CallState.WAITING_ACTIVATION


async def test_an_app_that_is_turned_off_ends_what_waits_and_is_taken_down(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref, instance = await ask(rig, session), screen.instance
    install(rig, focus(is_enabled=False))
    await rig.settle()
    call = await rig.call(ref)
    assert (call.state, call.code) == (CallState.FAILED, ErrorCode.APP_ACTIVATION_FAILED)
    assert screen.told("close")[-1]["instance"] == instance


async def test_another_package_gets_another_instance(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    await ask(rig, session)
    await screen.open()
    first = screen.instance
    install(rig, focus(DRAW, digest="e" * 64))
    await rig.settle()
    await ask(rig, session)
    assert screen.instance != first
    instances = [await rig.store.run(lambda tx, n=n: tx.instances.find(n)) for n in (first, screen.instance)]
    assert [i.state for i in instances if i] == [InstanceState.CLOSED, InstanceState.STARTING]


async def test_a_call_that_was_approved_waits_for_its_app_then(rig: Rig) -> None:
    install(rig, focus(replace(LOOK, confirm=START.confirm.ALWAYS)))
    screen, session = await a_screen(rig), await agent(rig)
    ref = await ask(rig, session, "focus.look")
    assert screen.told("open") == []
    await screen.page.decide()
    assert await receipts(rig, ref) == ["accepted", "starting"]
    await screen.come_to_front()
    assert (await rig.call(ref)).state is CallState.DISPATCHED
    assert len(await rig.records("approval.consumed", ref=ref)) == 1


async def test_an_approval_is_given_back_when_the_app_does_not_start(rig: Rig) -> None:
    install(rig, focus(replace(START, confirm=START.confirm.ALWAYS)))
    screen, session = await a_screen(rig), await agent(rig)
    ref = await ask(rig, session, "focus.start", minutes=5)
    await screen.page.decide()
    await screen.open()
    await screen.refuse()
    assert await result(rig, ref) == '{"status":"not_started"}'
    assert len(await rig.records("approval.withdrawn", ref=ref)) == 1


async def test_a_start_that_was_approved_and_takes_too_long_is_told_as_any_other(rig: Rig) -> None:
    """The approval lapses in the very moment in which the attempt is over."""
    install(rig, focus(replace(START, confirm=START.confirm.ALWAYS)))
    screen, session = await a_screen(rig), await agent(rig)
    ref = await ask(rig, session, "focus.start", minutes=5)
    await screen.page.decide()
    await screen.open()
    await rig.after(60_000)
    assert await result(rig, ref) == '{"status":"not_started"}'
    assert len(await rig.records("approval.withdrawn", ref=ref)) == 1


async def test_a_page_without_a_workspace_shows_no_apps(rig: Rig) -> None:
    await a_screen(rig, has_workspace=False)
    session = await agent(rig)
    with pytest.raises(GatewayError) as refusal:
        await ask(rig, session)
    assert refusal.value.code is ErrorCode.UNKNOWN_CAPABILITY
    assert list(rig.services.inventories.snapshot(session).entries) == ["focus.stop"]


async def test_what_a_frame_ran_is_lost_with_it(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    ref = await ask(rig, session)
    await screen.open()
    await screen.say(Failed("unresponsive", ""))
    call = await rig.call(ref)
    assert (call.state, call.code) == (CallState.UNKNOWN, ErrorCode.OUTCOME_UNKNOWN)


async def test_a_frame_that_never_answers_is_asked_to_stop_and_its_call_kept_in_no_memory(rig: Rig) -> None:
    screen, session = await a_screen(rig), await agent(rig)
    refs = [await ask(rig, session, n=n) for n in range(3)]
    await screen.open()
    assert vars(rig.services.workspaces)["_running"] == dict.fromkeys(refs, screen.instance)
    await screen.answer(refs[0], "null")
    assert list(vars(rig.services.workspaces)["_running"]) == refs[1:]
    await rig.after(30_000)
    assert await states(rig, refs[1:]) == [CallState.UNKNOWN, CallState.UNKNOWN]
    assert [frame["ref"] for frame in screen.told("cancel")] == refs[1:]
    assert vars(rig.services.workspaces)["_running"] == {}


async def test_a_start_that_fails_is_told_in_the_words_it_was_accepted_under(rig: Rig) -> None:
    await a_screen(rig)
    session = await agent(rig)
    ref = await ask(rig, session, "focus.start", minutes=5)
    install(rig, focus(replace(START, not_started={"status": "another word"}), digest="e" * 64))
    await rig.settle()
    call = await rig.call(ref)
    assert (call.state, call.code) == (CallState.FAILED, ErrorCode.APP_ACTIVATION_FAILED)
