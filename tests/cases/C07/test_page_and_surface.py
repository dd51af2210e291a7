"""C07: hostile JSON text over the surface protocol and the page channel, in both directions.

Differs from the case: the short call_ids are padded where a call must exist (rules J).
"""

import asyncio
import json
from pathlib import Path

import pytest

from gateway.domain.calls import CallState
from tests.interaction.page.rig import LIST, Rig, running

pytestmark = pytest.mark.anyio

INPUTS = {name: (Path(__file__).parent / f"input-{name}.json").read_text() for name in ("duplicate", "surrogate")}
READ = {**LIST, "id": "notes.read"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _post(rig: Rig, token: str, body: bytes) -> object:
    headers = {
        "Authorization": f"Bearer {token}",
        "Ostiary-Nonce": "nonce-0000000001",
        "Ostiary-Timestamp": str(rig.clock.now()),
    }
    return await rig.http.post("/surface/v1", content=body, headers=headers)


@pytest.mark.parametrize("name", INPUTS)
async def test_a_body_is_refused_once_in_the_trail_and_the_connection_goes_on(name: str) -> None:
    async with running() as rig:
        page = await rig.page(READ, {**READ, "id": "notes.delete"})
        _, token = await rig.grant()
        answer = await rig.http.post(
            "/surface/v1", content=INPUTS[name], headers={"Authorization": f"Bearer {token}"}
        )
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_json")
        answer.content.decode()
        assert len(await rig.records("access.refused", door="surface", code="bad_json")) == 1
        assert not page.has("invoke")
        assert not await rig.store.run(lambda tx: list(tx.calls.open_calls()))
        # The next request on the connection works.
        good = {"protocol": "pling.surface/0.1", "id": "r", "method": "status", "input": {"ref": "none"}}
        answer = await rig.http.post("/surface/v1", json=good, headers={"Authorization": f"Bearer {token}"})
        assert answer.json()["error"]["code"] == "unknown_call"


@pytest.mark.parametrize("name", INPUTS)
async def test_a_frame_is_answered_and_the_page_socket_stays_open(name: str) -> None:
    async with running() as rig:
        page = await rig.page(READ)
        await page.socket.send(f'{{"type":"surface","id":"s1","envelope":{INPUTS[name]}}}')
        assert (await page.receive("error"))["code"] == "bad_json"
        assert len(await rig.records("frame.refused", code="bad_json")) == 1
        assert (await page.declare(READ, seq=2))["accepted"]


@pytest.mark.parametrize("output", ['{"id":"n1","id":"n2"}', '{"\\ud800":1}', '"\\udc00"'])
async def test_a_result_is_refused_and_a_good_one_still_counts(output: str) -> None:
    async with running() as rig:
        page = await rig.page(READ)
        session, _ = await rig.grant()
        submitted = await rig.submit(session, "notes.read", {})
        invoke = await page.receive("invoke")
        await page.socket.send(
            f'{{"type":"result","ref":"{invoke["ref"]}","epoch":{invoke["epoch"]},"ok":true,"output":{output}}}'
        )
        assert (await page.receive("error"))["code"] == "bad_json"
        assert (await rig.call(invoke["ref"])).state is CallState.DISPATCHED
        await page.answer(invoke, {"id": "n1"})
        outcome = await rig.outcome(submitted)
        assert outcome.result is not None
        assert json.loads(outcome.result.output) == {"id": "n1"}


async def test_a_key_that_occurs_twice_anywhere_in_the_arguments_runs_nothing() -> None:
    async with running() as rig:
        page = await rig.page(READ)
        _, token = await rig.grant()
        body = (
            b'{"protocol":"pling.surface/0.1","id":"r","method":"invoke","capability":"notes.read",'
            b'"input":{"a":{"id":"n1","id":"n2"}}}'
        )
        answer = await asyncio.wait_for(_post(rig, token, body), 5)
        assert getattr(answer, "status_code", 0) == 400
        assert not page.has("invoke")
