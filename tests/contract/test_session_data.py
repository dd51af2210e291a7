"""Contract of `SessionDatas`."""

import pytest

from gateway.domain.app_sessions import AppSession
from gateway.domain.session_data import SESSION_DATA_BYTES
from gateway.runtime.ports import Store
from tests.contract.samples import NOW, session_data

pytestmark = pytest.mark.anyio


async def test_what_was_written_is_found_by_app_and_app_session(store: Store) -> None:
    assert await store.run(lambda tx: tx.session_data.put(session_data()))
    assert await store.run(lambda tx: tx.session_data.find("com.example.orders", "as_1")) == session_data()
    assert await store.run(lambda tx: tx.session_data.find("com.example.orders", "as_2")) is None
    assert await store.run(lambda tx: tx.session_data.find("com.example.other", "as_1")) is None


async def test_only_the_next_revision_is_written(store: Store) -> None:
    assert not await store.run(lambda tx: tx.session_data.put(session_data(revision=2)))
    assert await store.run(lambda tx: tx.session_data.put(session_data()))
    second = session_data(revision=2, data='{"open":2}', at=NOW + 1)
    for refused in (session_data(data='{"open":9}'), session_data(revision=3)):
        assert not await store.run(lambda tx, refused=refused: tx.session_data.put(refused))
    assert await store.run(lambda tx: tx.session_data.put(second))
    assert not await store.run(lambda tx: tx.session_data.put(second))
    assert await store.run(lambda tx: tx.session_data.find("com.example.orders", "as_1")) == second


async def test_the_largest_object_is_kept_whole(store: Store) -> None:
    text = '{"t":"%s"}' % ("x" * (SESSION_DATA_BYTES - 8))
    assert await store.run(lambda tx: tx.session_data.put(session_data(data=text)))
    found = await store.run(lambda tx: tx.session_data.find("com.example.orders", "as_1"))
    assert found is not None
    assert found.data == text


async def test_it_is_erased_with_its_app_session_only(store: Store) -> None:
    for kept in (session_data(), session_data(app="com.example.other"), session_data(app_session="as_2")):
        assert await store.run(lambda tx, kept=kept: tx.session_data.put(kept))
    assert await store.run(lambda tx: tx.session_data.erase("as_1")) == 2
    assert await store.run(lambda tx: tx.session_data.erase("as_1")) == 0
    assert await store.run(lambda tx: tx.session_data.find("com.example.orders", "as_1")) is None
    assert await store.run(lambda tx: tx.session_data.find("com.example.orders", "as_2")) is not None
    # The revision counts from the start again: nothing of the old one is left.
    assert await store.run(lambda tx: tx.session_data.put(session_data()))


async def test_it_goes_with_an_app_session_that_is_forgotten(store: Store) -> None:
    ended = AppSession(
        id="as_1", app="com.example.orders", user="maria", conversation="conv_1", opened_at=NOW - 9, ended_at=NOW - 1
    )
    await store.run(lambda tx: tx.app_sessions.add(ended))
    for kept in (session_data(), session_data(app_session="as_2")):
        await store.run(lambda tx, kept=kept: tx.session_data.put(kept))
    assert await store.run(lambda tx: tx.app_sessions.purge(NOW, 10)) == 1
    assert await store.run(lambda tx: tx.session_data.find("com.example.orders", "as_1")) is None
    assert await store.run(lambda tx: tx.session_data.find("com.example.orders", "as_2")) is not None
