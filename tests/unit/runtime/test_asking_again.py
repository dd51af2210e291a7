"""After `unknown` nothing is run again by itself, and whoever read it may simply ask again (design §19)."""

from dataclasses import replace

import pytest

from gateway.runtime.calls import TAKEN_MS
from policy.model import Rule
from policy.vocabulary import Verdict
from tests.unit.runtime.rig import ADD, MILK, configuration, running

pytestmark = pytest.mark.anyio

PERMITTED = configuration(rules=(Rule(id="r1", agents=("*",), capabilities=("todo.add",), verdict=Verdict.PERMIT),))


@pytest.mark.parametrize("is_read", [False, True])
async def test_an_unknown_outcome_is_found_again_until_somebody_has_read_it(is_read: bool) -> None:
    async with running(rules=PERMITTED.rules) as rig:
        page = await rig.page(ADD)
        session = await rig.grant()
        first, waiter = await rig.submit(session, "todo.add", MILK, may_join=True)
        await rig.after(30_000)
        lost = await rig.services.calls.wait(first, waiter, 5)
        assert lost.call.state.value == "unknown"
        rig.services.calls.attendance.leave(waiter)
        if is_read:
            rig.services.calls.take(lost.call)
            await rig.settle()
            await rig.after(TAKEN_MS)
        again, _ = await rig.submit(session, "todo.add", MILK, may_join=True)
        assert again.replayed is not is_read
        assert len(page.invoked) == (2 if is_read else 1)


async def test_a_decision_that_does_not_count_leaves_the_secret_question_open() -> None:
    """Its text is only in memory; a document that comes back must still be able to show it."""
    secret = replace(
        ADD, input_schema={"type": "object", "properties": {"pin": {"type": "string", "writeOnly": True}}}
    )
    async with running() as rig:
        page = await rig.page(secret)
        session = await rig.grant()
        await rig.submit(session, "todo.add", {"pin": "1234"})
        await rig.settle()
        await page.decide(visible=False)
        approval = await rig.store.run(lambda tx: tx.approvals.open_on_page(page.id)[0])
        assert approval.payload == ""
        assert rig.services.approvals.payload(approval) is not None
        await page.decide()
        assert len(page.invoked) == 1
