"""`POST /surface/v1`: two shapes of failure, honest waiting, one transmission once."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode
from gateway.protocol import surface as protocol
from gateway.protocol.surface import PROTOCOL, SPELLINGS
from gateway.runtime import surface as runtime
from gateway.transports.errors import STATUSES
from tests.interaction.page.rig import ADD, CLEAR, LIST, Rig, running
from tests.interaction.surface.client import envelope, invoke, post

pytestmark = pytest.mark.anyio

NO_WAIT = {"Prefer": "wait=0"}


def test_every_code_has_a_row_in_both_tables() -> None:
    assert set(STATUSES) == set(SPELLINGS) == set(ErrorCode)
    assert runtime.PROTOCOL == PROTOCOL
    assert len({code.wire for code in ErrorCode}) == len(ErrorCode)


def test_the_protocol_has_four_methods_and_none_takes_a_selector_or_a_script() -> None:
    assert runtime.METHODS == ("describe", "invoke", "status", "cancel")


async def test_a_read_is_described_invoked_and_answered(rig: Rig) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    asking = asyncio.create_task(post(rig, token, envelope("describe", input={"limit": 2})))
    question = await page.receive("describe")
    await page.send({"type": "described", "id": question["id"], "context": None, "unavailable": []})
    described = (await asking).json()
    assert described["ok"] is True
    assert [c["id"] for c in described["result"]["capabilities"]] == ["todo.list"]

    calling = asyncio.create_task(post(rig, token, invoke("todo.list")))
    request = await page.receive("invoke")
    await page.answer(request, {"items": [1]}, evidence={"seen": 1})
    answer = await calling
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert answer.json() == {
        "protocol": PROTOCOL,
        "id": "req_1",
        "ok": True,
        "result": {
            "ref": request["ref"],
            "status": "succeeded",
            "result": {"items": [1]},
            "evidence": {"seen": 1},
        },
    }


async def test_a_taken_result_is_noted_after_it_was_sent(rig: Rig) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    calling = asyncio.create_task(post(rig, token, invoke("todo.list")))
    request = await page.receive("invoke")
    await page.answer(request, {})
    await calling
    rig.clock.advance(200)
    await rig.services.spine.drain()
    assert (await rig.call(request["ref"])).taken


async def test_a_refusal_of_the_person_is_an_answer_of_the_action(rig: Rig) -> None:
    page = await rig.page(CLEAR)
    _, token = await rig.grant()
    calling = asyncio.create_task(post(rig, token, invoke("todo.clear")))
    await page.decide(await page.receive("approve_request"), "deny")
    answer = await calling
    body = answer.json()
    assert (answer.status_code, body["ok"]) == (200, True)
    assert (body["result"]["error"]["code"], body["result"]["error"]["reason"]) == ("PERMISSION_DENIED", "denied")
    # And so is the remembered one, which left no call behind.
    again = (await post(rig, token, invoke("todo.clear"))).json()
    assert (again["ok"], again["result"]["error"]["code"]) == (True, "PERMISSION_DENIED")


async def test_arguments_are_refused_by_the_action_not_by_the_protocol(rig: Rig) -> None:
    page = await rig.page(ADD)
    _, token = await rig.grant()
    answer = await post(rig, token, invoke("todo.add", title=7))
    body = answer.json()
    assert (answer.status_code, body["ok"]) == (200, True)
    assert body["result"]["error"]["code"] == "arguments_invalid"
    assert body["result"]["error"]["data"] == {"pointer": "/title"}
    assert not page.has("approve_request")
    assert await rig.records("call.refused", code="arguments_invalid")


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"protocol": "pling.surface/9"}, 400, "PROTOCOL_NOT_SUPPORTED"),
        ({"method": "click"}, 400, "BAD_REQUEST"),
        ({"id": "no spaces"}, 400, "BAD_REQUEST"),
        ({"id": None}, 400, "BAD_REQUEST"),
        ({"sessionId": "s"}, 400, "BAD_REQUEST"),
        ({"selector": "#a"}, 400, "BAD_REQUEST"),
        ({"input": []}, 400, "BAD_REQUEST"),
        ({"call_id": "short"}, 400, "BAD_REQUEST"),
        ({"capability": "todo.delete"}, 404, "CAPABILITY_NOT_EXPOSED"),
        ({"capability": "other.list"}, 404, "CAPABILITY_NOT_EXPOSED"),
    ],
)
async def test_the_protocols_own_failures_never_reach_an_action(
    rig: Rig, change: dict[str, Any], status: int, code: str
) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    answer = await post(rig, token, {**invoke("todo.list"), **change})
    body = answer.json()
    assert (answer.status_code, body["ok"], body["error"]["code"]) == (status, False, code)
    assert body["protocol"] == PROTOCOL
    assert not page.has("invoke")
    assert await rig.records("access.refused", door="surface") or await rig.records("call.refused")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Ostiary-Nonce", ""),
        ("Ostiary-Nonce", "short"),
        ("Ostiary-Nonce", "x" * 65),
        ("Ostiary-Nonce", "with spaces in it"),
        ("Ostiary-Timestamp", ""),
        ("Ostiary-Timestamp", "1e20"),
        ("Ostiary-Timestamp", "-1"),
        ("Ostiary-Timestamp", "1" * 15),
        ("Ostiary-Timestamp", "9999-12-31T23:59:60Z"),
    ],
)
async def test_an_invoke_needs_a_nonce_and_a_timestamp(rig: Rig, name: str, value: str) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    answer = await post(rig, token, invoke("todo.list"), headers={name: value} if value else {name: ""})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "BAD_REQUEST")
    assert name in answer.json()["error"]["message"]
    assert not page.has("invoke")


async def test_a_call_that_is_not_finished_is_pending_and_status_tells_the_rest(rig: Rig) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    pending = (await post(rig, token, invoke("todo.list"), headers=NO_WAIT)).json()
    assert (pending["ok"], pending["result"]["pending"]) == (True, True)
    ref = pending["result"]["ref"]
    asking = asyncio.create_task(post(rig, token, envelope("status", input={"ref": ref, "wait": 25})))
    await page.answer(await page.receive("invoke"), {"items": []})
    told = (await asking).json()
    assert told["result"]["result"] == {"items": []}


async def test_cancel_ends_what_was_not_dispatched(rig: Rig) -> None:
    page = await rig.page(CLEAR)
    _, token = await rig.grant()
    pending = (await post(rig, token, invoke("todo.clear"), headers=NO_WAIT)).json()
    body = (await post(rig, token, envelope("cancel", input={"ref": pending["result"]["ref"]}))).json()
    assert body["result"]["error"]["code"] == "cancelled"
    assert (await page.receive("approve_update"))["state"] == "withdrawn"


async def test_a_transmission_counts_once_and_a_retry_finds_the_call(rig: Rig) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    asked = {**invoke("todo.list"), "call_id": "call-0001"}
    first = (await post(rig, token, asked, headers=NO_WAIT, nonce="nonce-once-000001")).json()
    ref = first["result"]["ref"]
    replay = await post(rig, token, asked, headers=NO_WAIT, nonce="nonce-once-000001")
    assert replay.status_code == 409
    assert replay.json()["error"]["code"] == "REPLAY_DETECTED"
    assert replay.json()["error"]["ref"] == ref
    retry = (await post(rig, token, asked, headers=NO_WAIT)).json()
    assert (retry["result"]["ref"], retry["result"]["replayed"]) == (ref, True)
    other = await post(rig, token, {**asked, "input": {"more": 1}}, headers=NO_WAIT)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "call_id_conflict")
    await page.receive("invoke")
    assert not page.has("invoke")
    assert await rig.records("call.refused", code="replay_detected")


async def test_too_many_calls_are_told_when_to_come_back() -> None:
    async with running(calls_per_minute=60, calls_burst=1) as rig:
        await rig.page(LIST)
        _, token = await rig.grant()
        await post(rig, token, invoke("todo.list"), headers=NO_WAIT)
        answer = await post(rig, token, invoke("todo.list"), headers=NO_WAIT)
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "rate_limited")
        assert int(answer.headers["retry-after"]) >= 1


async def test_a_client_that_hangs_up_leaves_an_orphan_and_no_dialog_that_counts(rig: Rig) -> None:
    page = await rig.page(CLEAR)
    _, token = await rig.grant()
    calling = asyncio.create_task(post(rig, token, invoke("todo.clear")))
    request = await page.receive("approve_request")
    calling.cancel()
    await rig.http.aclose()
    assert (await page.receive("approve_update"))["state"] == "agent_left"
    ref = json.loads(request["payload"])["ref"]
    assert (await rig.call(ref)).is_orphaned
    await page.decide(request, "approve")
    assert (await page.receive("approve_update"))["code"] == "agent_left"
    assert not page.has("invoke")


async def test_a_pending_answer_was_given_so_a_hang_up_changes_nothing(rig: Rig) -> None:
    page = await rig.page(CLEAR)
    _, token = await rig.grant()
    pending = (await post(rig, token, invoke("todo.clear"), headers=NO_WAIT)).json()
    await rig.http.aclose()
    await page.decide(await page.receive("approve_request"), "approve")
    await page.answer(await page.receive("invoke"), {})
    await page.receive("ack")
    assert (await rig.call(pending["result"]["ref"])).state is CallState.SUCCEEDED


async def test_a_body_is_read_no_further_than_it_may_be_long() -> None:
    async with running(body_bytes=2_000) as rig:
        await rig.page(ADD)
        _, token = await rig.grant()
        answer = await post(rig, token, invoke("todo.add", title="x" * 2_000))
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(3):
                yield b" " * 1_000

        headers = {"Authorization": f"Bearer {token}"}
        answer = await rig.http.post("/surface/v1", content=chunks(), headers=headers)
        assert answer.status_code == 413


async def test_no_answer_carries_a_secret(rig: Rig) -> None:
    page = await rig.page(CLEAR)
    _, token = await rig.grant()
    calling = asyncio.create_task(post(rig, token, invoke("todo.clear")))
    request = await page.receive("approve_request")
    payload = json.loads(request["payload"])
    described = asyncio.create_task(post(rig, token, envelope("describe")))
    question = await page.receive("describe")
    await page.send({"type": "described", "id": question["id"], "context": None, "unavailable": []})
    await page.decide(request, "approve")
    await page.answer(await page.receive("invoke"), {})
    for answer in (await calling, await described):
        for secret in (token, payload["approval"], payload["nonce"], page.welcome["resume"]):
            assert secret not in answer.text


async def test_a_page_argument_names_the_page(rig: Rig) -> None:
    first, second = await rig.page(LIST), await rig.page(LIST)
    _, token = await rig.grant()
    answer = await post(rig, token, invoke("todo.list"), headers=NO_WAIT)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "AMBIGUOUS_PAGE")
    assert {p["page"] for p in answer.json()["error"]["data"]["pages"]} == {
        first.welcome["page"],
        second.welcome["page"],
    }
    named = {**invoke("todo.list"), "page": second.welcome["page"]}
    assert (await post(rig, token, named, headers=NO_WAIT)).json()["ok"]
    assert await second.receive("invoke")


def test_one_code_for_three_reasons_keeps_them_apart() -> None:
    for code in (ErrorCode.DENIED, ErrorCode.FORBIDDEN, ErrorCode.POLICY_CHANGED):
        told = protocol.answered(
            "r", {"ref": "call_a", "error": {"code": code.wire, "message": "", "retryable": False}}
        )
        assert told["result"]["error"]["code"] == "PERMISSION_DENIED"
        assert told["result"]["error"]["reason"] == code.wire
    kept = protocol.answered("r", {"error": {"code": "approval_expired", "message": "", "retryable": True}})
    assert kept["result"]["error"]["code"] == "approval_expired"
