"""A call from its agent to the page and back."""

import asyncio
import json
from typing import Any

import pytest

from gateway.domain.calls import CallState
from tests.interaction.page.rig import LIST, Page, Rig, running

pytestmark = pytest.mark.anyio

COUNT = {
    "id": "todo.count",
    "description": "Counts.",
    "input_schema": {"type": "object"},
    "output_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "effect": "read",
    "confirm": "never",
}


async def asked(
    rig: Rig, capability: str = "todo.list", *declared: dict[str, Any]
) -> tuple[Page, Any, dict[str, Any]]:
    """A page with one call on it."""
    page = await rig.page(*(declared or (LIST, COUNT)))
    session, _ = await rig.grant()
    submitted = await rig.submit(session, capability, {})
    return page, submitted, await page.receive("invoke")


async def test_a_read_goes_to_the_page_and_its_result_comes_back_once(rig: Rig) -> None:
    page, submitted, invoke = await asked(rig)
    assert invoke["input"] == "{}"
    assert invoke["epoch"] == page.welcome["epoch"]
    await page.send({"type": "started", "ref": invoke["ref"]})
    await page.answer(invoke, {"items": ["a"]}, evidence={"count": 1})
    await page.receive("ack", ref=invoke["ref"])

    outcome = await rig.outcome(submitted)
    assert outcome.call.state is CallState.SUCCEEDED
    assert outcome.result is not None
    assert (outcome.result.output, outcome.result.evidence) == ('{"items":["a"]}', '{"count":1}')
    receipts = await rig.store.run(lambda tx: tx.calls.receipts_of(invoke["ref"]))
    assert [receipt.status for receipt in receipts] == ["accepted", "started"]


async def test_a_start_without_a_result_is_recorded_too(rig: Rig) -> None:
    page, _, invoke = await asked(rig)
    await page.send({"type": "started", "ref": invoke["ref"]})
    await page.send({"type": "started", "ref": invoke["ref"]})
    await page.send({"type": "pong", "n": 0, "visibility": "hidden"})
    await page.send({"type": "surface", "id": "1", "envelope": {}})
    await page.receive("surface_reply")
    await rig.services.spine.drain()
    receipts = await rig.store.run(lambda tx: tx.calls.receipts_of(invoke["ref"]))
    assert [receipt.status for receipt in receipts] == ["accepted", "started"]


async def test_a_start_of_a_call_the_page_never_got_is_nothing(rig: Rig) -> None:
    page, _, invoke = await asked(rig)
    stranger = await rig.page(LIST, user="bea")
    await stranger.send({"type": "started", "ref": invoke["ref"]})
    await stranger.send({"type": "result", "ref": invoke["ref"], "epoch": 1, "ok": True, "output": {}})
    await stranger.receive("ack", ref=invoke["ref"])
    await rig.services.spine.drain()
    receipts = await rig.store.run(lambda tx: tx.calls.receipts_of(invoke["ref"]))
    assert [receipt.status for receipt in receipts] == ["accepted"]
    assert (await rig.call(invoke["ref"])).state is CallState.DISPATCHED
    assert await rig.records("frame.refused", peer=stranger.welcome["page"], code="unknown_call")
    assert page.welcome["page"] != stranger.welcome["page"]


@pytest.mark.parametrize(
    ("said", "state", "code"),
    [
        ("handler_error", CallState.FAILED, "handler_error"),
        ("not_available", CallState.FAILED, "not_available"),
        ("arguments_invalid", CallState.FAILED, "arguments_invalid"),
        ("not_achieved", CallState.FAILED, "handler_error"),
        ("cancelled", CallState.CANCELLED, "cancelled"),
    ],
)
async def test_a_failure_is_told_in_the_gateways_codes(rig: Rig, said: str, state: CallState, code: str) -> None:
    page, submitted, invoke = await asked(rig)
    failure = {"code": said, "message": "as the page put it"}
    await page.send({"type": "result", "ref": invoke["ref"], "epoch": invoke["epoch"], "ok": False, "error": failure})
    await page.receive("ack", ref=invoke["ref"])
    call = (await rig.outcome(submitted)).call
    assert call.state is state
    assert call.code is not None
    assert (call.code.wire, call.message) == (code, "as the page put it")


@pytest.mark.parametrize(
    ("why", "code"),
    [
        ("not_available", "not_available"),
        ("stale_epoch", "not_delivered"),
        ("stale_fingerprint", "not_delivered"),
        ("unknown_capability", "not_delivered"),
        ("arguments_invalid", "not_delivered"),
        ("approval_missing", "not_delivered"),
        ("input_differs", "not_delivered"),
    ],
)
async def test_a_refusal_after_dispatch_ends_the_call_and_nothing_ran(rig: Rig, why: str, code: str) -> None:
    page, submitted, invoke = await asked(rig)
    await page.send({"type": "refused", "ref": invoke["ref"], "why": why, "message": "no list"})
    call = (await rig.outcome(submitted)).call
    assert call.state is CallState.FAILED
    assert call.code is not None
    assert call.code.wire == code
    assert call.message is not None
    assert why in call.message
    assert "no list" in call.message


