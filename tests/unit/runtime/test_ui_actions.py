"""What a person does in a mini app's frame: a call like any other, in their own name (seed 002 §3, rules B1)."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from capabilities.contract import Readiness, Visibility
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.app_catalog import Catalog
from gateway.domain.app_sessions import AppEntry, EntryKind
from gateway.domain.calls import Call, CallState, Entry
from gateway.domain.errors import GatewayError
from gateway.domain.intents import HostIntent
from gateway.domain.operations import OperationState
from gateway.runtime.callers import InFrame, still
from gateway.runtime.ui_actions import call_id_of
from gateway.testing import FakeClock, MemoryStore
from policy.model import Rule
from policy.vocabulary import Effect, Verdict
from tests.unit.runtime.focus import (
    DRAW,
    MINUTE,
    START,
    TOOLS,
    Screen,
    a_screen,
    focus,
    install,
    receipts,
    with_focus,
)
from tests.unit.runtime.rig import ADD, LIST, MILK, Rig, configuration, running, site

pytestmark = pytest.mark.anyio

KEEP = replace(START, id="focus.keep", effect=Effect.WRITE, readiness=Readiness.APP_READY)
WRITE = replace(DRAW, id="focus.save", title="Save", effect=Effect.WRITE)
OWN = replace(DRAW, id="focus.undo", title="Undo", visibility=Visibility.APP)


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_focus()) as made:
        install(made, focus(*TOOLS, KEEP, WRITE, OWN))
        yield made


async def opened(rig: Rig, **how: Any) -> tuple[Screen, AgentSession]:
    """The app on a page, in the background, as an agent's call opened it."""
    screen = await a_screen(rig, **how)
    session = await rig.grant(scope=["focus.*", "todo.*"])
    ref = (await rig.submit(session, "focus.draw", {}))[0].call.ref
    await screen.open()
    await screen.answer(ref, "{}")
    return screen, session


async def only_call(rig: Rig) -> Call:
    """The one call that no agent made."""
    [call] = await rig.store.run(lambda tx: [c for c in tx.calls.recent(limit=100) if c.entry is Entry.UI_ACTION])
    return call


async def lines(rig: Rig, screen: Screen) -> list[AppEntry]:
    """The visible record of the app on the screen."""

    def read(tx: Any) -> list[AppEntry]:
        return list(tx.app_sessions.entries(tx.instances.find(screen.instance).app_session, limit=100))

    return await rig.store.run(read)


# -- what it is ------------------------------------------------------------------------------------------------


async def test_an_action_is_the_persons_own_call(rig: Rig) -> None:
    screen, session = await opened(rig)
    acting = await screen.act("focus.draw", {"x": 1}).settle()
    call = await only_call(rig)
    assert (call.agent, call.user, call.session, call.inventory_revision) == ("", "ann", "", 0)
    assert (call.instance, call.conversation, call.site) == (screen.instance, session.conversation, "todo")
    assert (call.page, call.epoch, call.state) == (screen.page.id, screen.page.epoch, CallState.DISPATCHED)
    await screen.answer(call.ref, '{"drawn":true}')
    assert await acting.output() == {"drawn": True}
    assert acting.told == ["accepted"]
    baseline = await rig.store.run(lambda tx: tx.baselines.find(""))
    assert baseline is None


async def test_what_the_app_keeps_for_its_frames_is_there_for_a_person_in_one(rig: Rig) -> None:
    screen, session = await opened(rig)
    with pytest.raises(GatewayError):
        await rig.submit(session, "focus.undo", {})
    acting = await screen.act("focus.undo").settle()
    await screen.answer((await only_call(rig)).ref, '{"undone":true}')
    assert await acting.output() == {"undone": True}


async def test_everything_about_it_is_in_the_stream_of_ui_actions(rig: Rig) -> None:
    screen, _ = await opened(rig)
    before = await rig.records("call.admitted")
    acting = await screen.act("focus.draw").settle()
    call = await only_call(rig)
    await screen.answer(call.ref, "{}")
    await acting.output()
    assert len(before) == 1
    for event in ("call.admitted", "call.dispatched", "call.ended"):
        [facts] = await rig.records(event, ref=call.ref, user="ann", instance=screen.instance)
        assert "agent" not in facts
        assert "session" not in facts
        assert await rig.stream_of(event, ref=call.ref) == {"ui_action"}


