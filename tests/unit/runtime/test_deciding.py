"""When a yes counts: only in its time, only for a tier a click can give, and used soon (design §5, §17)."""

from dataclasses import replace

import pytest

from capabilities.contract import Readiness
from gateway.domain.approvals import ApprovalState
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from policy.model import Floor
from policy.vocabulary import Risk
from tests.unit.runtime.rig import ADD, MILK, Rig, configuration, running, site

pytestmark = pytest.mark.anyio

WATCHED = replace(ADD, readiness=Readiness.FOREGROUND_REQUIRED)


async def test_a_click_after_the_end_does_not_count_though_no_timer_ran(rig: Rig) -> None:
    page = await rig.page(ADD)
    outcome, _ = await rig.submit(await rig.grant(), "todo.add", MILK)
    rig.clock.advance(120_000)
    await page.decide()
    call = await rig.call(outcome.call.ref)
    assert (call.state, call.code) == (CallState.EXPIRED, ErrorCode.APPROVAL_EXPIRED)
    assert page.invoked == []
    assert len(await rig.records("approval.expired", ref=call.ref)) == 1


async def test_an_unused_yes_lapses_after_60_s() -> None:
    async with running(page_grace_ms=600_000) as rig:
        page = await rig.page(WATCHED, visible=False)
        outcome, _ = await rig.submit(await rig.grant(), "todo.add", MILK)
        ref = outcome.call.ref
        await page.decide()
        # It would be ready, were its page there.
        page.drop()
        rig.services.pages.show(page.id, visible=True)
        await rig.settle()
        assert (await rig.call(ref)).state is CallState.READY
        await rig.after(59_999)
        assert (await rig.call(ref)).state is CallState.READY
        await rig.after(1)
        call = await rig.call(ref)
        assert (call.state, call.code) == (CallState.EXPIRED, ErrorCode.APPROVAL_LAPSED)
        approval = await rig.store.run(lambda tx: tx.approvals.find_of_call(ref))
        assert approval is not None
        assert approval.state is ApprovalState.LAPSED
        assert len(await rig.records("approval.lapsed", ref=ref)) == 1
        assert (await rig.page(WATCHED, resume=page)).invoked == []


@pytest.mark.parametrize("risk", [Risk.SYSTEM_PERMISSION, Risk.RESTRICTED])
async def test_what_no_click_may_settle_is_refused_and_nobody_is_asked(rig: Rig, risk: Risk) -> None:
    floors = (Floor(pattern="todo.*", risk=risk),)
    rig.services.live.configure(configuration(sites={"todo": site(expose=floors)}), {})
    page = await rig.page(ADD)
    with pytest.raises(GatewayError) as refusal:
        await rig.submit(await rig.grant(), "todo.add", MILK)
    assert refusal.value.code is ErrorCode.APPROVAL_UNAVAILABLE
    assert page.connection.of("approve_request") == []
    assert len(await rig.records("call.refused", code="approval_unavailable")) == 1
