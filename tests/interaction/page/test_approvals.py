"""The person decides on the page; nothing else does, and once."""

import json
from typing import Any

import pytest

from gateway.domain.calls import CallState
from tests.interaction.page.rig import ADD, CLEAR, LIST, Page, Rig

pytestmark = pytest.mark.anyio

BUY: dict[str, Any] = {"title": "Buy milk"}


async def asked(rig: Rig, **hello: Any) -> tuple[Page, Any, dict[str, Any]]:
    """A page that shows one question."""
    page = await rig.page(ADD, CLEAR, LIST, **hello)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.add", BUY)
    return page, submitted, await page.receive("approve_request")


async def test_an_approved_call_runs_with_the_very_text_that_was_shown(rig: Rig) -> None:
    page, submitted, request = await asked(rig)
    payload = json.loads(request["payload"])
    assert submitted[0].call.state is CallState.AWAITING_APPROVAL
    assert payload["summary"]["agent"] == "Alice"
    assert json.loads(payload["input"]) == BUY
    assert not page.has("invoke")

    await page.decide(request, "approve")
    assert (await page.receive("approve_update"))["state"] == "approved"
    invoke = await page.receive("invoke")
    assert invoke["input"] == payload["input"]
    assert invoke["approval"] == payload["approval"]
    await page.answer(invoke, {"id": 1})
    assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED
    stored = await rig.store.run(lambda tx: tx.approvals.find(payload["approval"]))
    assert stored is not None
    assert stored.state == "consumed"


async def test_a_denied_call_never_runs_and_the_answer_is_remembered(rig: Rig) -> None:
    page, submitted, request = await asked(rig)
    await page.decide(request, "deny", visible=False)
    assert (await page.receive("approve_update"))["state"] == "denied"
    outcome = await rig.outcome(submitted)
    assert outcome.call.state is CallState.DENIED
    assert not page.has("invoke")
    session = await rig.store.run(lambda tx: tx.sessions.find(outcome.call.session))
    with pytest.raises(Exception, match="refused this very request"):
        await rig.submit(session, "todo.add", BUY)  # type: ignore[arg-type]
    assert not page.has("approve_request")


async def test_silence_is_a_no(rig: Rig) -> None:
    page, submitted, request = await asked(rig)
    rig.clock.advance(120_000)
    await rig.sweep()
    update = await page.receive("approve_update")
    assert (update["state"], update["code"]) == ("expired", "approval_expired")
    assert (await rig.outcome(submitted)).call.state is CallState.EXPIRED
    await page.decide(request, "approve")
    update = await page.receive("approve_update")
    assert (update["state"], update["code"]) == ("expired", "approval_expired")
    assert not page.has("invoke")


async def test_an_approve_nobody_saw_does_not_count(rig: Rig) -> None:
    page, submitted, request = await asked(rig)
    await page.decide(request, "approve", visible=False)
    update = await page.receive("approve_update")
    assert (update["state"], update["code"]) == ("open", "forbidden")
    assert await rig.records("approval.refused", code="forbidden")
    assert (await rig.call(submitted[0].call.ref)).state is CallState.AWAITING_APPROVAL


async def test_an_approve_in_an_automated_browser_does_not_count(rig: Rig) -> None:
    page, submitted, request = await asked(rig, automated=True)
    await page.decide(request, "approve")
    assert (await page.receive("approve_update"))["code"] == "forbidden"
    assert (await rig.call(submitted[0].call.ref)).state is CallState.AWAITING_APPROVAL
    assert await rig.records("approval.refused", code="forbidden")


@pytest.mark.parametrize("change", [{"nonce": "another"}, {"sha256": "0" * 64}], ids=["nonce", "digest"])
async def test_a_decision_about_something_else_than_was_shown_does_not_count(
    rig: Rig, change: dict[str, Any]
) -> None:
    page, submitted, request = await asked(rig)
    await page.decide(request, "approve", **change)
    update = await page.receive("approve_update")
    assert (update["state"], update["code"]) == ("open", "bad_request")
    assert (await rig.call(submitted[0].call.ref)).state is CallState.AWAITING_APPROVAL
    assert await rig.records("approval.refused", code="bad_request")


