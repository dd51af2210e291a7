"""Actions that people take in documents: what may be asked for, with which arguments, how often, and who hears of it."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from gateway.domain.calls import CallState, Entry
from gateway.domain.configuration import Documents, InvokeTarget
from gateway.runtime import document_records
from gateway.testing import FakeClock, MemoryStore
from policy.model import Rule
from policy.vocabulary import Risk, Verdict
from tests.unit.runtime.canvas import a_grant, done, events
from tests.unit.runtime.papers import INVOKE, Press, a_page, intelligent, told, with_documents
from tests.unit.runtime.rig import ADD, Document, Rig, configuration, running

pytestmark = pytest.mark.anyio


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_documents()) as made:
        yield made


async def a_press(rig: Rig, page: Document | None = None, **changes: Any) -> Press:
    """A document that is shown, and a finger on its button."""
    page = page or await a_page(rig)
    session = await a_grant(rig)
    answer = await done(rig, session, "intelligent_ui", {"document": intelligent()})
    return Press(rig, page, session, answer["documentRef"]).named(**changes)


async def only_call(rig: Rig) -> Any:
    calls = await rig.store.run(lambda tx: tx.calls.recent(limit=10, user="ann"))
    [call] = [call for call in calls if call.entry is Entry.UI_ACTION]
    return call


# -- asking ----------------------------------------------------------------------------------------------------


async def test_a_write_asks_and_runs_with_arguments_computed_from_the_kept_document(rig: Rig) -> None:
    page = await a_page(rig)
    task = await (await a_press(rig, page, values={"title": "bread"})).begin()
    [asked] = page.connection.of("approve_request")
    payload = json.loads(asked["payload"])
    assert (payload["input"], payload["capability"]) == ('{"title":"bread"}', "todo.add")
    assert (payload["summary"]["agent"], payload["summary"]["document"]) == ("Alice", True)
    await page.decide()
    await page.answer(page.invoked[-1], {"id": "t1", "done": False, "secret": "x", "list": [1]})
    assert await task == {"id": "t1", "done": False}
    call = await only_call(rig)
    assert (call.entry, call.agent, call.user, call.session) == (Entry.UI_ACTION, "", "ann", "")
    assert await rig.stream_of("call.ended", ref=call.ref) == {"ui_action"}


async def test_a_write_asks_whatever_the_rules_permit() -> None:
    permit = Rule(id="all", agents=("*",), capabilities=("todo.*",), verdict=Verdict.PERMIT)
    async with running(**with_documents(rules=(permit,))) as rig:
        page = await a_page(rig)
        for name in ("request-1", "request-2"):
            task = await (await a_press(rig, page, request=name)).begin()
            assert len(page.connection.of("approve_request")) == int(name[-1])
            await page.decide()
            await page.answer(page.invoked[-1], {})
            await task


async def test_a_read_runs_at_once_and_the_table_may_want_more() -> None:
    async with running(**with_documents()) as rig:
        page = await a_page(rig)
        task = await (await a_press(rig, page, action="count", values={"n": 5})).begin()
        assert json.loads(page.connection.of("invoke")[-1]["input"]) == {"least": 5}
        await page.answer(page.invoked[-1], {"count": 3})
        assert await task == {"count": 3}
    risky = {**INVOKE, "todo.count": InvokeTarget(target="todo.count", risk=Risk.USER_CONFIRMATION)}
    async with running(**with_documents(documents=Documents(invoke=risky))) as rig:
        page = await a_page(rig)
        task = await (await a_press(rig, page, action="count")).begin()
        assert len(page.connection.of("approve_request")) == 1
        await page.decide(approve=False)
        with pytest.raises(Exception, match="refused"):
            await task


async def test_a_risk_nobody_can_agree_to_is_refused() -> None:
    risky = {"todo.count": InvokeTarget(target="todo.count", risk=Risk.RESTRICTED)}
    async with running(**with_documents(documents=Documents(invoke=risky))) as rig:
        error = await (await a_press(rig, action="count")).refusal()
        assert error.code.wire == "approval_unavailable"
        assert await rig.records("call.refused", code="approval_unavailable", user="ann")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"action": "lost"}, "unsupported"),
        ({"action": "nope"}, "document.unknown_action"),
        ({"action": "clear"}, "document.unknown_action"),
        ({"revision": 2}, "document.not_current"),
        ({"call": "call_" + "a" * 26}, "document.not_current"),
        ({"generation": "gen_" + "a" * 26}, "document.not_current"),
        ({"values": {"title": 7}}, "document.type_mismatch"),
        ({"values": {"other": 7}}, "document.unknown_field"),
        ({"values": {"title": "x" * 33_000}}, "body_too_large"),
    ],
)
async def test_what_does_not_fit_the_kept_document_is_refused_and_audited(
    rig: Rig, changes: dict[str, Any], code: str
) -> None:
    error = await (await a_press(rig, **changes)).refusal()
    assert error.code.wire == code
    assert error.is_audited
    [record] = await rig.records("call.refused", code=code)
    assert record["user"] == "ann"
    assert "agent" not in record
    assert await rig.store.run(lambda tx: tx.documents.count_actions()) == 0


async def test_nothing_leaves_a_document_that_is_not_complete(rig: Rig) -> None:
    page, session = await a_page(rig), await a_grant(rig)
    opened = await done(rig, session, "stream_open", {"document": intelligent()})
    press = Press(rig, page, session, opened["documentRef"])
    assert (await press.refusal()).code.wire == "document.incomplete"
    frame = {"generation": opened["documentRef"]["generation"], "epoch": opened["epoch"], "seq": 1, "baseRevision": 1}
    await done(rig, session, "stream_complete", frame)
    task = await press.begin()
    await page.decide()
    await page.answer(page.invoked[-1], {"id": "1"})
    assert await task == {"id": "1"}


async def test_another_persons_page_asks_for_nothing(rig: Rig) -> None:
    press = await a_press(rig)
    bea = await a_page(rig, user="bea")
    stranger = Press(
        rig, bea, press.session, {"call": press.wanted.call, "generation": press.wanted.generation, "revision": 1}
    )
    assert (await stranger.refusal()).code.wire == "document.not_current"
    assert await rig.records("call.refused", code="document.not_current", user="bea")


async def test_what_the_site_does_not_expose_is_not_there_for_documents_either() -> None:
    async with running(**with_documents(expose=("ui.*", "todo.count"))) as rig:
        error = await (await a_press(rig)).refusal()
        assert error.code.wire == "unknown_capability"
        assert await rig.records("call.refused", code="unknown_capability", capability="todo.add")


async def test_with_an_empty_table_nothing_leaves() -> None:
    async with running(**with_documents(documents=Documents())) as rig:
        assert (await (await a_press(rig)).refusal()).code.wire == "unsupported"


# -- again -----------------------------------------------------------------------------------------------------


async def test_the_same_request_again_hears_of_the_one_call_and_other_input_is_a_conflict(rig: Rig) -> None:
    page = await a_page(rig)
    press = await a_press(rig, page)
    first, second = await press.begin(), await press.begin()
    assert len(page.connection.of("approve_request")) == 1
    await page.decide()
    assert len(page.invoked) == 1
    await page.answer(page.invoked[-1], {"id": "1"})
    assert await first == await second == {"id": "1"}
    assert await press.act() == {"id": "1"}
    assert len(page.invoked) == 1
    await only_call(rig)
    assert await rig.records("call.replayed", user="ann")
    for other in ({"values": {"title": "bread"}}, {"values": {"n": 9}}, {"action": "count"}):
        error = await press.named(**{"values": {}, "action": "save", **other}).refusal()
        assert error.code.wire == "call_id_conflict"
    assert len(await rig.records("call.refused", code="call_id_conflict")) == 3


async def test_a_restart_leaves_an_action_unknown_and_nothing_runs_again() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store=store, clock=clock, **with_documents()) as rig:
        page = await a_page(rig)
        press = await a_press(rig, page)
        task = await press.begin()
        await page.decide()
        assert page.invoked
        task.cancel()
    async with running(store=store, clock=clock, **with_documents()) as rig:
        back = await a_page(rig)
        await rig.services.documents.wanted(back.live, press.wanted.generation)
        await rig.settle()
        [opened] = told(back, "open")
        [action] = opened["actions"]
        assert (action["requestId"], action["actionId"], action["state"]) == ("request-1", "save", "unknown")
        again = Press(rig, back, press.session, opened["documentRef"])
        assert (await again.refusal()).code.wire == "outcome_unknown"
        assert not back.invoked


async def test_the_pages_draw_how_an_action_stands(rig: Rig) -> None:
    page = await a_page(rig)
    other = await a_page(rig)
    await rig.services.activity.act(page.live, "pin", agent=None, capability=None)
    task = await (await a_press(rig, page)).begin()
    await page.decide()
    await page.answer(page.invoked[-1], {})
    await task
    await rig.settle()
    for one in (page, other):
        states = [frame["state"] for frame in told(one, "action")]
        assert states[0] == "waiting"
        assert states[-1] == "done"
        assert "running" in states


# -- limits and ends -------------------------------------------------------------------------------------------


async def test_at_the_cap_actions_are_refused_and_none_is_forgotten(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (document_records.OF_ALL, document_records.OF_SESSION) == (2_048, 128)
    page = await a_page(rig)
    press = await a_press(rig, page, action="count")
    for cap in ("OF_SESSION", "OF_ALL"):
        count = await rig.store.run(lambda tx: tx.documents.count_actions())
        monkeypatch.setattr(document_records, cap, count + 1)
        task = await press.named(request=f"{cap}-1").begin()
        await page.answer(page.invoked[-1], {"count": 1})
        await task
        assert (await press.named(request=f"{cap}-2").refusal()).code.wire == "ledger_full"
        monkeypatch.undo()
    assert await rig.records("call.refused", code="ledger_full", user="ann")
    assert await rig.store.run(lambda tx: tx.documents.count_actions()) == 2


async def test_a_document_has_only_so_many_actions_open() -> None:
    async with running(**with_documents(open_actions_per_page=1)) as rig:
        page = await a_page(rig)
        press = await a_press(rig, page)
        task = await press.begin()
        assert (await press.named(request="request-2").refusal()).code.wire == "busy"
        task.cancel()


async def test_what_was_asked_for_in_a_closed_document_is_withdrawn(rig: Rig) -> None:
    page = await a_page(rig)
    press = await a_press(rig, page)
    task = await press.begin()
    await rig.services.documents.closed(page.live, press.wanted.generation)
    await rig.settle()
    with pytest.raises(Exception, match="closed"):
        await task
    call = await only_call(rig)
    assert (call.state, call.code.wire) == (CallState.DENIED, "document.not_current")
    assert (await press.refusal()).code.wire == "document.not_current"


async def test_the_end_of_the_agents_grant_ends_what_waits(rig: Rig) -> None:
    page = await a_page(rig)
    press = await a_press(rig, page)
    task = await press.begin()
    await rig.services.admin.revoke_session(press.session.id, by="test")
    await rig.settle()
    with pytest.raises(Exception, match=r"closed|revoked"):
        await task
    assert not page.invoked


async def test_an_entry_taken_out_of_the_table_withdraws_what_waits(rig: Rig) -> None:
    page = await a_page(rig)
    task = await (await a_press(rig, page)).begin()
    rig.services.live.configure(configuration(**with_documents(documents=Documents())), {})
    await page.decide()
    with pytest.raises(Exception, match="no longer opens"):
        await task
    assert not page.invoked


# -- telling the agent -----------------------------------------------------------------------------------------


async def test_a_callback_is_an_event_of_its_agents_session(rig: Rig) -> None:
    press = await a_press(rig, action="tell", values={"title": "more milk, please"})
    assert await press.act() == {"accepted": True}
    [event] = (await events(rig, press.session))["events"]
    assert (event["event"], event["instance_id"]) == ("callback", press.wanted.generation)
    assert event["data"] == {"text": "more milk, please", "action": "tell", "revision": 1}


async def test_a_callback_has_at_most_4096_units(rig: Rig) -> None:
    page = await a_page(rig)
    press = await a_press(rig, page, action="tell", values={"title": "x" * 4_096})
    assert await press.act() == {"accepted": True}
    # A document has no longer text; so the limit shows where two marks are one unit more than it seems.
    longer = press.named(request="request-2", values={"title": "x" * 4_094 + "\N{GRINNING FACE}"})
    assert await longer.act() == {"accepted": True}
    error = await press.named(request="request-3", values={"title": "x" * 4_095 + "\N{GRINNING FACE}"}).refusal()
    assert error.code.wire in {"arguments_invalid", "document.out_of_domain"}


async def test_a_callback_waits_for_room_with_the_agent() -> None:
    async with running(**with_documents(surface_events_bytes=16_384)) as rig:
        press = await a_press(rig, action="tell", values={"title": "x" * 4_000})
        for n in range(4):
            assert await press.named(request=f"request-{n}").act() == {"accepted": True}
        assert (await press.named(request="request-9").refusal()).code.wire == "busy"


async def test_a_page_that_declares_nothing_has_nothing_to_ask_for(rig: Rig) -> None:
    page = await rig.page()
    error = await (await a_press(rig, page)).refusal()
    assert error.code.wire == "unknown_capability"
    await page.declare(ADD)
