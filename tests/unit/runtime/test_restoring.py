"""A gateway whose database is one of an earlier day lets nothing of the past happen again (design §1, §6)."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.mini_apps import AppState
from gateway.domain.operations import OperationState
from gateway.runtime.joining import Hello
from gateway.runtime.restoring import Restored, mark_restored
from gateway.testing import FakeClock, MemoryStore
from tests.contract.samples import a_mini_app, an_app_version
from tests.unit.runtime.focus import MINUTE, a_screen, focus, with_focus
from tests.unit.runtime.rig import ADD, LIST, MILK, ORIGIN, Connection, running

pytestmark = pytest.mark.anyio

WINDOW = 300_000


async def restored(store: MemoryStore, clock: FakeClock, *, keep_grants: bool = True) -> Restored:
    return await store.run(
        lambda tx: mark_restored(tx, clock.now(), window_ms=WINDOW, keep_grants=keep_grants, by="local:ada")
    )


async def refused(rig: Any, session: Any, **more: Any) -> ErrorCode:
    with pytest.raises(GatewayError) as refusal:
        await rig.submit(session, "todo.list", {}, **more)
    return refusal.value.code


async def test_an_approval_from_before_is_worth_nothing_and_its_call_does_not_claim_that_nothing_happened() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page = await rig.page(ADD)
        session = await rig.grant()
        asked, _ = await rig.submit(session, "todo.add", MILK, call_id="call-0001")
        shown = page.connection.of("approve_request")[0]["payload"]
    await restored(store, clock)
    async with running(store, clock) as rig:
        call = await rig.call(asked.call.ref)
        assert (call.state, call.code) == (CallState.CANCELLED, ErrorCode.OUTCOME_UNKNOWN)
        assert "restored from a backup" in (call.message or "")
        again = await rig.page(ADD, resume=page)
        assert again.id != page.id, "its page session ended"
        assert again.connection.of("approve_request") == []
        found, _ = await rig.submit(session, "todo.add", MILK, call_id="call-0001")
        assert (found.replayed, found.call.state) == (True, CallState.CANCELLED)
        assert again.invoked == []
        assert len(await rig.records("approval.withdrawn", ref=asked.call.ref)) == 1
        assert shown


async def test_a_result_of_work_handed_out_before_reaches_no_call() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page = await rig.page(LIST)
        outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    await restored(store, clock)
    async with running(store, clock) as rig:
        again = await rig.page(LIST, resume=page, seen=[outcome.call.ref])
        assert await again.answer(outcome.call.ref, []) is None
        assert (await rig.call(outcome.call.ref)).state is CallState.UNKNOWN


async def test_stamps_from_before_are_refused_also_where_they_lie_ahead() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        session = await rig.grant()
    stamp = clock.now() + WINDOW - 1
    told = await restored(store, clock)
    async with running(store, clock) as rig:
        await rig.page(LIST)
        nonce = {"nonce": "n" * 16, "nonce_until": stamp + 2 * WINDOW}
        assert await refused(rig, session, call_id="call-0001", **nonce) is ErrorCode.CALL_TOO_OLD
        assert await refused(rig, session, call_id="call-0002", issued_at=stamp) is ErrorCode.CALL_TOO_OLD
        assert len(await rig.records("call.refused", code="call_too_old")) == 2
        clock.advance(told.refused_until - clock.now())
        fresh = clock.now()
        outcome, _ = await rig.submit(
            session, "todo.list", {}, issued_at=fresh, nonce="m" * 16, nonce_until=fresh + 2 * WINDOW
        )
        assert outcome.call.state is CallState.DISPATCHED


async def test_a_ticket_from_before_opens_nothing() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        ticket = await rig.ticket("ann", "todo")
    assert (await restored(store, clock)).tickets == 1
    async with running(store, clock) as rig:
        hello = Hello(
            site="todo",
            document="document-1",
            ticket=ticket,
            resume=None,
            seen=frozenset(),
            url=f"{ORIGIN}/list",
            title="List",
            visible=True,
            automated=False,
            origin=ORIGIN,
        )
        with pytest.raises(GatewayError) as refusal:
            await rig.services.pages.join(hello, Connection())
        assert refusal.value.code is ErrorCode.UNAUTHENTICATED


@pytest.mark.parametrize("keep_grants", [False, True])
async def test_grants_end_unless_they_are_to_be_kept(keep_grants: bool) -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        grant = await rig.services.admin.add_session("alice", user="ann", sites=["todo"], scope=["todo.*"], by="test")
        secret = (await rig.services.admin.add_key("todo", by="test")).secret
    app = a_mini_app(state=AppState.ENABLED)
    await store.run(lambda tx: (tx.mini_apps.put(app), tx.mini_apps.add_version(an_app_version(digest=app.digest))))
    told = await restored(store, clock, keep_grants=keep_grants)
    assert (told.sessions, told.keys, told.apps) == ((0, 0, 0) if keep_grants else (1, 1, 1))
    found = await store.run(lambda tx: tx.mini_apps.find(app.id))
    assert found is not None
    assert found.is_enabled == keep_grants
    async with running(store, clock) as rig:
        if keep_grants:
            found = await rig.services.identity.agent(grant.token)
            assert replace(found) == grant.session
            await rig.services.identity.site_key(secret)
        else:
            with pytest.raises(GatewayError) as refusal:
                await rig.services.identity.agent(grant.token)
            assert refusal.value.code is ErrorCode.SESSION_REVOKED
            with pytest.raises(GatewayError):
                await rig.services.identity.site_key(secret)
        (record,) = await rig.records("gateway.restored")
        assert record["by"] == "local:ada"


@pytest.mark.parametrize("keep_grants", [False, True])
async def test_work_that_went_on_at_the_backup_is_as_unknown_as_its_call(keep_grants: bool) -> None:
    """It may have been interrupted since, or be complete: nobody is told the one or the other of it."""
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        screen, session = await a_screen(rig), await rig.grant(scope=["focus.*"])
        outcome, _ = await rig.submit(session, "focus.start", {"minutes": 10}, call_id="call-0001")
        await screen.come_to_front()
    ref = outcome.call.ref
    assert (await restored(store, clock, keep_grants=keep_grants)).lost == 1
    async with running(store, clock, offered=[focus()], **with_focus()) as rig:
        await rig.after(10 * MINUTE)
        assert (await rig.call(ref)).state is CallState.UNKNOWN
        operation = await store.run(lambda tx: tx.operations.find_of_call(ref))
        assert operation is not None
        assert operation.state is OperationState.UNKNOWN
        assert len(await rig.records("operation.ended", ref=ref, state="unknown")) == 1
        await rig.services.admin.reconcile(ref, succeeded=True, by="local:ada")
        operation = await store.run(lambda tx: tx.operations.find_of_call(ref))
        assert operation is not None
        assert operation.state is OperationState.COMPLETED