async def test_only_the_page_that_was_asked_decides(rig: Rig) -> None:
    page, submitted, request = await asked(rig)
    neighbour = await rig.page(LIST)
    await neighbour.decide(request, "approve")
    update = await neighbour.receive("approve_update")
    assert (update["state"], update["code"]) == ("withdrawn", "unknown_call")
    assert (await rig.call(submitted[0].call.ref)).state is CallState.AWAITING_APPROVAL
    assert await rig.records("approval.refused", page=neighbour.welcome["page"])
    await page.decide(request, "approve")
    assert await page.receive("invoke")


async def test_a_second_press_is_told_that_it_was_decided(rig: Rig) -> None:
    page, _, request = await asked(rig)
    await page.decide(request, "approve")
    await page.decide(request, "deny")
    assert (await page.receive("approve_update"))["state"] == "approved"
    update = await page.receive("approve_update")
    assert (update["state"], update["code"]) == ("approved", "replay_detected")
    await page.receive("invoke")
    assert not page.has("invoke")


@pytest.mark.parametrize(
    ("why", "code"),
    [
        ("not_available", "not_available"),
        ("arguments_invalid", "arguments_invalid"),
        ("stale_fingerprint", "stale_inventory"),
        ("unknown_capability", "not_available"),
    ],
)
async def test_a_page_that_cannot_do_it_fails_the_call_and_nobody_is_asked(rig: Rig, why: str, code: str) -> None:
    page, submitted, request = await asked(rig)
    ref = json.loads(request["payload"])["ref"]
    await page.send({"type": "refused", "ref": ref, "why": why})
    call = (await rig.outcome(submitted)).call
    assert call.state is CallState.FAILED
    assert call.code is not None
    assert call.code.wire == code
    assert (await page.receive("approve_update"))["state"] == "withdrawn"


async def test_a_stranger_cannot_refuse_for_the_page(rig: Rig) -> None:
    _, submitted, request = await asked(rig)
    stranger = await rig.page(ADD, user="bea")
    await stranger.send({"type": "refused", "ref": json.loads(request["payload"])["ref"], "why": "not_available"})
    await stranger.receive("ack")
    assert (await rig.call(submitted[0].call.ref)).state is CallState.AWAITING_APPROVAL
    assert await rig.records("frame.refused", peer=stranger.welcome["page"])


async def test_an_open_question_is_shown_again_to_the_same_document(rig: Rig) -> None:
    page, _, request = await asked(rig)
    await page.socket.close()
    again = await rig.page(ADD, CLEAR, LIST, document=page.document, resume=page.welcome["resume"])
    repeated = await again.receive("approve_request")
    assert repeated["payload"] == request["payload"]
    await again.decide(repeated, "approve")
    assert await again.receive("invoke")


async def test_a_new_document_is_not_asked_what_the_old_one_was(rig: Rig) -> None:
    page, submitted, request = await asked(rig)
    fresh = await rig.page(ADD, CLEAR, LIST, resume=page.welcome["resume"])
    assert (await rig.outcome(submitted)).call.state is CallState.DENIED
    await fresh.decide(request, "approve")
    assert (await fresh.receive("approve_update"))["code"] == "unknown_call"
    assert not fresh.has("approve_request")
    assert not fresh.has("invoke")


async def test_a_caller_that_left_greys_the_question_and_a_click_does_not_count(rig: Rig) -> None:
    page, (outcome, waiter), request = await asked(rig)
    rig.services.calls.attendance.hang_up(waiter)
    assert (await page.receive("approve_update"))["state"] == "agent_left"
    await page.decide(request, "approve")
    update = await page.receive("approve_update")
    assert (update["state"], update["code"]) == ("agent_left", "agent_left")
    assert (await rig.call(outcome.call.ref)).state is CallState.AWAITING_APPROVAL
