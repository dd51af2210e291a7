"""C17: what was approved is what runs, once, and nothing else.

Differs from the case: call_ids are padded to eight characters (rules J); a changed request under a call_id that is
taken is a conflict, so it needs a new call_id and with it a new dialog; the approval never travels to agents, so
B6 is about the page that decides.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.calls import CallState
from gateway.domain.errors import GatewayError
from tests.interaction.page.rig import LIST, Page, Rig, running
from tests.interaction.surface.client import invoke, post

pytestmark = pytest.mark.anyio

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
PENDING = CASE["pending"]
SEND = {**LIST, "id": "mail.send", "effect": "write", "confirm": "always"}
FORWARD = {**SEND, "id": "mail.forward"}
CALL = "ap-1-000"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


async def ask(rig: Rig, page: Page, agent: str = "alice", call_id: str = CALL) -> tuple[Any, Any, dict[str, Any]]:
    """The pending call of the case, with its dialog open."""
    session, _ = await rig.grant(agent)
    submitted = await rig.submit(session, "mail.send", PENDING["arguments"], call_id=call_id)
    return session, submitted, await page.receive("approve_request")


@pytest.mark.parametrize("change", ["B1", "B2"])
async def test_another_request_is_not_covered_by_the_approval(rig: Rig, change: str) -> None:
    page = await rig.page(SEND, FORWARD)
    session, _, request = await ask(rig, page)
    other = CASE[change]
    with pytest.raises(GatewayError) as conflict:
        await rig.submit(session, other["capability"], other["arguments"], call_id=CALL)
    assert conflict.value.code.wire == "call_id_conflict"
    # Under a call_id of its own it opens a dialog of its own, and the first approval does not run it.
    await rig.submit(session, other["capability"], other["arguments"], call_id="ap-2-000")
    second = await page.receive("approve_request")
    await page.decide(request, "approve")
    ran = await page.receive("invoke")
    assert json.loads(ran["input"]) == PENDING["arguments"]
    assert (ran["capability"], ran["approval"]) == ("mail.send", json.loads(request["payload"])["approval"])
    await page.answer(ran, {})
    await page.receive("ack")
    assert not page.has("invoke")
    assert (await rig.call(json.loads(second["payload"])["ref"])).state is CallState.AWAITING_APPROVAL


async def test_a_description_that_changed_needs_a_new_dialog(rig: Rig) -> None:
    page = await rig.page(SEND)
    session, submitted, request = await ask(rig, page)
    await page.declare({**SEND, "description": "Sends it to everybody."}, seq=2)  # B3
    await page.decide(request, "approve")
    call = (await rig.outcome(submitted)).call
    assert call.code is not None
    assert (call.state, call.code.wire) == (CallState.DENIED, "stale_inventory")
    with pytest.raises(GatewayError) as stale:
        await rig.submit(session, "mail.send", PENDING["arguments"], call_id="ap-2-000")
    assert stale.value.code.wire == "stale_inventory"
    await rig.submit(session, "mail.send", PENDING["arguments"], call_id="ap-3-000")
    fresh = await page.receive("approve_request")
    assert json.loads(fresh["payload"])["approval"] != json.loads(request["payload"])["approval"]
    assert not page.has("invoke")


async def test_a_retry_under_another_transport_id_finds_the_same_approval_used_once(rig: Rig) -> None:
    page = await rig.page(SEND)
    _, token = await rig.grant()
    envelope = {**invoke("mail.send", **PENDING["arguments"]), "call_id": CALL}
    first = asyncio.create_task(post(rig, token, envelope))
    request = await page.receive("approve_request")
    again = asyncio.create_task(post(rig, token, {**envelope, "id": "req_2"}))  # B4
    while not await rig.records("call.replayed"):
        pass
    await page.decide(request, "approve")
    await page.answer(await page.receive("invoke"), {"sent": True})
    answers = [(await one).json()["result"] for one in (first, again)]
    assert {answer["ref"] for answer in answers} == {json.loads(request["payload"])["ref"]}
    assert not page.has("approve_request")

    fresh = asyncio.create_task(post(rig, token, {**envelope, "call_id": "ap-5-000"}))  # B5
    second = await page.receive("approve_request")
    assert json.loads(second["payload"])["approval"] != json.loads(request["payload"])["approval"]
    await page.decide(second, "deny")
    assert (await fresh).json()["result"]["error"]["code"] == "PERMISSION_DENIED"
    assert not page.has("invoke")


async def test_an_altered_borrowed_or_used_decision_runs_nothing(rig: Rig) -> None:
    page = await rig.page(SEND)
    _, alices, request = await ask(rig, page)
    _, bobs, other = await ask(rig, page, "bob")
    payload = json.loads(request["payload"])

    for change in ({"nonce": payload["nonce"][:-1] + "~"}, {"sha256": "f" * 64}):  # B6: one byte
        await page.decide(request, "approve", **change)
        assert (await page.receive("approve_update"))["code"] == "bad_request"
    # B6: what was shown for alice does not decide for bob.
    await page.decide(request, "approve", approval=json.loads(other["payload"])["approval"])
    assert (await page.receive("approve_update"))["code"] == "bad_request"
    assert not page.has("invoke")
    for submitted in (alices, bobs):
        assert (await rig.call(submitted[0].call.ref)).state is CallState.AWAITING_APPROVAL

    await page.decide(request, "approve")
    await page.decide(request, "approve")  # B6: twice
    assert (await page.receive("approve_update"))["state"] == "approved"
    assert (await page.receive("approve_update"))["code"] == "replay_detected"
    await page.answer(await page.receive("invoke"), {})
    await page.receive("ack")
    assert not page.has("invoke")
    assert len(await rig.records("approval.refused")) == 4


async def test_the_trail_tells_proposed_approved_and_executed_apart_with_one_digest(rig: Rig) -> None:
    page = await rig.page(SEND)
    _, submitted, request = await ask(rig, page)
    await page.decide(request, "approve")
    await page.answer(await page.receive("invoke"), {})
    await rig.outcome(submitted)
    events = ("approval.opened", "approval.decided", "approval.consumed", "call.dispatched", "call.ended")
    records = [await rig.records(event, ref=submitted[0].call.ref) for event in events]
    assert [len(found) for found in records] == [1] * len(events)
    assert len({found[0]["arguments"] for found in records}) == 1


async def test_a_call_that_never_ran_is_nowhere_called_executed(rig: Rig) -> None:
    page = await rig.page(SEND)
    _, submitted, request = await ask(rig, page)
    await page.decide(request, "deny")
    await rig.outcome(submitted)
    (decided,) = await rig.records("approval.decided")
    assert decided["state"] == "denied"
    assert not await rig.records("approval.consumed")
    assert not await rig.records("call.dispatched")
