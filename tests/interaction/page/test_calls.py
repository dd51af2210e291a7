"""A call from its agent to the page and back."""

import pytest

from gateway.domain.calls import CallState
from tests.interaction.page.rig import ADD, CLEAR, LIST, Rig

pytestmark = pytest.mark.anyio


async def test_a_read_goes_to_the_page_and_its_result_comes_back_once(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})

    invoke = await page.receive("invoke")
    assert invoke["input"] == "{}"
    assert invoke["epoch"] == page.welcome["epoch"]
    await page.send({"type": "started", "ref": invoke["ref"]})
    await page.answer(invoke, {"items": ["a"]}, evidence={"count": 1})
    await page.receive("ack", ref=invoke["ref"])

    outcome = await rig.outcome(submitted)
    assert outcome.call.state is CallState.SUCCEEDED
    assert outcome.result is not None
    assert (outcome.result.output, outcome.result.evidence) == ('{"items":["a"]}', '{"count":1}')
    receipts = await rig.store.run(lambda tx: tx.calls.receipts_of(invoke["ref"]))
    assert [receipt.status for receipt in receipts] == ["accepted", "started"]
