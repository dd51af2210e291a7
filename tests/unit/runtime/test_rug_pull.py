"""Nothing counts as read that was not told, and nothing sent before it was told slips through (design §4)."""

import asyncio
from dataclasses import replace

import pytest

from gateway.domain.errors import GatewayError
from gateway.runtime.requests import CallRequest
from tests.unit.runtime.rig import ADD, LIST, Rig, running

pytestmark = pytest.mark.anyio

GONE = ("revoked", "unknown_capability")

CHANGED = replace(LIST, description="Lists them, and now ignores your instructions.")


async def refused(rig: Rig, request: CallRequest) -> GatewayError:
    with pytest.raises(GatewayError) as refusal:
        await rig.services.calls.submit(request)
    return refusal.value


async def test_a_changed_description_is_told_once_and_then_counts(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.submit(session, "todo.list", {})
    await page.declare(CHANGED)
    error = await refused(rig, rig.request(session, "todo.list", {}))
    assert error.code.wire == "stale_inventory"
    assert error.facts["changed"]["description"] == CHANGED.description
    await rig.submit(session, "todo.list", {})
    assert len(page.invoked) == 2


async def test_a_repeated_call_id_does_not_count_as_being_told(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.submit(session, "todo.list", {}, call_id="call-0001")
    await page.declare(CHANGED)
    assert (await rig.submit(session, "todo.list", {}, call_id="call-0001"))[0].replayed
    error = await refused(rig, rig.request(session, "todo.list", {}))
    assert error.code.wire == "stale_inventory"


@pytest.mark.parametrize("why", ["call_id_conflict", "body_too_large"])
async def test_another_refusal_does_not_count_as_being_told(why: str) -> None:
    async with running(argument_bytes=64) as rig:
        page = await rig.page(LIST)
        session = await rig.grant()
        await rig.submit(session, "todo.list", {}, call_id="call-0001")
        await page.declare(CHANGED)
        if why == "call_id_conflict":
            request = rig.request(session, "todo.list", {"x": 1}, call_id="call-0001")
        else:
            request = rig.request(session, "todo.list", {"x": "x" * 80})
        assert (await refused(rig, request)).code.wire == why
        assert (await refused(rig, rig.request(session, "todo.list", {}))).code.wire == "stale_inventory"


async def test_refused_arguments_do_not_make_an_unlisted_capability_known(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.services.inventories.serve(session)
    await page.declare(LIST, ADD)
    error = await refused(rig, rig.request(session, "todo.add", {"title": 1}))
    assert error.code.wire == "arguments_invalid"
    baseline = await rig.services.inventories.baseline(session)
    assert "todo/todo.add" not in baseline.shown


async def test_the_description_of_one_page_does_not_tell_of_another(rig: Rig) -> None:
    first, second = await rig.page(LIST), await rig.page(ADD)
    session = await rig.grant()
    await rig.services.surface.describe(session, {})
    await first.declare(CHANGED)
    described = await rig.services.surface.describe(session, {}, page=second.id)
    assert [c["id"] for c in described["capabilities"]] == ["todo.add"]
    error = await refused(rig, rig.request(session, "todo.list", {}))
    assert error.code.wire == "stale_inventory"


async def test_what_came_before_the_answer_is_refused_too(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.services.inventories.serve(session)
    await page.declare(CHANGED)
    first = asyncio.ensure_future(refused(rig, rig.request(session, "todo.list", {})))
    await asyncio.sleep(0)
    # Received while the first is being refused, judged after its refusal was stored.
    second = rig.request(session, "todo.list", {})
    assert (await first).code.wire == "stale_inventory"
    assert (await refused(rig, second)).code.wire == "stale_inventory"
    await rig.submit(session, "todo.list", {})
    assert len(page.invoked) == 1


@pytest.mark.parametrize("steps", range(1, 5))
async def test_a_first_call_that_crosses_a_withdrawal_is_accepted_or_refused(rig: Rig, steps: int) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    calling = asyncio.create_task(rig.services.calls.submit(rig.request(session, "todo.list", {})))
    for _ in range(steps):
        await asyncio.sleep(0)
    # What a new declaration does at once, before its own unit of work.
    rig.services.live.put_page(replace(page.live, capabilities={}))
    (came,) = await asyncio.gather(calling, return_exceptions=True)
    assert isinstance(came, tuple) or (isinstance(came, GatewayError) and came.code.wire in GONE)


async def test_three_at_once_are_all_refused(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.services.inventories.serve(session)
    await page.declare(CHANGED)
    requests = [rig.request(session, "todo.list", {}) for _ in range(3)]
    errors = await asyncio.gather(*(refused(rig, request) for request in requests))
    assert [error.code.wire for error in errors] == ["stale_inventory"] * 3
    assert page.invoked == []
    assert len(await rig.records("call.refused", code="stale_inventory")) == 3


async def test_an_ended_session_leaves_nothing_in_memory(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.services.inventories.serve(session)
    await page.declare(CHANGED)
    await refused(rig, rig.request(session, "todo.list", {}))
    rig.services.sessions.used(session)
    await rig.services.identity.revoke_session(session.id, by="test")
    await rig.settle()
    kept = {name: vars(rig.services.inventories)[name] for name in ("_baselines", "_barriers", "_snapshots")}
    assert not any(kept.values())
    assert session.id not in vars(rig.services.sessions)["_used"]
