"""Contract of `Outbox`."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.domain.outbox import OutboxEntry, OutboxEvent, OutboxState, step
from gateway.runtime.ports import StaleState, Store, Tx
from tests.contract.samples import NOW, an_entry

pytestmark = pytest.mark.anyio

LEASE = NOW + 30_000


def added(*entries: OutboxEntry) -> Callable[[Tx], list[bool]]:
    def work(tx: Tx) -> list[bool]:
        return [tx.outbox.add(entry) for entry in entries]

    return work


async def claim(store: Store, holder: str = "relay_1", *, now: int = NOW, limit: int = 10) -> list[OutboxEntry]:
    until = now + 30_000
    return list(await store.run(lambda tx: tx.outbox.claim(holder, now=now, until=until, limit=limit)))


async def deliver(store: Store, entry: OutboxEntry, *, now: int = NOW) -> None:
    assert entry.holder is not None
    holder = entry.holder
    await store.run(lambda tx: tx.outbox.save(step(entry, OutboxEvent.DELIVER, now=now), holder=holder))


async def bury(store: Store, name: str = "call_1:end", *, now: int = NOW) -> OutboxEntry:
    """Claim all there is and give the one called `name` up."""
    entry = next(entry for entry in await claim(store, now=now) if entry.id == name)
    dead = step(entry, OutboxEvent.GIVE_UP, now=now, error="503")
    await store.run(lambda tx: tx.outbox.save(dead, holder="relay_1"))
    return dead


async def test_an_entry_comes_back_as_it_was_written(store: Store) -> None:
    full = an_entry(app="com.example.orders", traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01")
    assert await store.run(added(full)) == [True]
    found = await store.run(lambda tx: tx.outbox.find(full.id))
    assert found is not None
    assert found == replace(full, number=found.number, due_at=NOW)
    assert await store.run(lambda tx: tx.outbox.find("call_2:end")) is None


async def test_an_id_is_written_once(store: Store) -> None:
    assert await store.run(added(an_entry(), an_entry(data="{}", key="ses_2"))) == [True, False]
    assert [entry.data for entry in await claim(store)] == [an_entry().data]


async def test_a_claimed_entry_is_its_holders_until_the_lease_ends(store: Store) -> None:
    await store.run(added(an_entry()))
    [mine] = await claim(store)
    assert (mine.holder, mine.attempts, mine.due_at) == ("relay_1", 1, LEASE)
    assert await claim(store, "relay_2", now=LEASE - 1) == []
    [yours] = await claim(store, "relay_2", now=LEASE)
    assert (yours.holder, yours.attempts) == ("relay_2", 2)


async def test_who_lost_the_lease_changes_nothing(store: Store) -> None:
    await store.run(added(an_entry()))
    [late] = await claim(store)
    await claim(store, "relay_2", now=LEASE)
    with pytest.raises(StaleState):
        await deliver(store, late)
    found = await store.run(lambda tx: tx.outbox.find(late.id))
    assert found is not None
    assert (found.state, found.holder) == (OutboxState.PENDING, "relay_2")


async def test_a_sent_entry_never_has_a_turn_again(store: Store) -> None:
    await store.run(added(an_entry()))
    [entry] = await claim(store)
    await deliver(store, entry)
    found = await store.run(lambda tx: tx.outbox.find(entry.id))
    assert found is not None
    assert (found.state, found.due_at, found.holder, found.ended_at) == (OutboxState.SENT, None, None, NOW)
    assert await claim(store, now=NOW + 10**9) == []
    with pytest.raises(StaleState):
        await deliver(store, entry)


async def test_a_later_entry_of_a_key_waits_and_other_keys_go_on(store: Store) -> None:
    await store.run(added(an_entry("a:1"), an_entry("a:2"), an_entry("b:1", key="ses_2"), an_entry("a:3")))
    first, other = await claim(store)
    assert (first.id, other.id) == ("a:1", "b:1")
    rested = step(first, OutboxEvent.RETRY, now=NOW, error="503", pause_ms=60_000)
    await store.run(lambda tx: tx.outbox.save(rested, holder="relay_1"))
    await deliver(store, other)
    assert await claim(store, now=NOW + 59_999) == []
    for name in ("a:1", "a:2", "a:3"):
        [entry] = await claim(store, now=NOW + 60_000)
        assert entry.id == name
        await deliver(store, entry, now=NOW + 60_000)


async def test_a_dead_entry_blocks_nothing_behind_it(store: Store) -> None:
    await store.run(added(an_entry("a:1"), an_entry("a:2")))
    await bury(store, "a:1")
    assert [entry.id for entry in await claim(store)] == ["a:2"]


async def test_a_requeued_entry_stands_behind_its_key_with_all_its_attempts(store: Store) -> None:
    await store.run(added(an_entry("a:1"), an_entry("a:2")))
    dead = await bury(store, "a:1")
    again = step(dead, OutboxEvent.REQUEUE, now=NOW + 5)
    await store.run(lambda tx: tx.outbox.requeue(again))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.outbox.requeue(again))
    [second] = await claim(store, now=NOW + 5)
    assert second.id == "a:2"
    await deliver(store, second, now=NOW + 6)
    [first] = await claim(store, now=NOW + 6)
    assert (first.id, first.attempts, first.error) == ("a:1", 1, "503")


async def test_a_requeued_entry_alone_has_its_turn_from_then_on(store: Store) -> None:
    await store.run(added(an_entry()))
    dead = await bury(store)
    await store.run(lambda tx: tx.outbox.requeue(step(dead, OutboxEvent.REQUEUE, now=NOW + 5)))
    assert await store.run(lambda tx: tx.outbox.next_due()) == NOW + 5


async def test_claims_are_bounded_and_take_what_is_due_first(store: Store) -> None:
    names = [f"{number}:end" for number in range(5)]
    await store.run(added(*(an_entry(name, key=name, at=NOW - int(name[0])) for name in names)))
    assert [entry.id for entry in await claim(store, limit=2)] == ["3:end", "4:end"]
    assert [entry.id for entry in await claim(store, limit=9)] == ["0:end", "1:end", "2:end"]


async def test_the_next_due_instant_is_that_of_the_first_turn(store: Store) -> None:
    assert await store.run(lambda tx: tx.outbox.next_due()) is None
    await store.run(added(an_entry("a:1", at=NOW + 7), an_entry("a:2", at=NOW), an_entry("b", key="b", at=NOW + 9)))
    assert await store.run(lambda tx: tx.outbox.next_due()) == NOW + 7
    [entry] = await claim(store, now=NOW + 7)
    assert await store.run(lambda tx: tx.outbox.next_due()) == NOW + 9
    await deliver(store, entry, now=NOW + 8)
    assert await store.run(lambda tx: tx.outbox.next_due()) == NOW + 8


async def test_entries_are_listed_by_state_in_order(store: Store) -> None:
    await store.run(added(*(an_entry(f"{key}:1", key=key) for key in "abc")))
    for name in ("c:1", "a:1"):
        entry = next(e for e in await claim(store, now=NOW + 10**6) if e.id == name)
        await store.run(lambda tx, e=entry: tx.outbox.save(step(e, OutboxEvent.GIVE_UP, now=NOW), holder="relay_1"))
        await store.run(lambda tx: tx.outbox.claim("nobody", now=NOW + 10**7, until=NOW, limit=9))
    listed = await store.run(lambda tx: tx.outbox.page(OutboxState.DEAD, above=0, limit=9))
    assert [entry.id for entry in listed] == ["a:1", "c:1"]
    assert [
        entry.id
        for entry in await store.run(lambda tx: tx.outbox.page(OutboxState.DEAD, above=listed[0].number, limit=9))
    ] == ["c:1"]
    assert len(await store.run(lambda tx: tx.outbox.page(OutboxState.DEAD, above=0, limit=1))) == 1
    assert await store.run(lambda tx: tx.outbox.counts()) == {OutboxState.PENDING: 1, OutboxState.DEAD: 2}


async def test_what_ended_is_forgotten_by_age_and_nothing_else_is(store: Store) -> None:
    await store.run(added(*(an_entry(f"{key}:1", key=key) for key in "abc")))
    for number, entry in enumerate((await claim(store))[:2]):
        await deliver(store, entry, now=NOW + number)

    async def purge(state: OutboxState, before: int, limit: int = 9) -> int:
        return await store.run(lambda tx: tx.outbox.purge(state, ended_before=before, limit=limit))

    assert await purge(OutboxState.SENT, NOW) == 0
    assert await purge(OutboxState.SENT, NOW + 1) == 1
    assert await purge(OutboxState.DEAD, NOW + 10**9) == 0
    assert await purge(OutboxState.PENDING, NOW + 10**9) == 0
    assert await store.run(lambda tx: tx.outbox.find("b:1")) is not None
    assert await store.run(lambda tx: tx.outbox.find("c:1")) is not None