async def test_output_that_breaks_the_declared_schema_goes_nowhere(rig: Rig) -> None:
    page, submitted, invoke = await asked(rig, "todo.count")
    await page.answer(invoke, {"n": "secret"})
    await page.receive("ack", ref=invoke["ref"])
    outcome = await rig.outcome(submitted)
    assert outcome.call.code is not None
    assert outcome.call.code.wire == "output_schema_violation"
    assert outcome.result is None
    assert "secret" not in (outcome.call.message or "")


async def test_a_result_is_as_large_as_the_limit_and_no_larger() -> None:
    async with running(page_result_bytes=1_000) as rig:
        page, submitted, invoke = await asked(rig)
        await page.answer(invoke, "x" * 998)
        assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED

        session, _ = await rig.grant("bob")
        submitted = await rig.submit(session, "todo.list", {})
        invoke = await page.receive("invoke")
        await page.answer(invoke, "x" * 999)
        await page.receive("ack", ref=invoke["ref"])
        call = (await rig.outcome(submitted)).call
        assert call.code is not None
        assert call.code.wire == "handler_error"
        assert call.message == "the result is larger than 1000 bytes"


async def test_a_result_of_another_epoch_is_dropped_and_acknowledged(rig: Rig) -> None:
    page, _, invoke = await asked(rig)
    await page.answer({**invoke, "epoch": invoke["epoch"] + 1}, {})
    await page.receive("ack", ref=invoke["ref"])
    assert (await rig.call(invoke["ref"])).state is CallState.DISPATCHED
    assert await rig.records("frame.refused", code="unknown_call")


async def test_a_second_result_changes_nothing_and_is_acknowledged(rig: Rig) -> None:
    page, submitted, invoke = await asked(rig)
    await page.answer(invoke, {"first": True})
    await page.receive("ack", ref=invoke["ref"])
    await page.answer(invoke, {"first": False})
    await page.receive("ack", ref=invoke["ref"])
    outcome = await rig.outcome(submitted)
    assert outcome.result is not None
    assert json.loads(outcome.result.output) == {"first": True}
    assert len(await rig.records("call.result_dropped")) == 1


async def test_progress_reaches_the_waiters_only_while_it_grows(rig: Rig) -> None:
    page, (_, waiter), invoke = await asked(rig)

    async def say(n: float, message: str) -> None:
        await page.send({"type": "progress", "ref": invoke["ref"], "n": n, "message": message})

    await say(1, "first")
    news = await waiter.next_news(5)
    assert news.progress == "first"
    await say(1, "again")
    await say(2, "second")
    news = await waiter.next_news(5)
    assert news.progress == "second"


async def test_a_cancel_reaches_the_page_as_a_request(rig: Rig) -> None:
    page, submitted, invoke = await asked(rig)
    session = await rig.store.run(lambda tx: tx.sessions.find(submitted[0].call.session))
    assert session is not None
    asked_to_stop = await rig.services.calls.cancel(session, invoke["ref"])
    assert asked_to_stop.call.state is CallState.DISPATCHED
    assert await page.receive("cancel", ref=invoke["ref"])


async def test_no_answer_in_time_is_unknown_and_a_late_one_is_marked(rig: Rig) -> None:
    page, submitted, invoke = await asked(rig)
    rig.clock.advance(30_000)
    await rig.sweep()
    assert (await rig.outcome(submitted)).call.state is CallState.UNKNOWN
    await page.answer(invoke, {"done": True})
    await page.receive("ack", ref=invoke["ref"])
    call = await rig.call(invoke["ref"])
    assert (call.state, call.late) == (CallState.SUCCEEDED, True)


async def test_an_acknowledgement_waits_for_the_commit(rig: Rig) -> None:
    page, _, invoke = await asked(rig)
    heal = rig.fail_commits()
    await page.answer(invoke, {})
    # The result was not stored: the page keeps it and comes back.
    assert await page.closed() == 1013
    assert not page.has("ack")
    heal()
    again = await rig.page(
        LIST, document=page.document, resume=page.welcome["resume"], seen=[invoke["ref"]], ticket=await rig.ticket()
    )
    await again.answer(invoke, {})
    await again.receive("ack", ref=invoke["ref"])
    assert (await rig.call(invoke["ref"])).state is CallState.SUCCEEDED


async def test_calls_of_several_agents_do_not_mix(rig: Rig) -> None:
    page = await rig.page(LIST)
    sessions = [(await rig.grant(agent))[0] for agent in ("alice", "bob")]
    submitted = [await rig.submit(session, "todo.list", {}) for session in sessions]
    invokes = [await page.receive("invoke") for _ in sessions]
    for number, invoke in reversed(list(enumerate(invokes))):
        await page.answer(invoke, {"number": number})
    outcomes = await asyncio.gather(*(rig.outcome(one) for one in submitted))
    results = [json.loads(outcome.result.output)["number"] for outcome in outcomes if outcome.result]
    assert results == [0, 1]
