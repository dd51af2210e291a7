"""C11: numbers that do not survive are refused, never rounded, in both directions.

Differs from the case: the name of the capability is its id; N3 on the wire is no JSON at all, so the frame is
refused and the call stays what it was (a page's own encoder refuses NaN before it gets here).
"""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.calls import CallState
from tests.interaction.page.rig import LIST, Rig, running

pytestmark = pytest.mark.anyio

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "input.json").read_text())
CANCEL = {**LIST, "id": CASE["capability"]["name"], "input_schema": CASE["capability"]["inputSchema"]}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


async def send(rig: Rig, token: str, arguments: str) -> tuple[int, dict[str, Any]]:
    """One `invoke` with `arguments` as text, digit for digit."""
    body = (
        '{"protocol":"pling.surface/0.1","id":"r","method":"invoke",'
        f'"capability":"orders.cancel","input":{arguments}}}'
    )
    headers = {
        "Authorization": f"Bearer {token}",
        "Ostiary-Nonce": f"nonce-{time.monotonic_ns():020d}",
        "Ostiary-Timestamp": str(rig.clock.now()),
        "Prefer": "wait=0",
    }
    answer = await rig.http.post("/surface/v1", content=body, headers=headers)
    assert "NaN" not in answer.text
    return answer.status_code, answer.json()


async def test_an_id_beyond_2_53_is_refused_by_name(rig: Rig) -> None:
    page = await rig.page(CANCEL)
    _, token = await rig.grant()
    status, body = await send(rig, token, json.dumps(CASE["N1"]))
    error = body["error"]
    assert (status, error["code"]) == (400, "unsafe_integer")
    assert "/input/id" in str(error["message"])
    assert not page.has("invoke")
    assert await rig.records("access.refused", door="surface", code="unsafe_integer")


@pytest.mark.parametrize("part", ["output", "evidence"])
async def test_a_result_beyond_2_53_fails_the_call_and_names_the_place(rig: Rig, part: str) -> None:
    page = await rig.page(CANCEL)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "orders.cancel", {"id": 1})
    invoke = await page.receive("invoke")
    output = CASE["N2_page_result"] if part == "output" else "{}"
    evidence = "null" if part == "output" else CASE["N2_page_result"]
    await page.socket.send(
        f'{{"type":"result","ref":"{invoke["ref"]}","epoch":{invoke["epoch"]},"ok":true,'
        f'"output":{output},"evidence":{evidence}}}'
    )
    await page.receive("ack", ref=invoke["ref"])
    outcome = await rig.outcome(submitted)
    assert outcome.call.code is not None
    assert (outcome.call.state, outcome.call.code.wire) == (CallState.FAILED, "handler_error")
    assert "`unsafe_integer` at `/next_id`" in (outcome.call.message or "")
    assert outcome.result is None
    assert (await page.declare(CANCEL, seq=2))["accepted"]


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400"])
async def test_a_word_that_is_no_number_never_becomes_a_result(rig: Rig, word: str) -> None:
    page = await rig.page(CANCEL)
    session, _ = await rig.grant()
    await rig.submit(session, "orders.cancel", {"id": 1})
    invoke = await page.receive("invoke")
    await page.socket.send(
        f'{{"type":"result","ref":"{invoke["ref"]}","epoch":{invoke["epoch"]},"ok":true,"output":{{"n":{word}}}}}'
    )
    assert (await page.receive("error"))["code"] in ("bad_json", "unsafe_integer")
    assert (await rig.call(invoke["ref"])).state is CallState.DISPATCHED


@pytest.mark.parametrize("raw", CASE["N4_raw"])
async def test_words_that_are_no_json_are_400(rig: Rig, raw: str) -> None:
    page = await rig.page(CANCEL)
    _, token = await rig.grant()
    arguments = raw[raw.index('"arguments":') + len('"arguments":') : -1]
    status, body = await send(rig, token, arguments)
    error = body["error"]
    assert (status, error["code"]) == (400, "bad_json")
    assert not page.has("invoke")


async def test_five_thousand_digits_are_refused_fast(rig: Rig) -> None:
    await rig.page(CANCEL)
    _, token = await rig.grant()
    begun = time.monotonic()
    status, body = await send(rig, token, f'{{"id":{"9" * 5_000}}}')
    assert time.monotonic() - begun < 1
    assert status == 400
    assert "999" not in json.dumps(body)


async def test_a_price_is_a_multiple_of_a_cent(rig: Rig) -> None:
    page = await rig.page(CANCEL)
    _, token = await rig.grant()
    status, body = await send(rig, token, json.dumps(CASE["N6"]))
    assert (status, body["ok"]) == (200, True)
    assert json.loads((await page.receive("invoke"))["input"]) == CASE["N6"]
