"""Contract of `SiteKeys`."""

import pytest

from gateway.runtime.ports import DuplicateKey, Store
from tests.contract.samples import NOW, a_key

pytestmark = pytest.mark.anyio


async def test_a_key_comes_back_as_it_went_in(store: Store) -> None:
    await store.run(lambda tx: tx.keys.add(a_key()))
    assert await store.run(lambda tx: tx.keys.find("key_1")) == a_key()
    assert await store.run(lambda tx: tx.keys.find("key_2")) is None
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.keys.add(a_key()))


async def test_a_saved_key_replaces_the_stored_one(store: Store) -> None:
    await store.run(lambda tx: tx.keys.add(a_key()))
    await store.run(lambda tx: tx.keys.save(a_key(revoked_at=NOW)))
    assert await store.run(lambda tx: tx.keys.find("key_1")) == a_key(revoked_at=NOW)
    with pytest.raises(LookupError):
        await store.run(lambda tx: tx.keys.save(a_key("key_9")))


async def test_keys_are_listed_in_order_of_adding(store: Store) -> None:
    for name in ("key_b", "key_a"):
        await store.run(lambda tx, name=name: tx.keys.add(a_key(name)))
    assert list(await store.run(lambda tx: tx.keys.list())) == [a_key("key_b"), a_key("key_a")]
