"""Contract of the lists that are read a page at a time."""

from collections.abc import Sequence

import pytest

from gateway.domain.calls import Call, CallState
from gateway.domain.lists import Wanted
from gateway.runtime.ports import Store, Tx
from tests.contract.samples import NOW, a_call, a_page, an_approval

pytestmark = pytest.mark.anyio

ANY = Wanted()


def ref(number: int) -> str:
    return f"call_{number:026}"


async def calls(
    store: Store, below: str | None = None, wanted: Wanted = ANY, limit: int = 10, look: int = 100
) -> tuple[list[str], str | None]:
    def work(tx: Tx) -> tuple[Sequence[Call], str | None]:
        return tx.calls.page(below=below, wanted=wanted, limit=limit, look=look)

    found, further = await store.run(work)
    return [call.ref for call in found], further


async def test_an_empty_ledger_has_an_empty_page(store: Store) -> None:
    assert await calls(store) == ([], None)


async def test_calls_come_a_page_at_a_time_though_others_are_added(store: Store) -> None:
    for number in range(5):
        await store.run(lambda tx, n=number: tx.calls.add(a_call(ref(n)), None))
    first, further = await calls(store, limit=2)
    assert (first, further) == ([ref(4), ref(3)], ref(3))
    await store.run(lambda tx: tx.calls.add(a_call(ref(5)), None))
    assert await calls(store, further, limit=2) == ([ref(2), ref(1)], ref(1))
    assert await calls(store, ref(1), limit=2) == ([ref(0)], None)
    assert await calls(store, ref(0), limit=2) == ([], None)


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(agent="cursor"),
        Wanted(user="noor"),
        Wanted(session="ses_9"),
        Wanted(capability="todo.clear"),
        Wanted(site="blog"),
        Wanted(state=CallState.UNKNOWN),
        Wanted(agent="cursor", site="blog"),
    ],
)
async def test_a_filter_leaves_what_it_names(store: Store, wanted: Wanted) -> None:
    odd = a_call(
        ref(1),
        agent="cursor",
        user="noor",
        session="ses_9",
        capability="todo.clear",
        site="blog",
        state=CallState.UNKNOWN,
    )

    def work(tx: Tx) -> None:
        tx.calls.add(a_call(ref(0)), None)
        tx.calls.add(odd, None)
        tx.calls.add(a_call(ref(2), site=None), None)

    await store.run(work)
    assert await calls(store, wanted=wanted) == ([ref(1)], None)


async def test_a_rare_filter_looks_at_a_bounded_number_of_calls(store: Store) -> None:
    for number in range(5):
        state = CallState.UNKNOWN if number == 0 else CallState.READY
        await store.run(lambda tx, n=number, s=state: tx.calls.add(a_call(ref(n), state=s), None))
    wanted = Wanted(state=CallState.UNKNOWN)
    assert await calls(store, wanted=wanted, look=2) == ([], ref(3))
    assert await calls(store, ref(3), wanted, look=2) == ([], ref(1))
    assert await calls(store, ref(1), wanted, look=2) == ([ref(0)], None)


async def test_approvals_come_opened_last_first(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.calls.add(a_call(), None)
        for name, at in (("apr_b", NOW), ("apr_a", NOW), ("apr_c", NOW - 1), ("apr_d", NOW + 1)):
            tx.approvals.add(an_approval(name, opened_at=at))

    await store.run(work)
    first = await store.run(lambda tx: list(tx.approvals.page(below=None, limit=2)))
    assert [approval.id for approval in first] == ["apr_d", "apr_b"]
    rest = await store.run(lambda tx: list(tx.approvals.page(below=(NOW, "apr_b"), limit=9)))
    assert [approval.id for approval in rest] == ["apr_a", "apr_c"]


async def test_page_sessions_come_begun_last_first(store: Store) -> None:
    def work(tx: Tx) -> None:
        for name, at in (("page_b", NOW), ("page_a", NOW), ("page_c", NOW - 1), ("page_d", NOW + 1)):
            tx.pages.add(a_page(name, created_at=at))

    await store.run(work)
    first = await store.run(lambda tx: list(tx.pages.page(below=None, limit=2)))
    assert [page.id for page in first] == ["page_d", "page_b"]
    rest = await store.run(lambda tx: list(tx.pages.page(below=(NOW, "page_b"), limit=9)))
    assert [page.id for page in rest] == ["page_a", "page_c"]
