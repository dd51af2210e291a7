"""A NUL character: PostgreSQL cannot hold one in a text, so what becomes of one is the same on each database."""

from typing import Any

import httpx
import pytest

from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from tests.interaction.page.rig import ADD, LIST, ORIGIN, Rig

pytestmark = pytest.mark.anyio

NUL = "a\0b"


async def send(rig: Rig, token: str, method: str, number: int, **envelope: Any) -> httpx.Response:
    """One request at the surface door."""
    headers = {
        "Authorization": f"Bearer {token}",
        "Ostiary-Nonce": f"nonce-{number:010}",
        "Ostiary-Timestamp": str(rig.clock.now()),
    }
    body = {"protocol": "pling.surface/0.1", "id": "r", "method": method, **envelope}
    return await rig.http.post("/surface/v1", json=body, headers=headers)


async def test_arguments_and_results_carry_it_unchanged(rig: Rig) -> None:
    page = await rig.page({**LIST, "input_schema": ADD["input_schema"]})
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {"title": NUL})
    invoke = await page.receive("invoke")
    assert invoke["input"] == '{"title":"a\\u0000b"}'
    await page.answer(invoke, {NUL: NUL}, evidence=NUL)
    outcome = await rig.outcome(submitted)
    assert outcome.result is not None
    assert (outcome.result.output, outcome.result.evidence) == ('{"a\\u0000b":"a\\u0000b"}', '"a\\u0000b"')


async def test_the_words_of_a_page_reach_the_caller_without_it(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})
    invoke = await page.receive("invoke")
    error = {"code": "handler_error", "message": NUL}
    await page.send({"type": "result", "ref": invoke["ref"], "epoch": invoke["epoch"], "ok": False, "error": error})
    call = (await rig.outcome(submitted)).call
    assert (call.state, call.message) == (CallState.FAILED, "a\N{REPLACEMENT CHARACTER}b")
    assert await rig.call(call.ref) == call


async def test_a_page_or_a_call_of_that_name_is_not_known(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, token = await rig.grant()
    wanted: dict[str, Any] = {"capability": "todo.list", "input": {}, "call_id": "call-0001"}
    for number, selector in enumerate((NUL, f"site:todo\0{NUL}")):
        answer = await send(rig, token, "invoke", number, **wanted, page=selector)
        assert answer.json()["error"]["code"] == "page_not_connected"
    assert len(await rig.records("call.refused", code="page_not_connected")) == 2

    submitted = await rig.submit(session, "todo.list", {}, call_id="call-0001")
    for number, name in enumerate((f"{submitted[0].call.ref}\0", "call-0001\0")):
        answer = await send(rig, token, "status", 10 + number, input={"call_id": name})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_call")
        with pytest.raises(GatewayError) as refused:
            await rig.services.calls.cancel(session, name)
        assert refused.value.code is ErrorCode.UNKNOWN_CALL
    assert not page.has("cancel")


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "started", "ref": NUL},
        {"type": "result", "ref": NUL, "epoch": 1, "ok": True, "output": {}},
        {"type": "surface", "id": NUL, "envelope": {}},
    ],
)
async def test_a_frame_that_names_something_so_is_refused(rig: Rig, frame: dict[str, Any]) -> None:
    page = await rig.page(LIST)
    await page.send(frame)
    assert (await page.receive("error"))["code"] == "bad_request"
    assert len(await rig.records("frame.refused", code="bad_request")) == 1
    assert (await rig.http.get("/readyz")).status_code == 200


async def test_no_ticket_is_made_for_such_a_user(rig: Rig) -> None:
    headers = {"Authorization": f"Bearer {await rig.key()}"}
    for user in (NUL, "ann\0"):
        answer = await rig.http.post("/v1/host-tokens", json={"user": user, "origin": ORIGIN}, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert len(await rig.records("access.refused", door="host_tokens", code="bad_request")) == 2
