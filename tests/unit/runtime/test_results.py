"""A result is judged by the declaration its call was dispatched under, and lands nowhere else (design §3)."""

from dataclasses import replace
from typing import Any

import pytest

from capabilities.contract import CallContext, Descriptor, HandlerKind
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode
from tests.unit.runtime.rig import LIST, Rig, configuration, running

pytestmark = pytest.mark.anyio

NUMBER = replace(
    LIST,
    output_schema={"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
)
RAW = {"n": "raw-and-private"}


async def nowhere(rig: Rig, ref: str) -> None:
    call = await rig.call(ref)
    assert (call.state, call.code) == (CallState.FAILED, ErrorCode.OUTPUT_SCHEMA_VIOLATION)
    assert await rig.store.run(lambda tx: tx.calls.result_of(ref)) is None
    assert "raw-and-private" not in (call.message or "")
    assert "raw-and-private" not in await rig.trail()


async def test_output_that_breaks_its_schema_goes_nowhere(rig: Rig) -> None:
    page = await rig.page(NUMBER)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    await page.answer(outcome.call.ref, RAW)
    await nowhere(rig, outcome.call.ref)


@pytest.mark.parametrize("now", [(), (LIST,)], ids=["withdrawn", "loosened"])
async def test_a_declaration_taken_back_while_it_runs_still_judges(rig: Rig, now: tuple[Descriptor, ...]) -> None:
    page = await rig.page(NUMBER)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    await page.declare(*now)
    await page.answer(outcome.call.ref, RAW)
    await nowhere(rig, outcome.call.ref)


async def test_a_builtin_switched_off_while_it_runs_is_still_judged() -> None:
    declared = replace(NUMBER, id="todo.count", handler=HandlerKind.RUNTIME)
    on = True

    async def handle(arguments: dict[str, Any], context: CallContext) -> Any:
        nonlocal on
        on = False
        await rig.services.reconfiguration.apply(configuration())
        return RAW

    async with running(builtins={"todo.count": (declared, handle)}, is_on=lambda: on) as rig:
        outcome, waiter = await rig.submit(await rig.grant(), "todo.count", {})
        await rig.services.calls.wait(outcome, waiter, 1.0)
        await nowhere(rig, outcome.call.ref)


async def test_a_deadline_passed_is_unknown_and_a_late_result_of_the_same_document_counts_once(rig: Rig) -> None:
    page = await rig.page(NUMBER)
    outcome, waiter = await rig.submit(await rig.grant(), "todo.list", {})
    await rig.after(30_000)
    lost = await rig.services.calls.wait(outcome, waiter, 1.0)
    assert (lost.call.state, lost.call.code) == (CallState.UNKNOWN, ErrorCode.DEADLINE_EXCEEDED)
    assert len(page.connection.of("cancel")) == 1
    assert page.invoked == [outcome.call.ref]

    other = await rig.page(NUMBER)
    assert await other.answer(outcome.call.ref, {"n": 9}) is None
    assert (await rig.call(outcome.call.ref)).state is CallState.UNKNOWN

    assert await page.answer(outcome.call.ref, {"n": 1})
    settled = await rig.call(outcome.call.ref)
    assert (settled.state, settled.late) == (CallState.SUCCEEDED, True)
    assert await page.answer(outcome.call.ref, {"n": 2}) is False
    result = await rig.store.run(lambda tx: tx.calls.result_of(outcome.call.ref))
    assert result is not None
    assert result.output == '{"n":1}'
    assert len(await rig.records("call.result_dropped")) == 1


async def test_a_late_result_is_judged_too(rig: Rig) -> None:
    page = await rig.page(NUMBER)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    await rig.after(30_000)
    await page.declare()
    await page.answer(outcome.call.ref, RAW)
    await nowhere(rig, outcome.call.ref)


async def test_a_page_replaced_while_a_call_runs_leaves_it_unknown_and_the_old_document_silent(rig: Rig) -> None:
    page = await rig.page(NUMBER)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    again = await rig.page(NUMBER, resume=page, reload=True)
    assert (await rig.call(outcome.call.ref)).state is CallState.UNKNOWN
    assert again.invoked == []
    assert await again.answer(outcome.call.ref, {"n": 1}) is None
    assert (await rig.call(outcome.call.ref)).state is CallState.UNKNOWN


async def test_arguments_are_gone_once_the_call_ended_and_never_in_the_trail(rig: Rig) -> None:
    page = await rig.page(LIST)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {"word": "private-argument"})
    assert await rig.store.run(lambda tx: tx.calls.input_of(outcome.call.ref)) is not None
    await page.answer(outcome.call.ref, ["private-result"])
    assert await rig.store.run(lambda tx: tx.calls.input_of(outcome.call.ref)) is None
    trail = await rig.trail()
    assert "private-argument" not in trail
    assert "private-result" not in trail


async def test_a_trace_context_that_is_none_goes_no_further(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    good = f"00-{'a' * 32}-{'b' * 16}-01"
    await rig.submit(session, "todo.list", {}, traceparent=good)
    outcome, _ = await rig.submit(session, "todo.list", {}, traceparent="all my private notes " * 1_000)
    frames = page.connection.of("invoke")
    assert frames[0]["traceparent"] == good
    assert "traceparent" not in frames[1]
    assert (await rig.call(outcome.call.ref)).traceparent is None
