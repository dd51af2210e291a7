"""Contract of `Store`: units of work commit or vanish, each alone, in order."""

import asyncio

import pytest

from gateway.runtime.ports import StaleState, Store, StoreBusy, StoreUnavailable, Tx
from tests.contract.samples import a_call, a_record
from tests.contract.stores import Opener

pytestmark = pytest.mark.anyio


def put(tx: Tx, name: str, value: bytes = b"1") -> str:
    tx.installation.put(name, value)
    return name


async def get(store: Store, name: str) -> bytes | None:
    return await store.run(lambda tx: tx.installation.get(name))


async def test_a_unit_returns_its_value_and_sees_its_own_writes(store: Store) -> None:
    def work(tx: Tx) -> bytes | None:
        put(tx, "a")
        return tx.installation.get("a")

    assert await store.run(work) == b"1"


async def test_a_failing_unit_vanishes_and_its_neighbours_stay(store: Store) -> None:
    def fail(tx: Tx) -> str:
        put(tx, "b")
        tx.calls.add(a_call(), "{}")
        tx.audit.append(a_record())
        raise StaleState("another state")

    outcomes = await asyncio.gather(
        store.run(lambda tx: put(tx, "a")),
        store.run(fail),
        store.run(lambda tx: put(tx, "c")),
        return_exceptions=True,
    )
    assert [str(outcome) for outcome in outcomes] == ["a", "another state", "c"]
    assert isinstance(outcomes[1], StaleState)
    assert [await get(store, name) for name in "abc"] == [b"1", None, b"1"]
    assert await store.run(lambda tx: (tx.calls.usage(), len(tx.audit.tail(limit=9)))) == ((0, 0), 0)


async def test_a_unit_sees_the_units_before_it(store: Store) -> None:
    def count(tx: Tx) -> int:
        number = int(tx.installation.get("count") or b"0") + 1
        tx.installation.put("count", str(number).encode())
        return number

    numbers = await asyncio.gather(*(store.run(count) for _ in range(200)))
    assert numbers == list(range(1, 201))


async def test_a_cancelled_caller_does_not_stop_its_unit(store: Store) -> None:
    task = asyncio.ensure_future(store.run(lambda tx: put(tx, "a")))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await get(store, "a") == b"1"


async def test_what_is_committed_is_heard_in_order_and_before_its_caller(store: Store) -> None:
    heard: list[str] = []

    async def run(name: str) -> None:
        await store.run(lambda tx: put(tx, name), lambda _: heard.append(name))
        heard.append(f"caller of {name}")

    await asyncio.gather(run("a"), run("b"))
    assert [name for name in heard if name in "ab"] == ["a", "b"]
    assert [heard.index(name) < heard.index(f"caller of {name}") for name in "ab"] == [True, True]


async def test_what_is_committed_is_heard_though_its_caller_left(store: Store) -> None:
    heard: list[str] = []
    task = asyncio.ensure_future(store.run(lambda tx: put(tx, "a"), heard.append))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await store.run(lambda tx: tx.installation.get("a"))
    assert heard == ["a"]


async def test_what_fails_is_not_heard(store: Store) -> None:
    heard: list[str] = []

    def fail(tx: Tx) -> str:
        put(tx, "a")
        raise StaleState("another state")

    with pytest.raises(StaleState):
        await store.run(fail, heard.append)
    await store.run(lambda tx: tx.installation.get("a"))
    assert heard == []


async def test_a_failed_commit_fails_everybody_and_the_store_recovers(open_store: Opener) -> None:
    store = open_store()
    await store.run(lambda tx: put(tx, "before"))
    heal = open_store.fail_commits(store)
    outcomes = await asyncio.gather(
        *(store.run(lambda tx, name=name: put(tx, name)) for name in "abc"), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StoreUnavailable] * 3

    heal()
    assert [await get(store, name) for name in ("before", "a", "b", "c")] == [b"1", None, None, None]
    await store.run(lambda tx: put(tx, "after"))
    assert await get(store, "after") == b"1"
    await store.close()


async def test_a_full_queue_refuses_and_has_room_again(open_store: Opener) -> None:
    store = open_store(queue=3)
    outcomes = await asyncio.gather(
        *(store.run(lambda tx, name=name: put(tx, name)) for name in "abcde"), return_exceptions=True
    )
    assert outcomes[:3] == ["a", "b", "c"]
    assert [type(outcome) for outcome in outcomes[3:]] == [StoreBusy] * 2
    assert await get(store, "d") is None
    await store.close()


async def test_closing_finishes_what_is_queued_and_takes_no_more(open_store: Opener) -> None:
    store = open_store()
    tasks = [asyncio.ensure_future(store.run(lambda tx, name=name: put(tx, name))) for name in "abc"]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*tasks) == ["a", "b", "c"]
    with pytest.raises(StoreUnavailable):
        await get(store, "a")
    await store.close()


async def test_an_error_no_future_can_carry_still_reaches_the_caller(store: Store) -> None:
    def work(tx: Tx) -> None:
        del tx
        raise StopIteration

    with pytest.raises(RuntimeError):
        await store.run(work)
