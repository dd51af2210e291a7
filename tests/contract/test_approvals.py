"""Contract of `Approvals`: one question, one answer, used once."""

import pytest

from gateway.domain.approvals import ApprovalEvent, ApprovalState, step
from gateway.runtime.ports import DuplicateKey, StaleState, Store, Tx
from tests.contract.samples import NOW, a_call, an_approval

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
async def _call(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call("call_1"), None))


async def test_an_approval_comes_back_as_it_went_in(store: Store) -> None:
    await store.run(lambda tx: tx.approvals.add(an_approval()))
    assert await store.run(lambda tx: tx.approvals.find("apr_1")) == an_approval()
    assert await store.run(lambda tx: tx.approvals.find("apr_2")) is None
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.approvals.add(an_approval()))


async def test_the_newest_approval_of_a_call_is_found(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.approvals.add(an_approval("apr_b", state=ApprovalState.WITHDRAWN))
        tx.approvals.add(an_approval("apr_a"))

    await store.run(work)
    found = await store.run(lambda tx: tx.approvals.find_of_call("call_1"))
    assert found == an_approval("apr_a")
    assert await store.run(lambda tx: tx.approvals.find_of_call("call_9")) is None


async def test_an_approval_is_consumed_once(store: Store) -> None:
    await store.run(lambda tx: tx.approvals.add(an_approval()))
    approved = step(an_approval(), ApprovalEvent.APPROVE, now=NOW, use_within=60_000)
    consumed = step(approved, ApprovalEvent.CONSUME, now=NOW)
    await store.run(lambda tx: tx.approvals.save(approved, was=ApprovalState.OPEN))
    await store.run(lambda tx: tx.approvals.save(consumed, was=ApprovalState.APPROVED))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.approvals.save(consumed, was=ApprovalState.APPROVED))
    assert await store.run(lambda tx: tx.approvals.find("apr_1")) == consumed


async def test_a_yes_and_a_no_from_one_state_leave_the_first(store: Store) -> None:
    await store.run(lambda tx: tx.approvals.add(an_approval()))
    denied = step(an_approval(), ApprovalEvent.DENY, now=NOW)
    approved = step(an_approval(), ApprovalEvent.APPROVE, now=NOW, use_within=1)
    await store.run(lambda tx: tx.approvals.save(denied, was=ApprovalState.OPEN))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.approvals.save(approved, was=ApprovalState.OPEN))
    assert await store.run(lambda tx: tx.approvals.find("apr_1")) == denied


async def test_open_approvals_of_a_page_come_in_order(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.approvals.add(an_approval("apr_b"))
        tx.approvals.add(an_approval("apr_c", page="page_2"))
        tx.approvals.add(an_approval("apr_d", state=ApprovalState.DENIED))
        tx.approvals.add(an_approval("apr_a"))

    await store.run(work)
    found = await store.run(lambda tx: tx.approvals.open_on_page("page_1"))
    assert [approval.id for approval in found] == ["apr_b", "apr_a"]


async def test_the_last_approved_fingerprint_is_remembered_per_user_and_capability(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.approvals.note_approved("maria", "todo.add", "old")
        tx.approvals.note_approved("maria", "todo.add", "new")
        tx.approvals.note_approved("noor", "todo.add", "hers")

    await store.run(work)
    assert await store.run(lambda tx: tx.approvals.last_approved_fingerprint("maria", "todo.add")) == "new"
    assert await store.run(lambda tx: tx.approvals.last_approved_fingerprint("noor", "todo.add")) == "hers"
    assert await store.run(lambda tx: tx.approvals.last_approved_fingerprint("maria", "todo.list")) is None
