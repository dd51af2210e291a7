"""A stop loses nothing: what was answered is in the ledger, and what was committed can be asked for."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from capabilities.contract import Descriptor
from gateway.domain.audit import Stream
from gateway.domain.calls import CallState
from gateway.protocol.surface import PROTOCOL
from gateway.runtime.refusals import SINGLY
from gateway.testing import FakeClock, MemoryStore
from policy.vocabulary import Confirm, Effect
from tests.interaction.page.rig import LIST
from tests.support.gateway_process import Place, client_of, invocation
from tests.support.mcp_gateway import FakePage, join_page
from tests.support.observed import observed
from tests.support.whole_gateway import DOORS, Whole, serving

pytestmark = pytest.mark.anyio

LOOK = Descriptor(
    id="todo.look", title="Look", description="Looks.", input_schema={}, effect=Effect.READ, confirm=Confirm.NEVER
)
ADD = Descriptor(id="todo.add", title="Add", description="Adds.", input_schema={"type": "object"})


async def invoke(whole: Whole, capability: str) -> dict[str, Any]:
    """Call it and wait for as long as one may."""
    services = whole.gateway.services
    headers = {"prefer": "wait=240", "ostiary-nonce": services.ids.secret()[:32]}
    knock = whole.knock("surface", **headers, **{"ostiary-timestamp": str(services.clock.now())})
    envelope = {"protocol": "pling.surface/0.1", "id": "r", "method": "invoke", "capability": capability}
    knock["content"] = json.dumps({**envelope, "input": {}}).encode()
    answer = await whole.client.request(**knock)
    return {"status": answer.status_code, **answer.json()}


async def shown(page: FakePage, kind: str) -> dict[str, Any]:
    """The frame of this type, once it came."""
    async with asyncio.timeout(10):
        while not page.of_type(kind):  # noqa: ASYNC110 - a page that keeps frames in a list
            await asyncio.sleep(0.01)
    return page.of_type(kind)[-1]


async def test_calls_under_way_end_and_new_ones_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole:
        services = whole.gateway.services
        page = await join_page(services, LOOK, ADD)
        looking = asyncio.create_task(invoke(whole, "todo.look"))
        handed = await shown(page, "invoke")
        adding = asyncio.create_task(invoke(whole, "todo.add"))
        await shown(page, "approve_request")

        draining = asyncio.create_task(whole.gateway.drain())
        await asyncio.sleep(0)
        ready = await whole.client.get(f"{whole.origin}/readyz")
        assert (ready.status_code, ready.json()["checks"]["listeners"]) == (503, "closing")
        for door in DOORS:
            refused = await whole.post(door)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert len(await whole.records("access.refused", door=door, code="busy")) == 1
        assert not draining.done()

        # The page is still there, and what it answers still counts.
        await page.answer(handed["ref"], {"seen": 1})
        assert (await looking)["result"]["result"] == {"seen": 1}
        # Nobody waits for a person: that call survives the restart.
        async with asyncio.timeout(2):
            await draining
        whole.server.stop()
        pending = await adding
        assert (pending["status"], pending["result"]["pending"]) == (200, True)
        states = await services.spine.store.run(lambda tx: {c.ref: c.state for c in tx.calls.recent(limit=10)})
        assert states == {handed["ref"]: CallState.SUCCEEDED, pending["result"]["ref"]: CallState.AWAITING_APPROVAL}


async def test_a_page_that_is_still_there_begins_nothing_new(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        assert rig.gateway is not None
        page = await rig.page(LIST)
        await rig.gateway.drain()
        envelope = {"protocol": PROTOCOL, "id": "r", "method": "invoke", "capability": LIST["id"], "input": {}}
        await page.send({"type": "surface", "id": "s", "envelope": envelope})
        reply = (await page.receive("surface_reply"))["envelope"]
        assert (reply["ok"], reply["error"]["code"]) == (False, "busy")
        assert not page.has("invoke")
        assert len(await rig.records("access.refused", door="in_page", code="busy")) == 1
        assert not await rig.records("call.admitted")


async def test_a_page_that_does_not_answer_holds_nobody_up(tmp_path: Path) -> None:
    async with serving(tmp_path, drain_ms=100) as whole:
        page = await join_page(whole.gateway.services, LOOK)
        looking = asyncio.create_task(invoke(whole, "todo.look"))
        await shown(page, "invoke")
        async with asyncio.timeout(5):
            await whole.gateway.drain()
        whole.server.stop()
        assert (await looking)["result"]["pending"] is True


async def test_what_was_counted_is_told_before_the_end(tmp_path: Path) -> None:
    store = MemoryStore()
    async with serving(tmp_path, store=store, clock=FakeClock()) as whole:
        for _ in range(SINGLY + 5):
            assert (await whole.post("surface", authorization="Bearer ost_agent_invented")).status_code == 401
    kept = await store.run(lambda tx: tx.audit.read(Stream.IDENTITY, after=0, limit=1_000))
    bodies = [json.loads(record.body) for record in kept]
    (counted,) = [body["facts"] for body in bodies if body["event"] == "access.refusals_counted"]
    assert (counted["peer"], counted["further"]) == ("127.0.0.1", 5)


@pytest.mark.timeout(300)
async def test_what_was_answered_under_load_is_kept_and_what_was_kept_can_be_asked_for(tmp_path: Path) -> None:
    place = Place(tmp_path)
    token = await place.token()
    answered: set[str] = set()
    sent: set[str] = set()

    async def caller(client: httpx.AsyncClient, name: int, enough: asyncio.Event) -> None:
        for number in range(100_000):
            text = f"{name}-{number:06d}"
            sent.add(f"call-{text}")
            try:
                answer = await client.post("/surface/v1", **invocation(token, text))
            except httpx.TransportError:
                return
            if answer.status_code == 503:
                assert answer.headers["retry-after"]
                return
            assert answer.json()["result"]["result"] == {"text": text}
            answered.add(f"call-{text}")
            if len(answered) >= 50:
                enough.set()

    async with place.serving() as running, client_of(running) as client:
        enough = asyncio.Event()
        callers = [asyncio.create_task(caller(client, name, enough)) for name in range(8)]
        await enough.wait()
        running.terminate()
        assert await running.ended() == 0
        await asyncio.gather(*callers)

    calls = await place.calls()
    assert answered <= calls.keys() <= sent
    assert set(calls.values()) == {("succeeded", True)}
