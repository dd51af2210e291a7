"""Contract of `PageSessions`."""

import pytest

from gateway.runtime.ports import DuplicateKey, Store, Tx
from tests.contract.samples import NOW, a_page

pytestmark = pytest.mark.anyio


async def test_a_page_session_comes_back_as_it_went_in(store: Store) -> None:
    whole = a_page(pinned_at=NOW, ended_at=NOW + 1)
    await store.run(lambda tx: tx.pages.add(whole))
    assert await store.run(lambda tx: tx.pages.find("page_1")) == whole
    assert await store.run(lambda tx: tx.pages.find("page_2")) is None
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.pages.add(a_page()))


async def test_a_saved_page_session_replaces_the_stored_one(store: Store) -> None:
    await store.run(lambda tx: tx.pages.add(a_page()))
    moved = a_page(epoch=2, document="doc_2", capabilities=(), seen_at=NOW + 5)
    await store.run(lambda tx: tx.pages.save(moved))
    assert await store.run(lambda tx: tx.pages.find("page_1")) == moved
    with pytest.raises(LookupError):
        await store.run(lambda tx: tx.pages.save(a_page("page_9")))


async def test_the_latest_pin_of_a_user_on_a_site_counts(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.pages.add(a_page("page_1", pinned_at=NOW + 2))
        tx.pages.add(a_page("page_2", pinned_at=NOW + 1))
        tx.pages.add(a_page("page_3"))
        tx.pages.add(a_page("page_4", pinned_at=NOW + 9, user="noor"))
        tx.pages.add(a_page("page_5", pinned_at=NOW + 9, site="blog"))
        tx.pages.add(a_page("page_6", pinned_at=NOW + 9, ended_at=NOW + 9))

    await store.run(work)
    assert await store.run(lambda tx: tx.pages.pinned("maria", "shop")) == a_page("page_1", pinned_at=NOW + 2)
    await store.run(lambda tx: tx.pages.save(a_page("page_1")))
    assert await store.run(lambda tx: tx.pages.pinned("maria", "shop")) == a_page("page_2", pinned_at=NOW + 1)
    assert await store.run(lambda tx: tx.pages.pinned("noor", "blog")) is None
