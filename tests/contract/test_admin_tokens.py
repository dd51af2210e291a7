"""Contract of `AdminTokens` and `AdminRequests`."""

import pytest

from gateway.domain.admin_tokens import AdminToken
from gateway.runtime.ports import DuplicateKey, Store
from tests.contract.samples import NOW, a_made, an_admin_token

pytestmark = pytest.mark.anyio


async def test_a_token_is_found_by_its_name_and_by_its_hash(store: Store) -> None:
    token = an_admin_token(last_used_at=NOW)
    await store.run(lambda tx: tx.admin_tokens.add(token))
    assert await store.run(lambda tx: tx.admin_tokens.find("adm_1")) == token
    assert await store.run(lambda tx: tx.admin_tokens.find_by_token(token.token_hash)) == token
    assert await store.run(lambda tx: tx.admin_tokens.find("adm_2")) is None
    assert await store.run(lambda tx: tx.admin_tokens.find_by_token(b"x" * 32)) is None


@pytest.mark.parametrize(
    "again", [an_admin_token(token_hash=b"o" * 32), an_admin_token("adm_2", token_hash=b"h" * 32)]
)
async def test_neither_a_name_nor_a_hash_comes_twice(store: Store, again: AdminToken) -> None:
    await store.run(lambda tx: tx.admin_tokens.add(an_admin_token(token_hash=b"h" * 32)))
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.admin_tokens.add(again))


async def test_a_saved_token_replaces_the_stored_one(store: Store) -> None:
    await store.run(lambda tx: tx.admin_tokens.add(an_admin_token()))
    await store.run(lambda tx: tx.admin_tokens.save(an_admin_token(revoked_at=NOW)))
    assert await store.run(lambda tx: tx.admin_tokens.find("adm_1")) == an_admin_token(revoked_at=NOW)
    with pytest.raises(LookupError):
        await store.run(lambda tx: tx.admin_tokens.save(an_admin_token("adm_9")))


async def test_a_use_is_noted_and_nothing_else_touched(store: Store) -> None:
    await store.run(lambda tx: tx.admin_tokens.add(an_admin_token(revoked_at=NOW)))
    await store.run(lambda tx: tx.admin_tokens.used("adm_1", NOW + 1))
    await store.run(lambda tx: tx.admin_tokens.used("adm_9", NOW + 1))
    assert list(await store.run(lambda tx: tx.admin_tokens.list())) == [
        an_admin_token(revoked_at=NOW, last_used_at=NOW + 1)
    ]


async def test_tokens_are_listed_in_order_of_adding(store: Store) -> None:
    for name in ("adm_b", "adm_a"):
        await store.run(lambda tx, name=name: tx.admin_tokens.add(an_admin_token(name)))
    assert list(await store.run(lambda tx: tx.admin_tokens.list())) == [
        an_admin_token("adm_b"),
        an_admin_token("adm_a"),
    ]


async def test_what_a_request_made_is_found_by_holder_and_key(store: Store) -> None:
    await store.run(lambda tx: tx.admin_requests.add(a_made()))
    await store.run(lambda tx: tx.admin_requests.add(a_made(holder="adm_2", name="sess_2")))
    assert await store.run(lambda tx: tx.admin_requests.find("adm_1", "first")) == a_made()
    assert await store.run(lambda tx: tx.admin_requests.find("adm_1", "second")) is None
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.admin_requests.add(a_made(name="sess_3")))


async def test_requests_are_forgotten_when_their_time_is_over(store: Store) -> None:
    for key, until in (("old", NOW - 1), ("new", NOW)):
        await store.run(lambda tx, key=key, until=until: tx.admin_requests.add(a_made(key, until=until)))
    assert await store.run(lambda tx: tx.admin_requests.purge(NOW, 10)) == 1
    assert await store.run(lambda tx: tx.admin_requests.find("adm_1", "old")) is None
    assert await store.run(lambda tx: tx.admin_requests.find("adm_1", "new")) == a_made("new", until=NOW)
