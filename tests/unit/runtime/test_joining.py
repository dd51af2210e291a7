"""Without a key, an equal request finds the call of a caller that left, and no other (design §6)."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.runtime.attendance import Waiter
from gateway.runtime.requests import Outcome
from policy.model import Rule
from policy.vocabulary import Verdict
from tests.unit.runtime.rig import ADD, LIST, MILK, Rig, running

pytestmark = pytest.mark.anyio

PERMIT = Rule(id="yes", agents=("*",), capabilities=("todo.*",), verdict=Verdict.PERMIT)


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running(rules=(PERMIT,)) as made:
        yield made


async def three(rig: Rig) -> tuple[list[tuple[Outcome, Waiter]], Rig]:
    session = await rig.grant()
    await rig.services.inventories.serve(session)
    requests = [rig.request(session, "todo.add", MILK, may_join=True) for _ in range(3)]
    return list(await asyncio.gather(*(rig.services.calls.submit(request) for request in requests))), rig


async def take(rig: Rig, outcome: Outcome, waiter: Waiter) -> None:
    ended = await rig.services.calls.wait(outcome, waiter, 1.0)
    rig.services.calls.attendance.leave(waiter)
    rig.services.calls.take(ended.call)


async def test_three_at_once_are_three_and_each_runs_once(rig: Rig) -> None:
    page = await rig.page(ADD)
    calls, _ = await three(rig)
    assert sorted(page.invoked) == sorted(outcome.call.ref for outcome, _ in calls)
    assert len(set(page.invoked)) == 3


@pytest.mark.parametrize("left", [0, 1, 2])
async def test_a_retry_finds_the_one_whose_caller_left_among_equals(rig: Rig, left: int) -> None:
    page = await rig.page(ADD)
    calls, _ = await three(rig)
    for number, (outcome, waiter) in enumerate(calls):
        await page.answer(outcome.call.ref, number)
        if number == left:
            rig.hang_up(waiter)
        else:
            await take(rig, outcome, waiter)
    session = await rig.store.run(lambda tx: tx.sessions.find(calls[0][0].call.session))
    assert session is not None
    again, waiter = await rig.submit(session, "todo.add", MILK, may_join=True)
    assert again.replayed
    assert again.call.ref == calls[left][0].call.ref
    await take(rig, again, waiter)
    fresh, _ = await rig.submit(session, "todo.add", MILK, may_join=True)
    assert not fresh.replayed
    assert len(page.invoked) == 4


async def test_a_taken_result_answers_nobody_else(rig: Rig) -> None:
    page = await rig.page(ADD)
    session = await rig.grant()
    outcome, waiter = await rig.submit(session, "todo.add", MILK, may_join=True)
    await page.answer(outcome.call.ref, 1)
    await take(rig, outcome, waiter)
    again, _ = await rig.submit(session, "todo.add", MILK, may_join=True)
    assert again.call.ref != outcome.call.ref


async def test_an_untaken_result_answers_for_ten_minutes(rig: Rig) -> None:
    page = await rig.page(ADD)
    session = await rig.grant()
    outcome, waiter = await rig.submit(session, "todo.add", MILK, may_join=True)
    await page.answer(outcome.call.ref, 1)
    rig.hang_up(waiter)
    rig.clock.advance(600_000)
    again, _ = await rig.submit(session, "todo.add", MILK, may_join=True)
    assert again.replayed
    rig.hang_up(_)
    rig.clock.advance(1)
    fresh, _ = await rig.submit(session, "todo.add", MILK, may_join=True)
    assert not fresh.replayed


async def test_neither_reads_nor_other_sessions_join(rig: Rig) -> None:
    await rig.page(ADD, LIST)
    session, other = await rig.grant(), await rig.grant()
    outcome, waiter = await rig.submit(session, "todo.add", MILK, may_join=True)
    rig.hang_up(waiter)
    elsewhere, _ = await rig.submit(other, "todo.add", MILK, may_join=True)
    assert elsewhere.call.ref != outcome.call.ref
    read, waiter = await rig.submit(session, "todo.list", {}, may_join=True)
    rig.hang_up(waiter)
    again, _ = await rig.submit(session, "todo.list", {}, may_join=True)
    assert again.call.ref != read.call.ref
