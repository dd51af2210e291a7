"""A handler that only computes: its call is admitted, dispatched, run and settled in one transaction (ADR 0008)."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from capabilities.contract import Computation, HandlerFailed, HandlerKind
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode
from gateway.runtime.calls import is_finished
from gateway.runtime.ports import StoreUnavailable
from gateway.testing import MemoryStore
from policy.vocabulary import Confirm
from tests.unit.runtime.rig import LIST, Rig, running

pytestmark = pytest.mark.anyio

COUNT = replace(
    LIST,
    id="todo.count",
    handler=HandlerKind.RUNTIME,
    input_schema={"type": "object", "properties": {"word": {"type": "string"}}},
    output_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
)


@asynccontextmanager
async def counting(
    compute: Callable[[dict[str, Any]], Any], store: MemoryStore | None = None, **changes: Any
) -> AsyncGenerator[Rig]:
    declared = replace(COUNT, **changes)
    async with running(store, builtins={"todo.count": (declared, Computation(compute))}) as rig:
        yield rig


async def test_it_is_finished_when_it_was_admitted_and_every_step_is_on_the_record() -> None:
    async with counting(lambda given: {"n": len(given["word"])}) as rig:
        outcome, _ = await rig.services.calls.submit(rig.request(await rig.grant(), "todo.count", {"word": "four"}))
        assert outcome.call.state is CallState.SUCCEEDED
        assert outcome.result is not None
        assert outcome.result.output == '{"n":4}'
        ref = outcome.call.ref
        assert await rig.call(ref) == outcome.call
        for event in ("call.admitted", "call.dispatched", "call.ended"):
            assert len(await rig.records(event, ref=ref)) == 1
        assert await rig.store.run(lambda tx: (tx.calls.usage(), tx.calls.input_of(ref))) == ((1, 0), None)
        receipts = await rig.store.run(lambda tx: tx.calls.receipts_of(ref))
        assert [receipt.status for receipt in receipts] == ["accepted"]


async def test_the_same_call_id_finds_its_result_and_computes_nothing() -> None:
    computed: list[dict[str, Any]] = []
    async with counting(lambda given: computed.append(given) or {"n": 1}) as rig:
        session = await rig.grant()
        first, _ = await rig.submit(session, "todo.count", {}, call_id="once-only")
        again, _ = await rig.submit(session, "todo.count", {}, call_id="once-only")
        assert (again.call.ref, again.replayed, again.result) == (first.call.ref, True, first.result)
        assert len(computed) == 1


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (HandlerFailed("no word of that length"), "no word of that length"),
        (ValueError("raw-and-private"), "`todo.count` failed; see the gateway's log"),
    ],
)
async def test_what_it_raises_is_a_failed_call(error: Exception, told: str) -> None:
    def compute(_: dict[str, Any]) -> Any:
        raise error

    async with counting(compute) as rig:
        outcome, _ = await rig.submit(await rig.grant(), "todo.count", {})
        assert (outcome.call.state, outcome.call.code) == (CallState.FAILED, ErrorCode.HANDLER_ERROR)
        assert outcome.call.message == told
        assert await rig.records("call.ended", ref=outcome.call.ref, code="handler_error")
        assert "raw-and-private" not in await rig.trail()


@pytest.mark.parametrize("output", [{"n": "raw-and-private"}, {"n": float("inf")}, {"n": 2**60}])
async def test_output_that_breaks_its_schema_or_is_no_json_goes_nowhere(output: Any) -> None:
    async with counting(lambda _: output) as rig:
        outcome, _ = await rig.submit(await rig.grant(), "todo.count", {})
        assert outcome.call.state is CallState.FAILED
        assert await rig.store.run(lambda tx: tx.calls.result_of(outcome.call.ref)) is None
        assert "raw-and-private" not in (outcome.call.message or "")


async def test_a_store_that_cannot_commit_keeps_nothing_of_it() -> None:
    store = MemoryStore()
    async with counting(lambda _: {"n": 1}, store) as rig:
        session = await rig.grant()
        store.is_failing = True
        with pytest.raises(StoreUnavailable):
            await rig.services.calls.submit(rig.request(session, "todo.count", {}, call_id="lost-call"))
        store.is_failing = False
        assert await store.run(lambda tx: tx.calls.usage()) == (0, 0)
        assert not await rig.records("call.admitted")
        outcome, _ = await rig.submit(session, "todo.count", {}, call_id="lost-call")
        assert outcome.call.state is CallState.SUCCEEDED


async def test_secret_arguments_are_never_stored_and_not_kept_in_memory_when_it_is_done() -> None:
    secret = {"type": "object", "properties": {"word": {"type": "string", "writeOnly": True}}}
    async with counting(lambda _: {"n": 1}, input_schema=secret) as rig:
        outcome, _ = await rig.submit(await rig.grant(), "todo.count", {"word": "hush-hush"})
        assert outcome.call.input_in_memory
        assert await rig.store.run(lambda tx: tx.calls.input_of(outcome.call.ref)) is None
        assert not vars(vars(rig.services.calls)["_vault"])["_texts"]


async def test_one_that_asks_first_runs_when_the_person_said_yes() -> None:
    async with counting(lambda _: {"n": 7}, confirm=Confirm.ALWAYS) as rig:
        page = await rig.page(LIST)
        outcome, waiter = await rig.submit(await rig.grant(), "todo.count", {})
        assert outcome.call.state is CallState.AWAITING_APPROVAL
        await page.decide()
        outcome = await rig.services.calls.wait(outcome, waiter, 1.0)
        assert is_finished(outcome.call)
        assert outcome.result is not None
        assert outcome.result.output == '{"n":7}'
