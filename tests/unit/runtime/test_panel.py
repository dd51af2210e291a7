"""Standard components on a page: shown, kept over a reload, answered once, and told to the agent that asked (seed 000)."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from capabilities.builtin.standard import STANDARD
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import GatewayError
from gateway.domain.panel_items import LIVE_MAX
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.canvas import BOARD, a_grant, call, done, events, install, opening, refused, with_surfaces
from tests.unit.runtime.rig import Document, Rig, configuration, running

pytestmark = pytest.mark.anyio

CHOICE: dict[str, Any] = {
    "instance_id": "q1",
    "question": "Which?",
    "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}],
}
SAMPLES: dict[str, dict[str, Any]] = {
    "text": {"text": "Hello"},
    "markdown": {"markdown": "**Hello**"},
    "status": {"label": "Build", "state": "running"},
    "progress": {"label": "Build", "value": 1, "max": 4},
    "error": {"message": "It broke."},
    "choice": {name: value for name, value in CHOICE.items() if name != "instance_id"},
    "confirm": {"question": "Go on?"},
    "input": {"question": "Name?"},
}


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_surfaces()) as made:
        yield made


async def asked(rig: Rig, what: str = "choice", **changes: Any) -> tuple[Document, AgentSession]:
    """A page that shows a question of a session."""
    page, session = await rig.page(), await a_grant(rig)
    await done(rig, session, what, {"instance_id": "q1", **SAMPLES[what], **changes})
    return page, session


def told(page: Document, op: str) -> list[dict[str, Any]]:
    return [frame for frame in page.connection.of("panel") if frame["op"] == op]


def item_of(page: Document) -> str:
    name: str = told(page, "show")[-1]["item"]
    return name


async def answer(rig: Rig, page: Document, given: dict[str, Any], item: str | None = None) -> None:
    await rig.services.panel.answered(page.live, item or item_of(page), given)
    await rig.settle()


async def refused_answer(rig: Rig, page: Document, given: dict[str, Any], item: str | None = None) -> str:
    with pytest.raises(GatewayError) as found:
        await answer(rig, page, given, item)
    return found.value.code.wire


@pytest.mark.parametrize("what", SAMPLES)
async def test_every_component_is_shown_by_a_name_of_ours_with_who_shows_it(rig: Rig, what: str) -> None:
    page, session = await asked(rig, what)
    frame = told(page, "show")[0]
    assert frame["item"].startswith("item_")
    assert frame == {
        "type": "panel",
        "op": "show",
        "item": frame["item"],
        "kind": what,
        "agent": "Alice",
        "app": "",
        "content": SAMPLES[what],
    }
    assert [r["kind"] for r in await rig.records("item.shown", session=session.id)] == [what]


def test_there_is_a_sample_of_every_component() -> None:
    assert {f"ui.{what}" for what in SAMPLES} == set(STANDARD)


# -- answers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "given"),
    [("choice", {"values": ["b"]}), ("confirm", {"confirmed": True}), ("input", {"value": "Ada"})],
)
async def test_an_answer_is_told_to_who_asked_and_taken_away(rig: Rig, what: str, given: dict[str, Any]) -> None:
    page, session = await asked(rig, what)
    other = await a_grant(rig, "bob")
    await answer(rig, page, given)
    found = (await events(rig, session))["events"]
    assert [(e["event"], e["data"], e["instance_id"]) for e in found] == [("answer", given, "q1")]
    assert (await events(rig, other))["events"] == []
    assert [(f["item"], f["reason"]) for f in told(page, "close")] == [(item_of(page), "answered")]
    assert await rig.stream_of("item.answered", session=session.id) == {"ui_action"}


async def test_an_agent_that_waits_hears_at_once(rig: Rig) -> None:
    page, session = await asked(rig)
    outcome, _ = await rig.submit(session, "ui.events", {"cursor": 0, "wait_ms": 25_000})
    await answer(rig, page, {"values": ["a"]})
    found = await rig.store.run(lambda tx: tx.calls.result_of(outcome.call.ref))
    assert found is not None
    assert json.loads(found.output)["events"][0]["data"] == {"values": ["a"]}


async def test_the_second_answer_is_refused_and_nobody_hears_of_it(rig: Rig) -> None:
    page, session = await asked(rig)
    await answer(rig, page, {"values": ["a"]})
    assert await refused_answer(rig, page, {"values": ["b"]}) == "replay_detected"
    assert len((await events(rig, session))["events"]) == 1


async def test_what_is_no_answer_is_refused_and_the_question_stands(rig: Rig) -> None:
    page, session = await asked(rig)
    assert await refused_answer(rig, page, {"values": ["z"]}) == "arguments_invalid"
    assert (await events(rig, session))["events"] == []
    await answer(rig, page, {"values": ["a"]})
    assert len((await events(rig, session))["events"]) == 1


async def test_what_asks_nothing_is_not_answered(rig: Rig) -> None:
    page, _ = await asked(rig, "text")
    assert await refused_answer(rig, page, {"value": "x"}) == "arguments_invalid"


async def test_another_page_answers_nothing(rig: Rig) -> None:
    page, session = await asked(rig)
    for other in (await rig.page(), await rig.page(user="eve")):
        assert await refused_answer(rig, other, {"values": ["a"]}, item_of(page)) == "bad_request"
        with pytest.raises(GatewayError):
            await rig.services.panel.dismissed(other.live, item_of(page))
    assert (await events(rig, session))["events"] == []


async def test_nobody_hears_after_the_session_ended(rig: Rig) -> None:
    page, session = await asked(rig)
    item = item_of(page)
    await rig.services.admin.revoke_session(session.id, by="test")
    await rig.settle()
    assert [f["reason"] for f in told(page, "close")] == ["session_ended"]
    assert await refused_answer(rig, page, {"values": ["a"]}, item) == "replay_detected"


async def test_an_answer_does_not_overflow_what_waits_for_the_agent() -> None:
    async with running(**with_surfaces(surface_events_bytes=8)) as rig:
        page, _ = await asked(rig)
        assert await refused_answer(rig, page, {"values": ["a"]}) == "busy"
        assert told(page, "close") == []


# -- what stays and what goes ------------------------------------------------------------------------------------


async def test_a_reload_shows_it_again_and_what_was_answered_never(rig: Rig) -> None:
    page, session = await asked(rig)
    await done(rig, session, "confirm", {"instance_id": "q2", "question": "Go on?"})
    await answer(rig, page, {"confirmed": True})
    again = await rig.page(resume=page, reload=True)
    assert [frame["kind"] for frame in told(again, "show")] == ["choice"]
    await answer(rig, again, {"values": ["a"]})
    assert told(await rig.page(resume=again, reload=True), "show") == []


async def test_it_moves_to_another_page_of_its_person_once_its_own_is_gone(rig: Rig) -> None:
    page, session = await asked(rig)
    assert told(await rig.page(), "show") == []
    page.drop()
    await rig.after(60_000)
    assert told(await rig.page(user="eve"), "show") == []
    other = await rig.page()
    await answer(rig, other, {"values": ["b"]})
    assert (await events(rig, session))["events"][0]["data"] == {"values": ["b"]}


async def test_it_outlives_a_restart() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, **with_surfaces()) as rig:
        page, session = await asked(rig)
        gone = await a_grant(rig, "bob")
        await done(rig, gone, "text", {"instance_id": "t", "text": "x"})
        await store.run(lambda tx: tx.sessions.save(replace(gone, revoked_at=clock.now())))
    async with running(store, clock, **with_surfaces()) as again:
        await again.services.panel.restore()
        other = await again.page(resume=page, reload=True)
        assert [frame["kind"] for frame in told(other, "show")] == ["choice"]
        await answer(again, other, {"values": ["b"]})
        assert (await events(again, session))["events"][0]["data"] == {"values": ["b"]}


async def test_a_person_who_closes_it_is_heard_once(rig: Rig) -> None:
    page, session = await asked(rig)
    for _ in range(2):
        await rig.services.panel.dismissed(page.live, item_of(page))
        await rig.settle()
    found = (await events(rig, session))["events"]
    assert [(e["event"], e["data"]) for e in found] == [("close", {"reason": "person"})]
    assert await refused_answer(rig, page, {"values": ["a"]}) == "replay_detected"


async def test_the_same_name_replaces_without_a_word(rig: Rig) -> None:
    page, session = await asked(rig)
    first = item_of(page)
    again = await done(rig, session, "text", {"instance_id": "q1", "text": "Never mind."})
    assert again == {"instance_id": "q1", "replaced": True}
    assert [f["item"] for f in told(page, "close")] == [first]
    assert await refused_answer(rig, page, {"values": ["a"]}, first) == "replay_detected"
    assert (await events(rig, session))["events"] == []


async def test_its_agent_closes_it_as_it_closes_a_surface(rig: Rig) -> None:
    page, session = await asked(rig)
    assert await done(rig, session, "surface_close", {"instance_id": "q1"}) == {"closed": True}
    assert await done(rig, session, "surface_close", {"instance_id": "q1"}) == {"closed": False}
    assert told(page, "close")[0]["reason"] == "agent"
    assert (await events(rig, session))["events"] == []


async def test_a_surface_and_a_component_do_not_share_a_name(rig: Rig) -> None:
    install(rig)
    await rig.page()
    session = await a_grant(rig)
    await done(rig, session, "surface_open", opening())
    assert await refused(rig, session, "text", {"instance_id": BOARD, "text": "x"}) == "arguments_invalid"
    await done(rig, session, "text", {"instance_id": "t", "text": "x"})
    assert await refused(rig, session, "surface_open", opening(instance_id="t")) == "arguments_invalid"


async def test_so_many_are_shown_in_a_conversation(rig: Rig) -> None:
    await rig.page()
    session = await a_grant(rig)
    for number in range(LIVE_MAX):
        await done(rig, session, "text", {"instance_id": f"t{number}", "text": "x"})
    assert await refused(rig, session, "text", {"instance_id": "more", "text": "x"}) == "busy"
    assert (await done(rig, session, "text", {"instance_id": "t0", "text": "y"}))["replaced"]


async def test_what_no_schema_says_is_refused_too(rig: Rig) -> None:
    page, session = await rig.page(), await a_grant(rig)
    twice = [{"value": "a", "label": "A"}, {"value": "a", "label": "B"}]
    outcome = await call(rig, session, "choice", {**CHOICE, "options": twice})
    assert outcome.call.code is not None
    assert outcome.call.code.wire == "arguments_invalid"
    assert await rig.records("call.ended", ref=outcome.call.ref, code="arguments_invalid") != []
    assert told(page, "show") == []


async def test_a_site_that_exposes_them_no_more_shows_them_no_more(rig: Rig) -> None:
    page, session = await asked(rig)
    changed = configuration(**with_surfaces("ui.events", "ui.text"), revision="policy-000000000001")
    rig.services.live.configure(changed, {})
    await rig.settle()
    assert [f["reason"] for f in told(page, "close")] == ["not_exposed"]
    assert (await events(rig, session))["events"][0]["data"] == {"reason": "not_exposed"}


async def test_where_the_site_exposes_none_no_agent_knows_them() -> None:
    async with running(**with_surfaces("ui.events")) as rig:
        await rig.page()
        with pytest.raises(GatewayError) as found:
            await call(rig, await a_grant(rig), "choice", CHOICE)
        assert found.value.code.wire == "unknown_capability"


async def test_a_page_that_shows_nothing_is_asked_nothing(rig: Rig) -> None:
    await rig.page(has_workspace=False)
    with pytest.raises(GatewayError):
        await call(rig, await a_grant(rig), "choice", CHOICE)


async def test_a_yes_approves_no_call(rig: Rig) -> None:
    """`ui.confirm` is a question; approvals are asked, bound and used by other means."""
    page, session = await asked(rig, "confirm")
    await answer(rig, page, {"confirmed": True})
    assert await rig.records("approval.opened") == []
    assert await rig.records("approval.decided") == []
    assert (await events(rig, session))["events"][0]["event"] == "answer"
