"""A caller that comes back finds its call: awake, heard, and its own (design §3, §6)."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from capabilities.contract import Readiness
from gateway.domain.calls import CallState
from gateway.domain.errors import GatewayError
from gateway.runtime.requests import Outcome
from policy.vocabulary import Effect
from tests.unit.runtime.rig import ADD, LIST, MILK, Rig

pytestmark = pytest.mark.anyio

ORDERS = replace(LIST, id="orders.list")


async def test_a_call_re_armed_after_its_page_came_back_runs(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.services.inventories.serve(session)
    page.drop()
    outcome, waiter = await rig.submit(session, "todo.list", {}, call_id="call-0001")
    assert outcome.call.state is CallState.READY
    rig.hang_up(waiter)
    await rig.settle()
    again = await rig.page(LIST, resume=page)
    assert again.invoked == []
    await rig.submit(session, "todo.list", {}, call_id="call-0001")
    assert again.invoked == [outcome.call.ref]


async def test_a_call_re_armed_by_a_status_request_runs_too(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.services.inventories.serve(session)
    page.drop()
    outcome, waiter = await rig.submit(session, "todo.list", {})
    rig.hang_up(waiter)
    await rig.settle()
    again = await rig.page(LIST, resume=page)
    await rig.services.calls.status(session, outcome.call.ref)
    await rig.settle()
    assert again.invoked == [outcome.call.ref]


async def test_an_orphan_is_neither_approved_nor_dispatched_and_cancelled_after_30_s(rig: Rig) -> None:
    page = await rig.page(ADD)
    session = await rig.grant()
    outcome, waiter = await rig.submit(session, "todo.add", MILK)
    rig.hang_up(waiter)
    await rig.settle()
    assert (await rig.call(outcome.call.ref)).is_orphaned
    await page.decide()
    assert page.invoked == []
    assert len(await rig.records("approval.refused", code="agent_left")) == 1
    await rig.after(30_000)
    ended = await rig.call(outcome.call.ref)
    assert (ended.state, ended.message) == (CallState.CANCELLED, "its caller left")
    await page.decide()
    assert page.invoked == []


async def test_an_orphan_ready_to_go_waits_for_its_caller(rig: Rig) -> None:
    watched = replace(LIST, readiness=Readiness.FOREGROUND_REQUIRED)
    page = await rig.page(watched, visible=False)
    session = await rig.grant()
    outcome, waiter = await rig.submit(session, "todo.list", {}, call_id="call-0001")
    assert outcome.call.state is CallState.WAITING_ACTIVATION
    rig.hang_up(waiter)
    await rig.settle()
    rig.services.pages.show(page.id, visible=True)
    await rig.settle()
    assert page.invoked == []
    await rig.submit(session, "todo.list", {}, call_id="call-0001")
    assert page.invoked == [outcome.call.ref]


async def test_a_retry_that_crosses_the_hang_up_is_no_orphan(rig: Rig) -> None:
    await rig.page(ADD)
    session = await rig.grant()
    outcome, first = await rig.submit(session, "todo.add", MILK, call_id="call-0001")
    retrying = asyncio.create_task(
        rig.services.calls.submit(rig.request(session, "todo.add", MILK, call_id="call-0001"))
    )
    # Wherever in the retry's way to its call the first connection ends.
    for _ in range(3):
        await asyncio.sleep(0)
    rig.hang_up(first)
    await retrying
    await rig.settle()
    assert not (await rig.call(outcome.call.ref)).is_orphaned


@pytest.mark.parametrize("steps", range(8))
async def test_a_retry_hears_of_an_end_wherever_it_crosses_it(rig: Rig, steps: int) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    outcome, _ = await rig.submit(session, "todo.list", {}, call_id="call-0001")
    retrying = asyncio.create_task(
        rig.services.calls.submit(rig.request(session, "todo.list", {}, call_id="call-0001"))
    )
    for _ in range(steps):
        await asyncio.sleep(0)
    await page.answer(outcome.call.ref, [])
    again: tuple[Outcome, Any] = await retrying
    heard = await rig.services.calls.wait(*again, 0.1)
    assert heard.call.state is CallState.SUCCEEDED


async def test_a_retry_that_leaves_at_once_leaves_an_orphan(rig: Rig) -> None:
    await rig.page(ADD)
    session = await rig.grant()
    outcome, waiter = await rig.submit(session, "todo.add", MILK, call_id="call-0001")
    rig.hang_up(waiter)
    await rig.settle()
    for steps in range(6):
        retrying = asyncio.create_task(
            rig.services.calls.submit(rig.request(session, "todo.add", MILK, call_id="call-0001"))
        )
        for _ in range(steps):
            await asyncio.sleep(0)
        retrying.cancel()
        (found,) = await asyncio.gather(retrying, return_exceptions=True)
        if not isinstance(found, BaseException):
            # It had its call before it left.
            rig.hang_up(found[1])
        await rig.settle()
        assert (await rig.call(outcome.call.ref)).is_orphaned, steps
    assert not vars(rig.services.calls.attendance)["_waiters"]


async def test_another_session_gets_no_call_beyond_its_scope(rig: Rig) -> None:
    page = await rig.page(LIST, ORDERS)
    wide, narrow = await rig.grant(), await rig.grant(scope=["todo.*"])
    outcome, _ = await rig.submit(wide, "orders.list", {}, call_id="call-0001")
    await page.answer(outcome.call.ref, ["secret"])
    with pytest.raises(GatewayError) as refusal:
        await rig.submit(narrow, "orders.list", {}, call_id="call-0001")
    assert refusal.value.code.wire == "unknown_capability"
    with pytest.raises(GatewayError) as refusal:
        await rig.submit(narrow, "todo.list", {}, call_id="call-0001")
    assert refusal.value.code.wire == "call_id_conflict"
    assert outcome.call.ref not in str(refusal.value.facts)


async def test_another_session_gets_no_call_of_a_site_it_does_not_name(rig: Rig) -> None:
    page = await rig.page(LIST)
    here, there = await rig.grant(), await rig.grant(sites=["shop"])
    outcome, _ = await rig.submit(here, "todo.list", {}, call_id="call-0001")
    await page.answer(outcome.call.ref, ["secret"])
    for name in (outcome.call.ref, "call-0001", "call-9999"):
        with pytest.raises(GatewayError) as refusal:
            await rig.services.calls.status(there, name)
        assert refusal.value.code.wire == "unknown_call"
        with pytest.raises(GatewayError) as refusal:
            await rig.services.calls.cancel(there, name)
        assert refusal.value.code.wire == "unknown_call"
    with pytest.raises(GatewayError) as refusal:
        await rig.submit(there, "todo.list", {}, call_id="call-0001")
    assert refusal.value.code.wire == "unknown_capability"


async def test_three_equal_calls_at_once_are_three_calls(rig: Rig) -> None:
    page = await rig.page(replace(LIST, effect=Effect.WRITE), ADD)
    session = await rig.grant()
    await rig.services.inventories.serve(session)
    submitted = await asyncio.gather(
        *(rig.services.calls.submit(rig.request(session, "todo.add", MILK, may_join=True)) for _ in range(3))
    )
    assert len({outcome.call.ref for outcome, _ in submitted}) == 3
    assert not any(outcome.replayed for outcome, _ in submitted)
    assert len(page.connection.of("approve_request")) == 3
