"""C09: the same call_id at once, with other arguments, after a failure, after a crash.

Differs from the case: call_ids are padded to eight characters, each transmission has a nonce of its own and the
call_id stays (rules J); of twenty equal requests one is the original and the others are marked replayed.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.testing import FakeClock
from tests.contract.stores import SqliteOpener
from tests.interaction.page.rig import Page, Rig, running
from tests.interaction.surface.client import fresh_nonce, invoke, post

pytestmark = pytest.mark.anyio

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
BASE = CASE["base"]
ADD = {
    "id": BASE["capability"],
    "description": "Books an amount.",
    "input_schema": {
        "type": "object",
        "properties": {"account": {"type": "string"}, "amount": {"type": "integer"}},
        "required": ["account", "amount"],
    },
}
CALL_ID = "pay-42-00"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


async def request(
    rig: Rig, token: str, arguments: dict[str, Any], call_id: str = CALL_ID, wait: int = 5
) -> httpx.Response:
    envelope = {**invoke(BASE["capability"], **arguments), "call_id": call_id}
    return await post(rig, token, envelope, headers={"Prefer": f"wait={wait}"})


async def grant(rig: Rig) -> str:
    return (await rig.grant(scope=["ledger.*"]))[1]


async def run_once(page: Page) -> dict[str, Any]:
    """Approve the one question and hand back the one request to run."""
    await page.decide(await page.receive("approve_request"), "approve")
    return await page.receive("invoke")


async def was_asked_again(page: Page) -> bool:
    """Whether anything more reached the page than what was taken."""
    await page.declare(ADD, seq=99)
    return page.has("invoke") or page.has("approve_request")


async def audited(rig: Rig, event: str, **facts: Any) -> list[dict[str, Any]]:
    """The records of `event`, after what waits for the clock was noted."""
    rig.clock.advance(1_000)
    return await rig.records(event, **facts)


async def test_twenty_at_once_run_exactly_once_and_all_hear_the_same(rig: Rig) -> None:
    page, token = await rig.page(ADD), await grant(rig)
    sent = [asyncio.create_task(request(rig, token, BASE["arguments"])) for _ in range(CASE["T1"]["parallel"])]
    await page.answer(await run_once(page), {"balance": 10})
    results = [answer.json()["result"] for answer in await asyncio.gather(*sent)]
    assert [result["result"] for result in results] == [{"balance": 10}] * CASE["T1"]["parallel"]
    assert len({result["ref"] for result in results}) == 1
    assert sum("replayed" not in result for result in results) == 1
    assert not await was_asked_again(page)
    assert len(await audited(rig, "call.admitted")) == 1


async def done(rig: Rig, page: Page, token: str) -> None:
    call = asyncio.create_task(request(rig, token, BASE["arguments"]))
    await page.answer(await run_once(page), {"balance": 10})
    assert (await call).json()["ok"] is True


async def test_other_arguments_under_the_same_id_are_a_conflict_and_do_not_run(rig: Rig) -> None:
    page, token = await rig.page(ADD), await grant(rig)
    await done(rig, page, token)
    answer = await request(rig, token, CASE["T2"]["arguments"])
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "call_id_conflict")
    assert "balance" not in answer.text
    assert not await was_asked_again(page)
    assert len(await audited(rig, "call.refused", code="call_id_conflict")) == 1


async def test_another_order_and_white_space_is_the_same_request(rig: Rig) -> None:
    page, token = await rig.page(ADD), await grant(rig)
    await done(rig, page, token)
    body = json.dumps({**invoke(BASE["capability"]), "call_id": CALL_ID})
    headers = {
        "Authorization": f"Bearer {token}",
        "Ostiary-Nonce": fresh_nonce(),
        "Ostiary-Timestamp": str(rig.clock.now()),
    }
    raw = body.replace('"input": {}', f'"input": {CASE["T3"]["raw_arguments"]}')
    answer = (await rig.http.post("/surface/v1", content=raw, headers=headers)).json()
    assert answer["result"]["replayed"] is True
    assert answer["result"]["result"] == {"balance": 10}
    assert not await was_asked_again(page)


async def test_a_refusal_before_admission_leaves_the_id_free(rig: Rig) -> None:
    page, token = await rig.page(ADD), await grant(rig)
    wrong, right = CASE["T4"]
    call_id = wrong["call_id"] + "-00"
    refused = await request(rig, token, wrong["arguments"], call_id)
    assert refused.json()["result"]["error"]["code"] == "arguments_invalid"
    call = asyncio.create_task(request(rig, token, right["arguments"], call_id))
    await page.answer(await run_once(page), {"balance": 10})
    assert "replayed" not in (await call).json()["result"]
    assert len(await audited(rig, "call.refused", code="arguments_invalid")) == 1


async def test_what_was_running_when_the_gateway_stopped_is_never_run_again(tmp_path: Path) -> None:
    opener, clock = SqliteOpener(tmp_path / "ostiary.sqlite3"), FakeClock()
    call_id = CASE["T5"]["call_id"] + "-00"
    store = opener()
    async with running(store, clock) as rig:
        page, token = await rig.page(ADD), await grant(rig)
        await request(rig, token, BASE["arguments"], call_id, wait=0)
        await run_once(page)  # and never answer
    await store.close()
    store = opener()
    async with running(store, clock) as rig:
        page = await rig.page(ADD)
        answer = (await request(rig, token, BASE["arguments"], call_id)).json()["result"]
        assert answer["error"]["code"] == "outcome_unknown"
        assert answer["replayed"] is True
        assert not await was_asked_again(page)
        assert len(await audited(rig, "call.lost")) == 1
    await store.close()