async def test_a_start_from_the_frame_works_as_for_an_agent(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.start", {"minutes": 10}).settle()
    assert acting.told == ["accepted", "starting"]
    asked = screen.told("foreground")[-1]
    assert (asked["instance"], asked["agent"]) == (screen.instance, "Focus")
    await screen.come_to_front()
    assert acting.told == ["accepted", "starting", "started"]
    call = await only_call(rig)
    assert await receipts(rig, call.ref) == acting.told
    operation = await rig.store.run(lambda tx: tx.operations.find_of_call(call.ref))
    assert operation is not None
    assert operation.state is OperationState.RUNNING
    assert await rig.stream_of("operation.started", ref=call.ref) == {"ui_action"}
    assert await rig.stream_of("activation.started", ref=call.ref) == {"ui_action"}
    await rig.after(10 * MINUTE)
    assert await acting.output() == {"status": "completed"}


async def test_the_person_who_refuses_the_front_gets_the_business_answer(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.start", {"minutes": 10}).settle()
    await screen.refuse()
    assert await acting.output() == {"status": "not_started"}
    assert acting.told == ["accepted", "starting", "activation_failed"]


async def test_what_an_agent_started_can_be_stopped_from_the_frame(rig: Rig) -> None:
    screen, session = await opened(rig)
    ref = (await rig.submit(session, "focus.start", {"minutes": 10}))[0].call.ref
    await screen.come_to_front()
    assert await screen.act("focus.stop").output() == {"status": "interrupted"}
    assert (await rig.call(ref)).state is CallState.SUCCEEDED
    assert screen.told("close")


async def test_an_action_of_the_page_itself_runs_on_that_page(rig: Rig) -> None:
    screen, _ = await opened(rig)
    await screen.page.declare(LIST)
    acting = await screen.act("todo.list").settle()
    call = await only_call(rig)
    assert (call.app, call.page, call.instance) == (None, screen.page.id, screen.instance)
    assert screen.page.invoked == [call.ref]
    await screen.page.answer(call.ref, [])
    assert await acting.output() == []


# -- the visible record ----------------------------------------------------------------------------------------


async def test_what_the_person_did_stands_in_the_record_of_the_frame(rig: Rig) -> None:
    screen, _ = await opened(rig)
    await screen.page.declare(LIST)
    acting = await screen.act("todo.list").settle()
    call = await only_call(rig)
    epoch = screen.page.epoch
    rig.services.execution.started_on_page(screen.page.id, epoch, call.ref)
    await screen.page.answer(call.ref, [])
    await acting.output()
    done = [(line.kind, line.ref, line.capability, line.state) for line in await lines(rig, screen)][-2:]
    assert done == [
        (EntryKind.UI_ACTION, call.ref, "todo.list", None),
        (EntryKind.CALL_ENDED, call.ref, "todo.list", "succeeded"),
    ]


async def test_a_start_that_never_began_leaves_no_line(rig: Rig) -> None:
    screen, _ = await opened(rig)
    before = await lines(rig, screen)
    acting = await screen.act("focus.start", {"minutes": 10}).settle()
    assert await lines(rig, screen) == before
    await screen.come_to_front()
    assert [line.kind for line in await lines(rig, screen)][len(before) :] == [EntryKind.UI_ACTION]
    await acting.hang_up()


async def test_a_stop_leaves_its_line_before_its_frame_goes(rig: Rig) -> None:
    screen, session = await opened(rig)
    await rig.submit(session, "focus.start", {"minutes": 10})
    await screen.come_to_front()
    await screen.act("focus.stop").output()
    call = await only_call(rig)
    assert [line.kind for line in await lines(rig, screen) if line.ref == call.ref] == [
        EntryKind.UI_ACTION,
        EntryKind.CALL_ENDED,
    ]


# -- asking the person -----------------------------------------------------------------------------------------


async def test_the_dialog_names_the_mini_app_and_no_agent(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.save", {"name": "mine"}).settle()
    summary = json.loads(screen.page.connection.of("approve_request")[-1]["payload"])["summary"]
    assert (summary["app"], summary["agent"], summary["object"]) == ("Focus", "", "Save")
    await screen.page.decide()
    call = await only_call(rig)
    await screen.answer(call.ref, '{"saved":1}')
    assert await acting.output() == {"saved": 1}
    assert await rig.stream_of("approval.decided", ref=call.ref) == {"ui_action"}


async def test_what_is_denied_is_not_asked_again_until_the_person_lifts_it(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.save", {"name": "mine"}).settle()
    await screen.page.decide(approve=False)
    assert await acting.refusal() == "denied"
    asked = len(screen.page.connection.of("approve_request"))
    assert await screen.act("focus.save", {"name": "mine"}, name="r2").refusal() == "denied"
    assert len(screen.page.connection.of("approve_request")) == asked
    assert await rig.stream_of("call.refused", code="denied") == {"ui_action"}
    await rig.services.activity.act(screen.page.live, "lift_deny", agent=None, capability="focus.save")
    await screen.act("focus.save", {"name": "mine"}, name="r3").settle()
    assert len(screen.page.connection.of("approve_request")) == asked + 1


async def test_a_permit_for_every_agent_does_not_lift_the_ask() -> None:
    permit = Rule(id="all", agents=("*",), capabilities=("focus.*",), verdict=Verdict.PERMIT)
    async with running(**with_focus(rules=(permit,))) as rig:
        install(rig, focus(*TOOLS, WRITE))
        screen, session = await opened(rig)
        await rig.submit(session, "focus.save", {})
        assert not screen.page.connection.of("approve_request")
        await screen.act("focus.save").settle()
        assert screen.page.connection.of("approve_request")


async def test_a_forbid_for_every_agent_forbids_it_to_frames_too() -> None:
    forbid = Rule(id="none", agents=("*",), capabilities=("focus.save",), verdict=Verdict.FORBID)
    async with running(**with_focus(rules=(forbid,))) as rig:
        install(rig, focus(*TOOLS, WRITE))
        screen, _ = await opened(rig)
        assert await screen.act("focus.save").refusal() == "unknown_capability"
        assert await rig.records("call.refused", capability="focus.save", reason="a rule forbids it")


async def test_a_forbid_for_one_agent_says_nothing_of_the_person() -> None:
    forbid = Rule(id="bob", agents=("bob",), capabilities=("focus.draw",), verdict=Verdict.FORBID)
    async with running(**with_focus(rules=(forbid,))) as rig:
        install(rig)
        screen, _ = await opened(rig)
        await screen.act("focus.draw").settle()
        assert (await only_call(rig)).state is CallState.DISPATCHED


# -- what it may ask for ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("exposed", [("todo.*",), ("todo.*", "focus.draw")])
async def test_what_the_site_does_not_expose_is_not_there(exposed: tuple[str, ...]) -> None:
    """Also what would need no page: an agent may stop a focus wherever the person is, a frame is on a page."""
    floors = tuple(replace(site().expose[0], pattern=pattern) for pattern in exposed)
    async with running(**with_focus()) as rig:
        install(rig)
        screen, _ = await opened(rig)
        narrower = {"todo": site(expose=floors), "shop": site("shop")}
        await rig.services.reconfiguration.apply(configuration(**with_focus(sites=narrower)))
        assert await screen.act("focus.stop").refusal() == "unknown_capability"
        [facts] = await rig.records("call.refused", capability="focus.stop", user="ann", instance=screen.instance)
        assert facts["reason"] == "no `expose` entry of site `todo` names it"


async def test_what_the_pages_ticket_does_not_cover_is_not_there(rig: Rig) -> None:
    screen, _ = await opened(rig)
    live = rig.services.live.world.pages[screen.page.id]
    rig.services.live.put_page(replace(live, session=replace(live.session, capabilities=("todo.*",))))
    assert await screen.act("focus.draw").refusal() == "unknown_capability"
    assert await rig.records("call.refused", reason="the page's ticket does not cover it")


async def test_another_apps_tools_and_the_gateways_own_are_not_there(rig: Rig) -> None:
    screen, _ = await opened(rig)
    other = replace(DRAW, id="orders.draw", app_scope="dev.example.orders")
    tool = replace(focus(DRAW).tools["focus.draw"], app="dev.example.orders", descriptor=other)
    install(rig, focus(*TOOLS, WRITE), focus(id="dev.example.orders", tools={"orders.draw": tool}))
    assert await screen.act("orders.draw").refusal() == "unknown_capability"
    assert await screen.act("gateway.invoke", name="r2").refusal() == "unknown_capability"
    assert await screen.act("todo.add", MILK, name="r3").refusal() == "unknown_capability"
    refused = await rig.records("call.refused", reason="neither a tool of this app nor declared by its page")
    assert len(refused) == 3
    assert await rig.stream_of("call.refused") == {"ui_action"}


async def test_what_another_page_declares_is_not_there(rig: Rig) -> None:
    screen, _ = await opened(rig)
    await rig.page(ADD)
    assert await screen.act("todo.add", MILK).refusal() == "unknown_capability"


async def test_a_frame_that_only_shows_asks_for_nothing(rig: Rig) -> None:
    screen, _ = await opened(rig)
    shown = focus().surface
    assert shown is not None
    install(rig, focus(*TOOLS, surface=replace(shown, has_handlers=False)))
    assert await screen.act("focus.draw").refusal() == "unsupported"
    assert await rig.stream_of("call.refused", code="unsupported") == {"ui_action"}


async def test_arguments_are_held_to_the_declaration(rig: Rig) -> None:
    screen, _ = await opened(rig)
    assert await screen.act("focus.start", {"minutes": 0}).refusal() == "arguments_invalid"
    assert await rig.records("call.refused", capability="focus.start", code="arguments_invalid")


@pytest.mark.parametrize(("levels", "is_taken"), [(10, True), (11, False)])
async def test_arguments_are_held_to_their_depth(levels: int, is_taken: bool) -> None:
    async with running(**with_focus(argument_depth=10)) as rig:
        install(rig)
        screen, _ = await opened(rig)
        nested: Any = {}
        for _ in range(levels):
            nested = {"a": nested}
        acting = screen.act("focus.draw", nested)
        if is_taken:
            await acting.settle()
            assert (await only_call(rig)).state is CallState.DISPATCHED
        else:
            assert await acting.refusal() == "too_deep"
            assert await rig.stream_of("call.refused", code="too_deep") == {"ui_action"}


@pytest.mark.parametrize(("size", "is_taken"), [(2_048, True), (2_049, False)])
async def test_arguments_are_held_to_their_size(size: int, is_taken: bool) -> None:
    async with running(**with_focus(argument_bytes=2_048)) as rig:
        install(rig)
        screen, _ = await opened(rig)
        acting = screen.act("focus.draw", {"a": "x" * (size - len('{"a":""}'))})
        if is_taken:
            await acting.settle()
            assert (await only_call(rig)).state is CallState.DISPATCHED
        else:
            assert await acting.refusal() == "body_too_large"


# -- the name of a request -------------------------------------------------------------------------------------


async def test_the_same_request_said_again_is_the_same_call(rig: Rig) -> None:
    screen, _ = await opened(rig)
    first, second = screen.act("focus.draw", {"x": 1}), screen.act("focus.draw", {"x": 1})
    await first.settle()
    call = await only_call(rig)
    assert call.call_id == call_id_of(screen.instance, "r1")
    assert second.told == ["accepted"]
    await screen.answer(call.ref, '{"n":1}')
    assert await first.output() == await second.output() == {"n": 1}
    again = screen.act("focus.draw", {"x": 1})
    assert await again.output() == {"n": 1}
    assert again.told == []
    assert await rig.records("call.replayed", ref=call.ref)


async def test_another_request_under_the_same_name_is_a_conflict(rig: Rig) -> None:
    screen, _ = await opened(rig)
    await screen.act("focus.draw", {"x": 1}).settle()
    assert await screen.act("focus.draw", {"x": 2}).refusal() == "call_id_conflict"


async def test_two_frames_may_use_the_same_name(rig: Rig) -> None:
    screen, _ = await opened(rig)
    other = await rig.grant(scope=["focus.*"])
    ref = (await rig.submit(other, "focus.draw", {}))[0].call.ref
    second = screen.instance
    await screen.open()
    await screen.answer(ref, "{}")
    first = screen.told("open")[0]["instance"]
    assert first != second
    await screen.act("focus.draw", name="r1", instance=first).settle()
    await screen.act("focus.draw", {"y": 1}, name="r1", instance=second).settle()
    made = await rig.store.run(lambda tx: [c.instance for c in tx.calls.recent(limit=2)])
    assert {*made} == {first, second}


async def test_a_document_that_comes_back_finds_its_call(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.save").settle()
    await acting.hang_up()
    assert (await only_call(rig)).is_orphaned
    again = await screen.act("focus.save").settle()
    assert again.told == ["accepted"]
    assert not (await only_call(rig)).is_orphaned
    await screen.page.decide()
    await screen.answer((await only_call(rig)).ref, "[]")
    assert await again.output() == []


async def test_what_nobody_comes_back_for_is_never_begun(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.save").settle()
    await acting.hang_up()
    await rig.after(30_000)
    assert (await only_call(rig)).state is CallState.CANCELLED


# -- the frame it is asked in ----------------------------------------------------------------------------------


async def test_another_pages_frame_is_not_this_pages_to_act_in(rig: Rig) -> None:
    screen, _ = await opened(rig)
    elsewhere = Screen(await rig.page(user="bea"))
    assert await elsewhere.act("focus.draw", instance=screen.instance).refusal() == "bad_request"
    assert await elsewhere.act("focus.draw", instance="inst_" + "a" * 26).refusal() == "bad_request"
    for instance in (screen.instance, "inst_" + "a" * 26):
        facts = {"user": "bea", "instance": instance, "capability": "focus.draw", "code": "bad_request"}
        assert await rig.records("call.refused", **facts)
        assert await rig.stream_of("call.refused", **facts) == {"ui_action"}


async def test_a_closed_frame_asks_for_nothing(rig: Rig) -> None:
    screen, _ = await opened(rig)
    instance = screen.instance
    await screen.intend(HostIntent.CLOSED)
    assert await screen.act("focus.draw", instance=instance).refusal() == "bad_request"


async def test_what_waits_ends_with_its_frame(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.save").settle()
    await screen.intend(HostIntent.CLOSED)
    call = await only_call(rig)
    assert (call.state, await acting.refusal()) == (CallState.DENIED, "page_not_connected")
    assert screen.page.connection.of("approve_update")[-1]["state"] == "withdrawn"


async def test_the_grant_a_frame_was_opened_under_has_to_be_alive(rig: Rig) -> None:
    screen, session = await opened(rig)
    acting = await screen.act("focus.save").settle()
    await rig.services.identity.revoke_session(session.id, by="test")
    await rig.settle()
    assert await screen.act("focus.draw", name="r2").refusal() == "session_revoked"
    assert await rig.stream_of("call.refused", code="session_revoked") == {"ui_action"}
    await screen.page.decide()
    assert await acting.refusal() == "session_revoked"
    assert (await only_call(rig)).state is CallState.DENIED


async def test_another_grant_of_the_same_conversation_will_do(rig: Rig) -> None:
    screen, session = await opened(rig)
    await rig.grant("bob", scope=["focus.*"], conversation=session.conversation)
    await rig.services.identity.revoke_session(session.id, by="test")
    await screen.act("focus.draw").settle()
    assert (await only_call(rig)).state is CallState.DISPATCHED


# -- judged again before it runs -------------------------------------------------------------------------------


async def test_an_exposure_taken_back_ends_what_waits(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.save").settle()
    await rig.services.reconfiguration.apply(configuration())
    assert await acting.refusal() == "policy_changed"


async def test_a_ticket_that_covers_less_stops_it_before_it_runs(rig: Rig) -> None:
    """Whatever other pages of the person may do: it is asked for on this one."""
    screen, _ = await opened(rig)
    rig.clock.advance(1_000)
    await rig.page()
    acting = await screen.act("focus.keep", {"minutes": 10}).settle()
    live = rig.services.live.world.pages[screen.page.id]
    rig.services.live.put_page(replace(live, session=replace(live.session, capabilities=("todo.*",))))
    await screen.page.decide()
    assert await acting.refusal() == "policy_changed"


async def test_a_disabled_or_replaced_app_ends_what_waits(rig: Rig) -> None:
    screen, _ = await opened(rig)
    acting = await screen.act("focus.save").settle()
    install(rig, focus(*TOOLS, WRITE, is_enabled=False))
    await rig.settle()
    assert await acting.refusal() == "page_not_connected"
    assert (await only_call(rig)).state is CallState.DENIED


async def test_a_frame_of_a_package_that_is_not_the_enabled_one_asks_for_nothing(rig: Rig) -> None:
    """Between the change and the end of the frame, too."""
    screen, _ = await opened(rig)
    instance = await rig.store.run(lambda tx: tx.instances.find(screen.instance))
    assert instance is not None
    person, world = InFrame(page=screen.page.live, instance=instance), rig.services.live.world
    now = rig.clock.now()
    assert await rig.store.run(lambda tx: still(tx, world, person, now)) == person
    for app in (focus(digest="e" * 64), focus(is_enabled=False)):
        changed = world.with_apps(Catalog.of([app]))
        gone = await rig.store.run(lambda tx, changed=changed: still(tx, changed, person, now))
        assert isinstance(gone, GatewayError)
        assert gone.code.wire == "revoked"


async def test_a_page_that_takes_its_action_back_ends_what_waits(rig: Rig) -> None:
    screen, _ = await opened(rig)
    await screen.page.declare(ADD)
    acting = await screen.act("todo.add", MILK).settle()
    await screen.page.declare(LIST)
    assert await acting.refusal() == "revoked"


# -- limits ----------------------------------------------------------------------------------------------------


async def test_a_page_has_so_many_open_at_once() -> None:
    async with running(**with_focus(open_actions_per_page=2)) as rig:
        install(rig)
        screen, session = await opened(rig)
        await rig.submit(session, "focus.draw", {})
        first = await screen.act("focus.draw").settle()
        await screen.act("focus.draw", name="r2").settle()
        assert await screen.act("focus.draw", name="r3").refusal() == "busy"
        assert await rig.stream_of("call.refused", code="busy") == {"ui_action"}
        refs = await rig.store.run(lambda tx: [c.ref for c in tx.calls.open_of_instance(screen.instance)])
        await screen.answer(refs[0], "{}")
        await first.output()
        await screen.act("focus.draw", name="r4").settle()
        assert len(await rig.store.run(lambda tx: tx.calls.open_of_instance(screen.instance))) == 2


async def test_a_user_makes_so_many_in_a_minute_on_a_site() -> None:
    async with running(**with_focus(actions_per_minute=60, actions_burst=2)) as rig:
        install(rig)
        screen, _ = await opened(rig)
        for name in ("r1", "r2"):
            await screen.act("focus.draw", name=name).settle()
        assert await screen.act("focus.draw", name="r3").refusal() == "rate_limited"
        other = Screen(await rig.page())
        assert other.page.id != screen.page.id
        rig.clock.advance(1_000)
        await screen.act("focus.draw", name="r4").settle()
        assert await screen.act("focus.draw", name="r5").refusal() == "rate_limited"


async def test_a_flood_of_a_frame_is_counted_not_listed() -> None:
    async with running(**with_focus(actions_burst=1)) as rig:
        install(rig)
        screen, _ = await opened(rig)
        for number in range(30):
            acting = await screen.act("focus.draw", name=f"r{number}").settle()
            assert number == 0 or await acting.refusal() == "rate_limited"
        assert len(await rig.records("call.refused", code="rate_limited")) == 20
        assert await rig.stream_of("call.refused", code="rate_limited") == {"ui_action"}


# -- and no agent reaches it -----------------------------------------------------------------------------------


async def test_no_agent_sees_or_ends_what_a_person_asked_for(rig: Rig) -> None:
    screen, session = await opened(rig)
    await screen.act("focus.draw").settle()
    call = await only_call(rig)
    for name in (call.ref, call.call_id):
        with pytest.raises(GatewayError) as unseen:
            await rig.services.calls.status(session, name)
        with pytest.raises(GatewayError) as unended:
            await rig.services.calls.cancel(session, name)
        assert unseen.value.code.wire == unended.value.code.wire == "unknown_call"
    assert (await rig.call(call.ref)).state is CallState.DISPATCHED


async def test_an_agents_key_and_a_frames_name_are_different_things(rig: Rig) -> None:
    screen, session = await opened(rig)
    key = call_id_of(screen.instance, "r1")
    outcome, _ = await rig.submit(session, "focus.draw", {}, call_id=key)
    await screen.act("focus.draw").settle()
    call = await only_call(rig)
    assert (call.call_id, call.ref != outcome.call.ref) == (key, True)
    assert outcome.call.entry is Entry.AGENT_TOOL


async def test_the_badge_names_the_mini_app(rig: Rig) -> None:
    screen, _ = await opened(rig)
    await screen.act("focus.draw").settle()
    rig.services.activity.refresh("ann")
    await rig.settle()
    [entry, *_] = screen.page.connection.of("activity")[-1]["entries"]
    assert (entry["agent"], entry["capability"]) == ("Focus", "focus.draw")


async def test_a_restart_leaves_what_was_begun_unknown() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, **with_focus()) as rig:
        install(rig)
        screen, _ = await opened(rig)
        acting = await screen.act("focus.draw").settle()
        await acting.hang_up()
    async with running(store, clock, **with_focus()) as rig:
        install(rig)
        assert (await only_call(rig)).state is CallState.UNKNOWN
