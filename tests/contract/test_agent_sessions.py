"""Contract of `AgentSessions`: one grant, one token."""

import pytest

from gateway.runtime.ports import DuplicateKey, Store, Tx
from tests.contract.samples import NOW, a_session

pytestmark = pytest.mark.anyio


async def test_a_session_is_found_by_name_and_by_token(store: Store) -> None:
    whole = a_session("ses_1", revoked_at=NOW, page="page_1", sites=(), scope=("todo.*",))
    await store.run(lambda tx: tx.sessions.add(whole))
    await store.run(lambda tx: tx.sessions.add(a_session("ses_2")))
    assert await store.run(lambda tx: tx.sessions.find("ses_1")) == whole
    assert await store.run(lambda tx: tx.sessions.find_by_token(b"token of ses_2")) == a_session("ses_2")
    assert await store.run(lambda tx: tx.sessions.find("ses_3")) is None
    assert await store.run(lambda tx: tx.sessions.find_by_token(b"token of ses_3")) is None


async def test_a_token_belongs_to_one_session(store: Store) -> None:
    await store.run(lambda tx: tx.sessions.add(a_session("ses_1")))
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.sessions.add(a_session("ses_1", token_hash=b"another")))
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.sessions.add(a_session("ses_2", token_hash=b"token of ses_1")))


async def test_a_saved_session_replaces_the_stored_one(store: Store) -> None:
    await store.run(lambda tx: tx.sessions.add(a_session()))
    revoked = a_session(revoked_at=NOW + 1, scope=("todo.list",))
    await store.run(lambda tx: tx.sessions.save(revoked))
    assert await store.run(lambda tx: tx.sessions.find("ses_1")) == revoked
    with pytest.raises(LookupError):
        await store.run(lambda tx: tx.sessions.save(a_session("ses_9")))


async def test_the_sessions_of_a_conversation_are_the_users_that_were_not_revoked(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.sessions.add(a_session("ses_1", conversation="conv_1"))
        tx.sessions.add(a_session("ses_2", conversation="conv_2"))
        tx.sessions.add(a_session("ses_3", conversation="conv_1", revoked_at=NOW))
        tx.sessions.add(a_session("ses_4", conversation="conv_1", user="noor"))
        tx.sessions.add(a_session("ses_5", conversation="conv_1", expires_at=NOW - 1))

    await store.run(work)
    found = await store.run(lambda tx: tx.sessions.of_conversation("maria", "conv_1"))
    assert [session.id for session in found] == ["ses_5", "ses_1"]


async def test_sessions_are_listed_in_order_of_adding(store: Store) -> None:
    for name in ("ses_b", "ses_a"):
        await store.run(lambda tx, name=name: tx.sessions.add(a_session(name)))
    assert list(await store.run(lambda tx: tx.sessions.list())) == [a_session("ses_b"), a_session("ses_a")]
