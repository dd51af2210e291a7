"""An `unknown` call is settled by what an administrator found out: audited, told, and never run (design §3, §19)."""

from dataclasses import replace

import pytest

from capabilities.contract import CallModel
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.operations import OperationState
from gateway.runtime.admin import Meant
from gateway.runtime.answers import answer_of
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.focus import DRAW, a_screen, focus, with_focus
from tests.unit.runtime.rig import LIST, Document, Rig, running

pytestmark = pytest.mark.anyio


async def lost(rig: Rig, page: Document, call_id: str) -> str:
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {}, call_id=call_id)
    await rig.after(30_000)
    assert (await rig.call(outcome.call.ref)).state is CallState.UNKNOWN
    return outcome.call.ref


@pytest.mark.parametrize(
    ("happened", "state", "code"),
    [(True, CallState.SUCCEEDED, "result_erased"), (False, CallState.FAILED, "handler_error")],
)
async def test_status_and_a_repeat_tell_what_was_found_out(
    rig: Rig, happened: bool, state: CallState, code: str
) -> None:
    page = await rig.page(LIST)
    ref = await lost(rig, page, "call-0001")
    settled = await rig.services.admin.reconcile(ref, succeeded=happened, reason="seen in the shop", by="local:ada")
    assert (settled.state, settled.late) == (state, True)

    session = await rig.grant()
    told, _ = await rig.services.calls.status(session, ref)
    answer = answer_of(told)
    assert (answer["status"], answer["late"], answer["error"]["code"]) == (state.value, True, code)
    assert "an administrator found out" in answer["error"]["message"]
    assert "seen in the shop" not in str(answer)
    again, _ = await rig.submit(session, "todo.list", {}, call_id="call-0001")
    assert (again.replayed, again.call.state) == (True, state)
    assert page.invoked == [ref]
    (record,) = await rig.records("call.reconciled", ref=ref)
    assert (record["by"], record["reason"], record["state"]) == ("local:ada", "seen in the shop", state.value)
    assert await rig.store.run(lambda tx: tx.calls.usage()) == (1, 0)


async def test_a_late_answer_after_a_reconciliation_changes_nothing(rig: Rig) -> None:
    page = await rig.page(LIST)
    ref = await lost(rig, page, "call-0001")
    await rig.services.admin.reconcile(ref, succeeded=False, by="local:ada")
    assert await page.answer(ref, []) is False
    assert (await rig.call(ref)).state is CallState.FAILED
    assert len(await rig.records("call.result_dropped", ref=ref)) == 1


async def test_only_an_unknown_call_can_be_reconciled(rig: Rig) -> None:
    await rig.page(LIST)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {})
    ref = outcome.call.ref
    with pytest.raises(GatewayError, match="is `dispatched`; only an `unknown` call can be reconciled"):
        await rig.services.admin.reconcile(ref, succeeded=True, by="local:ada")
    await rig.after(30_000)
    await rig.services.admin.reconcile(ref, succeeded=True, by="local:ada")
    with pytest.raises(GatewayError, match="is `succeeded`"):
        await rig.services.admin.reconcile(ref, succeeded=False, by="local:ada")
    with pytest.raises(GatewayError) as refused:
        await rig.services.admin.reconcile("call_none", succeeded=True, by="local:ada")
    assert refused.value.code is ErrorCode.UNKNOWN_CALL
    with pytest.raises(GatewayError, match="a reason is"):
        await rig.services.admin.reconcile(ref, succeeded=True, reason="a\u202eb", by="local:ada")
    assert len(await rig.records("call.reconciled")) == 1


async def test_many_are_found_by_page_and_time_and_a_rehearsal_changes_nothing(rig: Rig) -> None:
    first, second = await rig.page(LIST), await rig.page(LIST, user="ben")
    refs = [await lost(rig, first, f"call-000{number}") for number in range(3)]
    begun = [(await rig.call(ref)).dispatched_at for ref in refs]
    admin = rig.services.admin
    meant = Meant(page=first.id, since=begun[1], until=begun[2])
    rehearsed = await admin.reconcile_many(meant, succeeded=True, by="local:ada", is_rehearsal=True)
    assert [(c.ref, c.state) for c in rehearsed] == [(refs[1], CallState.UNKNOWN)]
    assert await rig.records("call.reconciled") == []
    assert list(await admin.reconcile_many(Meant(page=second.id), succeeded=True, by="local:ada")) == []
    settled = await admin.reconcile_many(meant, succeeded=True, by="local:ada")
    assert [(c.ref, c.state) for c in settled] == [(refs[1], CallState.SUCCEEDED)]
    rest = await admin.reconcile_many(Meant(page=first.id), succeeded=False, by="local:ada")
    assert {c.ref for c in rest} == {refs[0], refs[2]}
    with pytest.raises(GatewayError, match="say which calls are meant"):
        await admin.reconcile_many(Meant(), succeeded=True, by="local:ada")


@pytest.mark.parametrize(("happened", "state"), [(True, OperationState.COMPLETED), (False, OperationState.FAILED)])
async def test_the_operation_of_a_lost_handler_becomes_what_was_found_out(
    happened: bool, state: OperationState
) -> None:
    store, clock = MemoryStore(), FakeClock()
    work = focus(replace(DRAW, call_model=CallModel.OPERATION))
    async with running(store, clock, offered=[work], **with_focus()) as rig:
        screen, session = await a_screen(rig), await rig.grant(scope=["focus.*"])
        outcome, _ = await rig.submit(session, "focus.draw", {})
        await screen.open()
    ref = outcome.call.ref
    async with running(store, clock, offered=[work], **with_focus()) as rig:
        assert (await rig.call(ref)).state is CallState.UNKNOWN
        await rig.services.admin.reconcile(ref, succeeded=happened, by="local:ada")
        operation = await store.run(lambda tx: tx.operations.find_of_call(ref))
        assert operation is not None
        assert operation.state is state
        assert len(await rig.records("operation.ended", ref=ref, state=state.value)) == 1
