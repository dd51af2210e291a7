"""What people do in surfaces, and how their agents hear of it: in order, at once or waiting, and none lost (rules G2)."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.domain.errors import GatewayError
from gateway.runtime.attendance import Waiter
from gateway.runtime.recovery import recover
from gateway.runtime.requests import Outcome
from gateway.runtime.workspaces import Happened
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.canvas import BOARD, a_grant, call, canvas, done, events, install, opening, with_surfaces
from tests.unit.runtime.focus import Screen, a_screen
from tests.unit.runtime.rig import Rig, running

pytestmark = pytest.mark.anyio

WAIT = 25_000


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_surfaces()) as made:
        install(made)
        yield made


async def shown(rig: Rig, **changes: Any) -> tuple[Screen, AgentSession]:
    """A surface on a page, and the session that opened it."""
    screen, session = await a_screen(rig), await a_grant(rig)
    await done(rig, session, "surface_open", opening(**changes))
    await screen.open()
    return screen, session


async def waiting(rig: Rig, session: AgentSession, cursor: int = 0, wait_ms: int = WAIT) -> tuple[Outcome, Waiter]:
    """An `ui.events` that found nothing."""
    outcome, waiter = await rig.submit(session, "ui.events", {"cursor": cursor, "wait_ms": wait_ms})
    assert outcome.call.state is CallState.DISPATCHED
    return outcome, waiter


async def came_to(rig: Rig, outcome: Outcome) -> Any:
    """What a call that waited came to."""
    ended = await rig.call(outcome.call.ref)
    found = await rig.store.run(lambda tx: tx.calls.result_of(ended.ref))
    assert found is not None, ended
    return json.loads(found.output)


async def state_of(rig: Rig, outcome: Outcome) -> tuple[CallState, str | None]:
    ended = await rig.call(outcome.call.ref)
    return ended.state, ended.code.wire if ended.code else None


async def refused(screen: Screen, event: str, data: dict[str, Any] | None = None) -> str:
    with pytest.raises(GatewayError) as found:
        await screen.say(Happened(event, data or {}))
    return found.value.code.wire


# -- reading ---------------------------------------------------------------------------------------------------


async def test_events_come_in_order_with_a_place_to_go_on_from(rig: Rig) -> None:
    screen, session = await shown(rig)
    now = rig.clock.now()
    for number in range(3):
        await screen.say(Happened("draw", {"n": number}))
    told = await events(rig, session)
    assert told == {
        "events": [{"event": "draw", "data": {"n": n}, "instance_id": BOARD, "at": now} for n in range(3)],
        "cursor": 3,
        "more": False,
    }
    assert screen.instance not in json.dumps(told)
    await screen.say(Happened("resize", {}))
    assert [event["event"] for event in (await events(rig, session, 3))["events"]] == ["resize"]
    assert await events(rig, session, 4) == {"events": [], "cursor": 4, "more": False}


async def test_a_read_that_names_no_cursor_forgets_nothing(rig: Rig) -> None:
    screen, session = await shown(rig)
    await screen.say(Happened("draw", {}))
    for _ in range(2):
        assert len((await done(rig, session, "events", {}))["events"]) == 1
    assert (await events(rig, session, 1))["events"] == []
    assert (await events(rig, session))["events"] == []


async def test_a_long_answer_ends_and_says_that_there_is_more(rig: Rig) -> None:
    screen, session = await shown(rig)
    for _ in range(101):
        await screen.say(Happened("draw", {}))
    told = await events(rig, session)
    assert (len(told["events"]), told["cursor"], told["more"]) == (100, 100, True)
    assert (await events(rig, session, 100))["more"] is False


async def test_a_large_answer_ends_and_says_that_there_is_more() -> None:
    async with running(**with_surfaces(surface_bytes_per_minute=1_000_000)) as rig:
        install(rig)
        screen, session = await shown(rig)
        for _ in range(20):
            await screen.say(Happened("draw", {"x": "y" * 16_000}))
        told = await events(rig, session)
        assert (len(told["events"]), told["more"]) == (16, True)


async def test_each_session_hears_of_its_own(rig: Rig) -> None:
    screen, session = await shown(rig)
    other = await a_grant(rig, "bob")
    await done(rig, other, "surface_open", opening(instance_id="other"))
    theirs = screen.instance
    await screen.say(Happened("draw", {"of": "other"}), theirs)
    assert (await events(rig, session))["events"] == []
    assert [event["instance_id"] for event in (await events(rig, other))["events"]] == ["other"]


async def test_events_are_read_without_a_page(rig: Rig) -> None:
    screen, session = await shown(rig)
    await screen.say(Happened("draw", {}))
    screen.page.drop()
    await rig.after(10_000)
    assert not rig.services.live.world.pages
    assert len((await events(rig, session))["events"]) == 1


async def test_a_site_that_does_not_expose_it_tells_nothing() -> None:
    async with running(**with_surfaces("ui.surface_open")) as rig:
        install(rig)
        screen, session = await shown(rig)
        await screen.say(Happened("draw", {}))
        with pytest.raises(GatewayError) as unknown:
            await call(rig, session, "events", {})
        assert unknown.value.code.wire == "unknown_capability"


# -- waiting ---------------------------------------------------------------------------------------------------


async def test_a_wait_ends_with_the_first_event(rig: Rig) -> None:
    screen, session = await shown(rig)
    outcome, _ = await waiting(rig, session)
    await screen.say(Happened("draw", {"x": 1}))
    assert [event["data"] for event in (await came_to(rig, outcome))["events"]] == [{"x": 1}]


async def test_every_wait_of_the_session_ends_and_no_other(rig: Rig) -> None:
    screen, session = await shown(rig)
    other = await a_grant(rig, "bob")
    first, second, theirs = [(await waiting(rig, s))[0] for s in (session, session, other)]
    await screen.say(Happened("draw", {}))
    for outcome in (first, second):
        assert len((await came_to(rig, outcome))["events"]) == 1
    assert (await state_of(rig, theirs))[0] is CallState.DISPATCHED


@pytest.mark.parametrize("wait_ms", [1, WAIT])
async def test_a_wait_ends_with_its_time_and_no_earlier(rig: Rig, wait_ms: int) -> None:
    _, session = await shown(rig)
    outcome, _ = await waiting(rig, session, wait_ms=wait_ms)
    await rig.after(wait_ms - 1)
    assert (await state_of(rig, outcome))[0] is CallState.DISPATCHED
    await rig.after(1)
    assert await came_to(rig, outcome) == {"events": [], "cursor": 0, "more": False}


async def test_a_wait_has_a_longest(rig: Rig) -> None:
    _, session = await shown(rig)
    with pytest.raises(GatewayError) as invalid:
        await call(rig, session, "events", {"wait_ms": WAIT + 1})
    assert invalid.value.code.wire == "arguments_invalid"


async def test_a_wait_does_not_wait_for_what_is_there(rig: Rig) -> None:
    screen, session = await shown(rig)
    await screen.say(Happened("draw", {}))
    assert len((await events(rig, session, wait_ms=WAIT))["events"]) == 1


async def test_a_wait_is_stopped_at_its_callers_request(rig: Rig) -> None:
    screen, session = await shown(rig)
    outcome, _ = await waiting(rig, session)
    await rig.services.calls.cancel(session, outcome.call.ref)
    await rig.settle()
    assert await state_of(rig, outcome) == (CallState.CANCELLED, "cancelled")
    await screen.say(Happened("draw", {}))
    assert len((await events(rig, session))["events"]) == 1


async def test_a_wait_that_a_restart_ended_has_lost_nothing() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[canvas()], **with_surfaces()) as rig:
        screen, session = await shown(rig)
        outcome, _ = await waiting(rig, session)
        await rig.store.run(
            lambda tx: tx.surfaces.add_event(
                session.id, surface=screen.instance, instance=BOARD, event="draw", data="{}", at=clock.now()
            )
        )
        rig.services.surface_waits.close()
        assert await recover(store, clock.now(), grace_ms=10_000, revision="r") == 0
        assert await state_of(rig, outcome) == (CallState.FAILED, "not_delivered")
        assert len((await events(rig, session))["events"]) == 1


async def test_a_wait_nobody_woke_is_given_up_with_its_call(rig: Rig) -> None:
    _, session = await shown(rig)
    outcome, _ = await waiting(rig, session)
    rig.services.surface_waits.close()
    await rig.after(30_000)
    assert await state_of(rig, outcome) == (CallState.FAILED, "not_delivered")


async def test_an_ended_session_hears_nothing_more(rig: Rig) -> None:
    screen, session = await shown(rig)
    await screen.say(Happened("draw", {}))
    await rig.services.identity.revoke_session(session.id, by="test")
    with pytest.raises(GatewayError) as revoked:
        await call(rig, session, "events", {})
    assert revoked.value.code.wire == "session_revoked"


# -- what is taken ---------------------------------------------------------------------------------------------


async def test_only_declared_events_pass(rig: Rig) -> None:
    screen, session = await shown(rig)
    for event in ("snapshot", "close", "Draw"):
        assert await refused(screen, event) == "bad_request"
    assert (await events(rig, session))["events"] == []


async def test_a_closed_surface_says_nothing(rig: Rig) -> None:
    screen, session = await shown(rig)
    await done(rig, session, "surface_close", {"instance_id": BOARD})
    assert await refused(screen, "draw") == "bad_request"


async def test_so_many_are_taken_in_a_minute() -> None:
    async with running(**with_surfaces(surface_events_per_minute=3)) as rig:
        install(rig)
        screen, session = await shown(rig)
        for _ in range(3):
            await screen.say(Happened("draw", {}))
        assert await refused(screen, "draw") == "rate_limited"
        await rig.after(60_000)
        await screen.say(Happened("draw", {}))
        assert len((await events(rig, session))["events"]) == 4


async def test_so_many_bytes_are_taken_in_a_minute() -> None:
    async with running(**with_surfaces(surface_bytes_per_minute=16_384)) as rig:
        install(rig)
        screen, _ = await shown(rig)
        half = {"x": "y" * (8_192 - len('{"x":""}'))}
        for _ in range(2):
            await screen.say(Happened("draw", half))
        assert await refused(screen, "draw") == "rate_limited"


async def test_so_many_bytes_wait_for_one_session_and_its_close_comes_through() -> None:
    async with running(**with_surfaces(surface_events_bytes=16_384)) as rig:
        install(rig)
        screen, session = await shown(rig)
        half = {"x": "y" * (8_192 - len('{"x":""}'))}
        for _ in range(2):
            await screen.say(Happened("draw", half))
        assert await refused(screen, "draw") == "busy"
        told = await events(rig, session)
        await events(rig, session, told["cursor"])
        await screen.say(Happened("draw", half))
        await screen.say(Happened("draw", half))
        install(rig, canvas(is_enabled=False))
        await rig.settle()
        assert [event["event"] for event in (await events(rig, session, 2))["events"]] == ["draw", "draw", "close"]


async def test_they_are_kept_for_a_day() -> None:
    async with running(**with_surfaces(surface_events_ms=3_600_000)) as rig:
        install(rig)
        screen, session = await shown(rig)
        await screen.say(Happened("draw", {}))
        await rig.after(3_600_000)
        assert len((await events(rig, session))["events"]) == 1
        await rig.after(60_000)
        assert (await events(rig, session))["events"] == []


async def test_what_is_told_to_a_conversation_is_not_kept_for_anybody_else() -> None:
    async with running(**with_surfaces(surface_events_bytes=16_384)) as rig:
        install(rig)
        screen, session = await shown(rig, tell="conversation")
        for _ in range(5):
            await screen.say(Happened("draw", {"x": "y" * 10_000}))
        assert (await events(rig, session))["events"] == []
