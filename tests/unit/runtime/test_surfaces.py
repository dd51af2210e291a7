"""Surfaces that agents show: opened, changed, closed, and gone for other reasons (rules G1, G3)."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.domain.conversations import EventTold, Talk
from gateway.domain.errors import GatewayError
from gateway.domain.instances import PAGE_GONE_MS
from gateway.domain.intents import HostIntent
from gateway.domain.surfaces import SurfaceState, is_surface
from gateway.runtime.settlement import Answer
from gateway.runtime.workspaces import Answered, Failed, Foregrounded, Happened, Opened, Place, Refused
from gateway.testing import FakeClock, MemoryStore
from policy.model import Floor
from policy.vocabulary import Effect
from tests.unit.runtime.canvas import (
    APP,
    BOARD,
    CANVAS,
    a_grant,
    call,
    canvas,
    done,
    events,
    install,
    opening,
    refused,
    surface,
    with_surfaces,
)
from tests.unit.runtime.focus import Screen, a_screen, focus, with_focus
from tests.unit.runtime.rig import Rig, configuration, running, site

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_surfaces()) as made:
        install(made)
        yield made


# -- opening ---------------------------------------------------------------------------------------------------


async def test_a_surface_is_shown_on_the_page_by_a_name_of_ours(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    assert await done(rig, session, "surface_open", opening()) == {"instance_id": BOARD, "replaced": False}
    frame = screen.told("open")[-1]
    assert is_surface(frame["instance"])
    assert BOARD not in str(frame)
    assert frame == {
        "type": "app",
        "op": "open",
        "instance": frame["instance"],
        "app": APP,
        "version": "1.0.0",
        "title": "Canvas",
        "surface": "canvas",
        "sandbox": "/sandbox/v1/frame/todo",
        "bundle": f"/sandbox/v1/apps/{'d' * 64}/canvas",
        "integrity": "sha256-a",
        "events": ["draw", "resize"],
        "handlers": False,
        "profile": "strict",
        "state": {"n": 1},
        "revision": 0,
        "data": {},
    }
    found = await surface(rig, session)
    assert found is not None
    assert (found.id, found.session, found.site, found.page) == (
        frame["instance"],
        session.id,
        "todo",
        screen.page.id,
    )
    assert await rig.records("surface.opened", surface=found.id, instance=BOARD, agent="alice", user="ann")


async def test_a_call_that_is_done_at_once_is_told_once(rig: Rig) -> None:
    await a_screen(rig)
    told: list[str] = []
    rig.services.calls.on_change(lambda call: told.append(call.ref))
    outcome = await call(rig, await a_grant(rig), "surface_open", opening())
    assert told == [outcome.call.ref]


async def test_it_is_offered_to_the_front_once_it_is_there(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    assert not screen.told("foreground")
    await screen.open()
    [asked] = screen.told("foreground")
    assert (asked["instance"], asked["agent"], asked["remaining"]) == (screen.instance, "Alice", 60_000)
    found = await surface(rig, session)
    assert found is not None
    assert found.state is SurfaceState.OPEN
    for news in (Refused(), Foregrounded(), Opened()):
        await screen.say(news)
    assert len(screen.told("foreground")) == 1


async def test_the_agents_title_stands_after_the_name_of_the_app(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening(title="Plan\u202e of\nthe  house"))
    assert screen.told("open")[-1]["title"] == "Canvas: Plan of the house"


async def test_another_surface_of_the_app_may_be_named(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening(surface="legend"))
    assert (screen.told("open")[-1]["surface"], screen.told("open")[-1]["integrity"]) == ("legend", "sha256-b")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"app": "dev.example.other"}, "app `dev.example.other` is not known here"),
        ({"version": "1.0.1"}, "app `dev.example.canvas` is here in version `1.0.0`"),
        ({"surface": "sketch"}, "app `dev.example.canvas` has no surface `sketch`"),
    ],
)
async def test_what_is_not_there_is_not_shown(rig: Rig, changes: dict[str, str], message: str) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    outcome = await call(rig, session, "surface_open", opening(**changes))
    assert outcome.call.code is not None
    assert (outcome.call.state, outcome.call.code.wire) == (CallState.FAILED, "unsupported")
    assert outcome.call.message == message
    assert not screen.told("open")
    assert await rig.records("call.ended", ref=outcome.call.ref, code="unsupported")


async def test_a_disabled_app_is_revoked_to_who_had_it_and_unknown_to_others(rig: Rig) -> None:
    await a_screen(rig)
    had, never = await a_grant(rig), await a_grant(rig, "bob")
    await done(rig, had, "surface_open", opening())
    install(rig, canvas(is_enabled=False))
    await rig.settle()
    assert await refused(rig, had, "surface_open", opening()) == "revoked"
    assert await refused(rig, never, "surface_open", opening()) == "unsupported"


@pytest.mark.parametrize(
    "more", [{"html": "<b>"}, {"bundle": {}}, {"state": []}, {"instance_id": "a b"}, {"app": {}}]
)
async def test_other_arguments_are_refused(rig: Rig, more: dict[str, object]) -> None:
    await a_screen(rig)
    session = await a_grant(rig)
    with pytest.raises(GatewayError) as invalid:
        await call(rig, session, "surface_open", opening(**more))
    assert invalid.value.code.wire == "arguments_invalid"


async def test_the_same_name_closes_the_old_one_without_a_word_and_opens_the_new(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    first = screen.instance
    await screen.open()
    assert await done(rig, session, "surface_open", opening(state={"n": 2})) == {
        "instance_id": BOARD,
        "replaced": True,
    }
    assert [frame["op"] for frame in screen.page.connection.of("app")][-2:] == ["close", "open"]
    assert screen.told("close")[-1]["instance"] == first != screen.instance
    assert (await events(rig, session))["events"] == []
    with pytest.raises(GatewayError):
        await screen.say(Happened("draw", {}), first)


async def test_a_version_is_one_package(rig: Rig) -> None:
    await a_screen(rig)
    session = await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    install(rig, canvas(digest="e" * 64))
    await rig.settle()
    assert await refused(rig, session, "surface_open", opening(instance_id="other")) == "unsupported"
    install(rig, canvas(digest="e" * 64, version="1.0.1"))
    await done(rig, session, "surface_open", opening(instance_id="other", version="1.0.1"))


@pytest.mark.parametrize("most", [2])
async def test_a_conversation_has_so_many(most: int) -> None:
    async with running(**with_surfaces(surfaces_per_conversation=most)) as rig:
        install(rig)
        await a_screen(rig)
        session = await a_grant(rig)
        for number in range(most):
            await done(rig, session, "surface_open", opening(instance_id=f"b{number}"))
        assert await refused(rig, session, "surface_open", opening(instance_id="b9")) == "busy"
        await done(rig, session, "surface_open", opening(instance_id="b0"))
        await done(rig, session, "surface_close", {"instance_id": "b1"})
        await done(rig, session, "surface_open", opening(instance_id="b9"))
        await done(rig, await a_grant(rig), "surface_open", opening(instance_id="b9"))


async def test_a_repeated_call_opens_nothing_again(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    for _ in range(2):
        await done(rig, session, "surface_open", opening(), call_id="open-0001")
    assert len(screen.told("open")) == 1


# -- who may ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exposed", [("todo.*",), ("ui.surface_patch", "ui.events")])
async def test_a_site_that_does_not_expose_it_shows_none(exposed: tuple[str, ...]) -> None:
    async with running(**with_surfaces(*exposed)) as rig:
        install(rig)
        screen, session = await a_screen(rig), await a_grant(rig)
        with pytest.raises(GatewayError) as unknown:
            await call(rig, session, "surface_open", opening())
        assert unknown.value.code.wire == "unknown_capability"
        assert not screen.told("open")
        assert await rig.records("call.refused", capability="ui.surface_open", code="unknown_capability")


async def test_without_scope_a_ticket_or_a_workspace_there_is_none(rig: Rig) -> None:
    page = await rig.page()
    with pytest.raises(GatewayError):
        await call(rig, await rig.grant(scope=["todo.*"]), "surface_open", opening())
    live = page.live
    rig.services.live.put_page(replace(live, session=replace(live.session, capabilities=("todo.*",))))
    with pytest.raises(GatewayError):
        await call(rig, await a_grant(rig), "surface_open", opening())
    rig.services.live.put_page(replace(live, has_workspace=False))
    with pytest.raises(GatewayError):
        await call(rig, await a_grant(rig), "surface_open", opening())
    rig.services.live.put_page(live)
    await done(rig, await a_grant(rig), "surface_open", opening())


async def test_a_floor_of_the_site_makes_it_ask() -> None:
    floor = (Floor(pattern="ui.surface_open", effect=Effect.WRITE),)
    async with running(**with_surfaces(sites={"todo": site(expose=floor), "shop": site("shop")})) as rig:
        install(rig)
        screen, session = await a_screen(rig), await a_grant(rig)
        outcome = await call(rig, session, "surface_open", opening())
        assert outcome.call.state is CallState.AWAITING_APPROVAL
        assert not screen.told("open")
        await screen.page.decide()
        assert screen.told("open")


async def test_no_frame_of_a_mini_app_opens_surfaces() -> None:
    exposing = site(expose=tuple(Floor(pattern=pattern) for pattern in ("focus.*", "ui.*")))
    async with running(**with_focus(sites={"todo": exposing, "shop": site("shop")})) as rig:
        install(rig, canvas(), focus())
        screen, session = await a_screen(rig), await rig.grant(scope=["focus.*"])
        await rig.submit(session, "focus.draw", {})
        await screen.open()
        for name in ("surface_open", "surface_patch", "surface_close", "events"):
            assert await screen.act(f"ui.{name}", opening(), name=name).refusal() == "unknown_capability"


async def test_a_surface_asks_for_nothing_and_runs_nothing(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    await screen.open()
    assert await screen.act("ui.surface_open", opening()).refusal() == "bad_request"
    assert await rig.stream_of("call.refused", instance=screen.instance) == {"ui_action"}
    with pytest.raises(GatewayError):
        await screen.say(Answered("call_nobodys", Answer(output="{}")))
    place = Place(page=screen.page.live, instance=screen.instance)
    with pytest.raises(GatewayError):
        await rig.services.workspaces.keep(place, 0, {})


async def test_another_conversation_has_names_of_its_own(rig: Rig) -> None:
    screen = await a_screen(rig)
    one, other = await a_grant(rig), await a_grant(rig)
    for session in (one, other):
        await done(rig, session, "surface_open", opening(state={"of": session.id}))
    assert len({frame["instance"] for frame in screen.told("open")}) == 2
    third = await a_grant(rig, "bob")
    assert await refused(rig, third, "surface_patch", {"instance_id": BOARD, "state": {}}) == "arguments_invalid"
    assert await done(rig, third, "surface_close", {"instance_id": BOARD}) == {"closed": False}
    assert await surface(rig, one)
    assert await surface(rig, other)


async def test_another_page_says_nothing_of_it(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    elsewhere = Screen(await rig.page(user="bea"))
    for news in (Opened(), Happened("draw", {}), Failed("removed", "")):
        with pytest.raises(GatewayError) as unknown:
            await elsewhere.say(news, screen.instance)
        assert unknown.value.code.wire == "bad_request"
    with pytest.raises(GatewayError):
        await elsewhere.intend(HostIntent.CLOSED, screen.instance)
    assert await rig.stream_of("intent.refused", instance=screen.instance, user="bea") == {"host_intent"}
    assert await surface(rig, session)


# -- changing and closing --------------------------------------------------------------------------------------


async def test_the_state_is_replaced_whole(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening(state={"a": 1, "b": 2}))
    assert await done(rig, session, "surface_patch", {"instance_id": BOARD, "state": {"b": 3}}) == {
        "instance_id": BOARD
    }
    assert screen.told("state")[-1] == {
        "type": "app",
        "op": "state",
        "instance": screen.instance,
        "state": {"b": 3},
    }


@pytest.mark.parametrize("more", [{"html": "x"}, {"app": APP}, {"js": ""}, {"title": "t"}])
async def test_nothing_but_the_state_is_patched(rig: Rig, more: dict[str, str]) -> None:
    await a_screen(rig)
    session = await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    with pytest.raises(GatewayError) as invalid:
        await call(rig, session, "surface_patch", {"instance_id": BOARD, "state": {}, **more})
    assert invalid.value.code.wire == "arguments_invalid"


async def test_a_page_that_comes_back_shows_what_it_is_to_show_now(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    await screen.open()
    screen.page.drop()
    await done(rig, session, "surface_patch", {"instance_id": BOARD, "state": {"n": 9}})
    back = Screen(await rig.page(resume=screen.page, reload=True))
    frame = back.told("open")[-1]
    assert (frame["instance"], frame["state"]) == (screen.instance, {"n": 9})
    await back.open()
    assert not back.told("foreground")


async def test_an_agent_closes_without_an_event(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    closing = {"instance_id": BOARD, "reason": "completed"}
    assert await done(rig, session, "surface_close", closing) == {"closed": True}
    assert await done(rig, session, "surface_close", closing) == {"closed": False}
    assert screen.told("close")[-1] == {
        "type": "app",
        "op": "close",
        "instance": screen.instance,
        "reason": "completed",
    }
    assert (await events(rig, session))["events"] == []
    assert await rig.records("surface.closed", surface=screen.instance, reason="completed")


async def test_what_one_site_lets_do_is_done_on_that_site_only() -> None:
    sites = {
        "todo": site(expose=(Floor(pattern="ui.surface_open"),)),
        "shop": site("shop", expose=(Floor(pattern="ui.*"),)),
    }
    async with running(sites=sites) as rig:
        install(rig)
        screen = await a_screen(rig)
        session = await a_grant(rig, sites=["todo", "shop"])
        await done(rig, session, "surface_open", opening())
        assert (
            await refused(rig, session, "surface_patch", {"instance_id": BOARD, "state": {}}) == "arguments_invalid"
        )
        assert await done(rig, session, "surface_close", {"instance_id": BOARD}) == {"closed": False}
        assert not screen.told("close")


# -- gone for other reasons ------------------------------------------------------------------------------------


async def gone(rig: Rig, screen: Screen, session: AgentSession, reason: str) -> None:
    """It is closed, and its agent hears why."""
    assert await surface(rig, session) is None
    [event] = (await events(rig, session))["events"]  # type: ignore[arg-type]
    assert (event["event"], event["instance_id"], event["data"]) == ("close", BOARD, {"reason": reason})
    assert await rig.records("surface.closed", surface=screen.instance, reason=reason)


async def test_the_person_closes_it(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    await screen.open()
    for intent in (HostIntent.LEFT_WORKSPACE, HostIntent.BACKGROUNDED, HostIntent.CLOSED):
        await screen.intend(intent)
    await gone(rig, screen, session, "person")
    assert await rig.stream_of("intent.reported", surface=screen.instance, intent="closed") == {"host_intent"}


async def test_a_frame_that_fails_takes_it_away(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    await screen.say(Failed("too_many", "8 mini apps are open on this page"))
    await gone(rig, screen, session, "too_many")


async def test_a_page_that_stays_away_takes_it_away(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    screen.page.drop()
    grace = rig.services.live.world.configuration.limits.page_grace_ms
    await rig.after(grace)
    await rig.after(PAGE_GONE_MS - grace - 1)
    assert await surface(rig, session)
    await rig.after(1)
    await gone(rig, screen, session, "page_gone")


@pytest.mark.parametrize("change", [{"is_enabled": False}, {"digest": "e" * 64}, {"fault": "broken"}])
async def test_an_app_that_is_withdrawn_takes_it_away(rig: Rig, change: dict[str, object]) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    install(rig, canvas(**change))
    await rig.settle()
    assert screen.told("close")
    await gone(rig, screen, session, "app_withdrawn")


async def test_a_site_that_exposes_it_no_more_takes_it_away(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    narrower = configuration(**with_surfaces("ui.events"))
    await rig.services.reconfiguration.apply(narrower)
    await rig.settle()
    await gone(rig, screen, session, "not_exposed")


async def test_an_equal_configuration_keeps_it(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    await rig.services.reconfiguration.apply(configuration(**with_surfaces()))
    await rig.settle()
    assert await surface(rig, session)
    assert not screen.told("close")


async def test_the_end_of_the_grant_takes_it_away_with_all_that_was_kept(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    await screen.open()
    await screen.say(Happened("draw", {}))
    await rig.services.identity.revoke_session(session.id, by="test")
    await rig.settle()
    assert screen.told("close")[-1]["reason"] == "session_ended"
    assert await surface(rig, session) is None
    assert await rig.store.run(lambda tx: tx.surfaces.events(session.id, after=0, limit=9)) == []
    assert await rig.store.run(lambda tx: tx.surfaces.listeners()) == []


# -- restarts --------------------------------------------------------------------------------------------------


async def test_a_restart_keeps_it_for_its_page() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[canvas()], **with_surfaces()) as rig:
        screen, session = await a_screen(rig), await a_grant(rig)
        await done(rig, session, "surface_open", opening())
        await screen.open()
        await screen.say(Happened("draw", {"x": 1}))
    async with running(store, clock, offered=[canvas()], **with_surfaces()) as rig:
        back = Screen(await rig.page(resume=screen.page, reload=True))
        assert back.instance == screen.instance
        [event] = (await events(rig, session))["events"]
        assert event["data"] == {"x": 1}
        await rig.after(PAGE_GONE_MS)
        assert await surface(rig, session)


async def test_after_a_restart_a_page_that_stays_away_takes_it_away() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[canvas()], **with_surfaces()) as rig:
        screen, session = await a_screen(rig), await a_grant(rig)
        await done(rig, session, "surface_open", opening())
    async with running(store, clock, offered=[canvas()], **with_surfaces()) as rig:
        await rig.after(PAGE_GONE_MS)
        await gone(rig, screen, session, "page_gone")


async def test_what_ended_while_nothing_ran_is_gone_at_the_start() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[canvas()], **with_surfaces()) as rig:
        screen, session = await a_screen(rig), await a_grant(rig)
        await done(rig, session, "surface_open", opening())
        await screen.say(Happened("draw", {}))
    clock.advance(session.expires_at - clock.now())
    async with running(store, clock, **with_surfaces()) as rig:
        assert await surface(rig, session) is None
        assert await rig.store.run(lambda tx: tx.surfaces.listeners()) == []


# -- told to a conversation ------------------------------------------------------------------------------------


async def test_events_go_to_the_conversation_where_the_agent_says_so(rig: Rig) -> None:
    screen, session = await a_screen(rig), await a_grant(rig)
    rings: list[int] = []
    rig.services.conversations.listen(session, lambda: rings.append(1))
    await done(rig, session, "surface_open", opening(tell="conversation"))
    before = len(rings)
    await screen.say(Happened("draw", {"x": 1}))
    await screen.intend(HostIntent.CLOSED)
    told = await rig.store.run(lambda tx: tx.conversations.read(Talk.of(session), after=0, limit=9))
    assert [message.body for message in told if isinstance(message, EventTold)] == [
        f'{{"data":{{"x":1}},"event":"draw","instance_id":"{BOARD}"}}',
        f'{{"data":{{"reason":"person"}},"event":"close","instance_id":"{BOARD}"}}',
    ]
    assert len(rings) >= before + 2
    assert (await events(rig, session))["events"] == []


assert CANVAS.has_handlers, "else nothing would show that a surface has none"
