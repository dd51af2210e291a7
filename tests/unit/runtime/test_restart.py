"""A restart runs nothing again and approves nothing by itself; what it cannot know is `unknown` (design §13)."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.rig import ADD, LIST, MILK, Document, Rig, running

pytestmark = pytest.mark.anyio

SECRET = replace(
    ADD,
    id="todo.unlock",
    input_schema={
        "type": "object",
        "properties": {"password": {"type": "string", "writeOnly": True}},
        "required": ["password"],
    },
)
PASSWORD: dict[str, Any] = {"password": "correct-horse"}


def everything(store: MemoryStore) -> str:
    """All that is stored, as text."""
    return repr(vars(store)["_tables"])


async def test_what_was_dispatched_is_unknown_and_never_run_again() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page = await rig.page(LIST)
        session = await rig.grant()
        outcome, _ = await rig.submit(session, "todo.list", {}, call_id="call-0001")
        assert page.invoked == [outcome.call.ref]
    async with running(store, clock) as rig:
        lost = await rig.call(outcome.call.ref)
        assert (lost.state, lost.code) == (CallState.UNKNOWN, ErrorCode.OUTCOME_UNKNOWN)
        again = await rig.page(LIST, resume=page, seen=[outcome.call.ref])
        found, _ = await rig.submit(session, "todo.list", {}, call_id="call-0001")
        assert (found.replayed, found.call.state) == (True, CallState.UNKNOWN)
        assert again.invoked == []
        assert await again.answer(outcome.call.ref, [1])
        late = await rig.call(outcome.call.ref)
        assert (late.state, late.late) == (CallState.SUCCEEDED, True)
        assert await store.run(lambda tx: tx.calls.usage()) == (1, 0)


PROMISED = replace(LIST, output_schema={"type": "array", "items": {"type": "integer"}})


@pytest.mark.parametrize(("output", "state"), [([1], CallState.SUCCEEDED), (["one"], CallState.FAILED)])
@pytest.mark.parametrize("declares", ["nothing yet", "something else"])
async def test_a_late_answer_is_held_to_the_promise_its_call_was_accepted_under(
    output: Any, state: CallState, declares: str
) -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page = await rig.page(PROMISED)
        outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    async with running(store, clock) as rig:
        again = await rig.page(*([ADD] if declares == "something else" else []), resume=page, seen=[outcome.call.ref])
        assert await again.answer(outcome.call.ref, output)
        late = await rig.call(outcome.call.ref)
        assert (late.state, late.late) == (state, True)
        kept = await store.run(lambda tx: (tx.calls.result_of(late.ref), tx.calls.promise_of(late.ref)))
        assert (kept[0] is not None, kept[1]) == (state is CallState.SUCCEEDED, None)


async def test_an_open_question_survives_and_is_asked_of_the_same_document_only() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page = await rig.page(ADD)
        session = await rig.grant()
        outcome, _ = await rig.submit(session, "todo.add", MILK)
        shown = page.connection.of("approve_request")[0]["payload"]
    async with running(store, clock) as rig:
        assert (await rig.call(outcome.call.ref)).state is CallState.AWAITING_APPROVAL
        stranger = await rig.page(ADD)
        assert stranger.connection.of("approve_request") == []
        again = await rig.page(ADD, resume=page)
        assert [frame["payload"] for frame in again.connection.of("approve_request")] == [shown]
        assert again.invoked == []
        await again.decide()
        assert again.invoked == [outcome.call.ref]
        await again.decide()
        assert again.invoked == [outcome.call.ref]


async def test_time_goes_on_while_it_is_down() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page = await rig.page(ADD)
        outcome, _ = await rig.submit(await rig.grant(), "todo.add", MILK)
    clock.advance(120_000)
    async with running(store, clock) as rig:
        ended = await rig.call(outcome.call.ref)
        assert (ended.state, ended.code) == (CallState.EXPIRED, ErrorCode.APPROVAL_EXPIRED)
        again = await rig.page(ADD, resume=page)
        assert again.connection.of("approve_request") == []


async def secret_asked(rig: Rig) -> tuple[Document, str]:
    page = await rig.page(SECRET)
    outcome, _ = await rig.submit(await rig.grant(), "todo.unlock", PASSWORD)
    assert json.loads(page.connection.of("approve_request")[0]["payload"])["input"] == json.dumps(
        PASSWORD, separators=(",", ":")
    )
    return page, outcome.call.ref


async def test_a_secret_is_shown_and_handed_over_and_never_stored() -> None:
    store = MemoryStore()
    async with running(store) as rig:
        page, ref = await secret_asked(rig)
        assert "correct-horse" not in everything(store)
        await page.decide()
        assert json.loads(page.connection.of("invoke")[0]["input"]) == PASSWORD
        assert "correct-horse" not in everything(store)
        await page.answer(ref, True)
        assert not vars(vars(rig.services.calls)["_vault"])["_texts"]


async def test_a_secret_that_waits_is_cancelled_at_a_restart() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page, ref = await secret_asked(rig)
    async with running(store, clock) as rig:
        ended = await rig.call(ref)
        assert (ended.state, ended.message) == (CallState.CANCELLED, "cancelled: restart")
        again = await rig.page(SECRET, resume=page)
        assert (again.invoked, again.connection.of("approve_request")) == ([], [])


@pytest.mark.parametrize("how", ["denied", "expired", "cancelled", "ledger_full", "store"])
async def test_a_secret_leaves_memory_with_its_call(how: str) -> None:
    store = MemoryStore(open_cap=0 if how == "ledger_full" else 10)
    async with running(store) as rig:
        vault = cast("dict[str, str]", vars(vars(rig.services.calls)["_vault"])["_texts"])
        if how in ("ledger_full", "store"):
            await rig.page(SECRET)
            session = await rig.grant()
            await rig.services.inventories.serve(session)
            store.is_failing = how == "store"
            with pytest.raises(Exception, match=r"full|fail"):
                await rig.submit(session, "todo.unlock", PASSWORD)
            store.is_failing = False
        else:
            page, ref = await secret_asked(rig)
            if how == "denied":
                await page.decide(approve=False)
            elif how == "expired":
                await rig.after(120_000)
            else:
                session = await store.run(lambda tx: tx.sessions.list()[0])
                await rig.services.calls.cancel(session, ref)
        await rig.settle()
        assert vault == {}


async def test_a_restart_brings_no_revoked_session_back() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page = await rig.page(LIST)
        session = await rig.grant()
        await rig.services.identity.revoke_session(session.id, by="test")
    async with running(store, clock) as rig:
        await rig.page(LIST, resume=page)
        with pytest.raises(GatewayError) as refusal:
            await rig.submit(session, "todo.list", {})
        assert refusal.value.code is ErrorCode.SESSION_REVOKED
        assert len(await rig.records("call.refused", code="session_revoked")) == 1
