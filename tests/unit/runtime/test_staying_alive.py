"""What fails in the background is tried again or told to the log; it never stops what came with it."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from capabilities.contract import CallContext, HandlerKind
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.effects import Execute, Told
from gateway.runtime.identity import AGENT_PREFIX, hash_of
from gateway.runtime.ports import StaleState, StoreBusy, StoreUnavailable
from tests.unit.runtime.rig import ADD, LIST, MILK, Rig, running

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("failure", [StoreBusy, StoreUnavailable, StaleState, KeyError])
async def test_the_sweeper_survives_whatever_a_look_meets(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
) -> None:
    await rig.page(ADD)
    session = await rig.grant()
    outcome, _ = await rig.submit(session, "todo.add", MILK)
    sweep, looks = rig.sweeper.sweep, 0

    async def failing_once() -> int | None:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise failure("once")
        return await sweep()

    monkeypatch.setattr(rig.sweeper, "sweep", failing_once)
    sweeping = asyncio.create_task(rig.sweeper.run())
    await rig.settle()
    rig.clock.advance(120_000)
    await rig.settle()
    assert (await rig.call(outcome.call.ref)).state is CallState.EXPIRED
    sweeping.cancel()
    with suppress(asyncio.CancelledError):
        await sweeping


async def test_one_call_that_cannot_be_swept_holds_up_no_other(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    await rig.page(ADD)
    session = await rig.grant()
    first, _ = await rig.submit(session, "todo.add", MILK)
    second, _ = await rig.submit(session, "todo.add", {"title": "bread"})
    expire: Any = vars(type(rig.sweeper))["_expire"]

    async def failing(ref: str) -> None:
        if ref == first.call.ref:
            raise StaleState("again and again")
        await expire(rig.sweeper, ref)

    monkeypatch.setattr(rig.sweeper, "_expire", failing)
    await rig.after(120_000)
    assert (await rig.call(second.call.ref)).state is CallState.EXPIRED


async def test_an_effect_that_fails_takes_no_other_with_it(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    page = await rig.page(ADD)
    session = await rig.grant()
    outcome, _ = await rig.submit(session, "todo.add", MILK)
    handlers: dict[type[Any], Any] = vars(rig.services.spine)["_handlers"]

    def broken(_: Told) -> None:
        raise RuntimeError("a listener is broken")

    monkeypatch.setitem(handlers, Told, broken)
    assert Execute in handlers
    await page.decide()
    assert page.invoked == [outcome.call.ref]


async def test_a_revocation_whose_caller_leaves_still_closes_the_door(rig: Rig) -> None:
    grant = await rig.services.admin.add_session("alice", user="ann", sites=["todo"], scope=["todo.*"], by="test")
    assert grant.token.startswith(AGENT_PREFIX)
    assert (await rig.services.identity.agent(grant.token)).token_hash == hash_of(grant.token)
    revoking = asyncio.create_task(rig.services.identity.revoke_session(grant.session.id, by="test"))
    await asyncio.sleep(0)
    revoking.cancel()
    await rig.settle()
    with pytest.raises(GatewayError) as refusal:
        await rig.services.identity.agent(grant.token)
    assert refusal.value.code is ErrorCode.SESSION_REVOKED


async def test_the_person_ends_all_sessions_of_an_agent_though_they_close_the_tab(rig: Rig) -> None:
    sessions = [await rig.grant() for _ in range(3)]
    other = await rig.grant("bob")
    ending = asyncio.create_task(rig.services.sessions.disconnect("alice", "ann", "todo"))
    await asyncio.sleep(0)
    ending.cancel()
    await rig.settle()
    rows = {s.id: s for s in await rig.store.run(lambda tx: list(tx.sessions.list()))}
    assert all(rows[session.id].revoked_at is not None for session in sessions)
    assert rows[other.id].revoked_at is None
    assert len(await rig.records("session.revoked", by="user:ann")) == 3


async def test_taken_results_are_noted_though_the_store_failed_meanwhile(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    outcome, waiter = await rig.submit(session, "todo.list", {})
    await page.answer(outcome.call.ref, [])
    ended = await rig.services.calls.wait(outcome, waiter, 1.0)
    rig.store.is_failing = True
    rig.services.calls.take(ended.call)
    await rig.settle()
    rig.clock.advance(200)
    await rig.settle()
    rig.store.is_failing = False

    other, waiter = await rig.submit(session, "todo.list", {"again": True})
    await page.answer(other.call.ref, [])
    rig.services.calls.take((await rig.services.calls.wait(other, waiter, 1.0)).call)
    await rig.settle()
    rig.clock.advance(200)
    await rig.settle()
    assert (await rig.call(outcome.call.ref)).taken
    assert not vars(rig.services.calls)["_taken"]


async def once_the_store_is_back(rig: Rig) -> None:
    """Let the store fail a while longer, then take everything again."""
    await rig.settle()
    rig.store.is_failing = False
    await rig.services.spine.drain()


async def test_the_answer_of_a_built_in_outlives_a_store_that_fails() -> None:
    may_end = asyncio.Event()

    async def handle(_: dict[str, Any], __: CallContext) -> dict[str, Any]:
        await may_end.wait()
        return {"done": True}

    declared = replace(LIST, id="runtime.wait", handler=HandlerKind.RUNTIME)
    async with running(builtins={"runtime.wait": (declared, handle)}) as rig:
        session = await rig.grant(scope=["runtime.wait"])
        outcome, waiter = await rig.submit(session, "runtime.wait", {})
        rig.store.is_failing = True
        may_end.set()
        await once_the_store_is_back(rig)
        ended = await rig.services.calls.wait(outcome, waiter, 1.0)
        assert (ended.call.state, ended.result and ended.result.output) == (CallState.SUCCEEDED, '{"done":true}')


async def test_what_never_reached_its_page_is_told_though_the_store_fails(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await rig.page(LIST)

    def both_gone(frame: dict[str, Any]) -> bool:
        rig.store.is_failing = frame["type"] == "invoke"
        return False

    monkeypatch.setattr(page.connection, "send", both_gone)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    await once_the_store_is_back(rig)
    assert (await rig.call(outcome.call.ref)).code is ErrorCode.NOT_DELIVERED


async def test_a_hang_up_is_marked_though_the_store_fails(rig: Rig) -> None:
    await rig.page(ADD)
    outcome, waiter = await rig.submit(await rig.grant(), "todo.add", MILK)
    rig.store.is_failing = True
    rig.hang_up(waiter)
    await once_the_store_is_back(rig)
    assert (await rig.call(outcome.call.ref)).is_orphaned


async def test_the_calls_of_a_forgotten_page_end_though_the_store_fails(rig: Rig) -> None:
    page = await rig.page(LIST)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    page.drop()
    rig.store.is_failing = True
    sweeping = asyncio.create_task(rig.services.pages.sweep(rig.clock.now() + 10_000))
    await once_the_store_is_back(rig)
    await sweeping
    assert (await rig.call(outcome.call.ref)).state is CallState.UNKNOWN


async def test_a_gateway_that_stops_insists_no_longer(rig: Rig) -> None:
    await rig.page(ADD)
    outcome, waiter = await rig.submit(await rig.grant(), "todo.add", MILK)
    rig.store.is_failing = True
    rig.hang_up(waiter)
    await rig.settle()
    rig.services.spine.close()
    await rig.services.spine.drain()
    rig.store.is_failing = False
    assert not (await rig.call(outcome.call.ref)).is_orphaned
