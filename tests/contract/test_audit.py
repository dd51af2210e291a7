"""Contract of `Audit`: chains that show every flip, gap and swap, written with what they tell."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import orjson
import pytest

from gateway.domain.audit import GENESIS, ChainedRecord, Checkpoint, Stream, body_of, chain
from gateway.runtime.ports import Store, Tx
from gateway.testing import MemoryStore
from tests.contract.samples import NOW, a_record
from tests.contract.stores import Opener

pytestmark = pytest.mark.anyio


def first_bad(records: Sequence[ChainedRecord]) -> int | None:
    """The place (from 1) of the first record that does not continue the chain."""
    previous = GENESIS
    for place, record in enumerate(records, start=1):
        previous = chain(previous, record.body)
        if record.seq != place or record.hash != previous or orjson.loads(record.body)["seq"] != place:
            return place
    return None


async def whole(store: Store, stream: Stream = Stream.AGENT_TOOL) -> list[ChainedRecord]:
    return list(await store.run(lambda tx: tx.audit.read(stream, after=0, limit=1_000)))


async def fill(store: Store, count: int) -> None:
    for number in range(count):
        await store.run(lambda tx, number=number: tx.audit.append(a_record(number=number)))


async def test_a_record_is_stored_as_its_canonical_text(store: Store) -> None:
    await store.run(lambda tx: tx.audit.append(a_record(ref="call_1", sites=["shop"], page=None)))
    (record,) = await whole(store)
    body = body_of(a_record(ref="call_1", sites=["shop"]), 1)
    assert record == ChainedRecord(stream=Stream.AGENT_TOOL, seq=1, body=body, hash=chain(GENESIS, body))


async def test_records_of_many_units_make_one_chain(store: Store) -> None:
    await fill(store, 5)
    records = await whole(store)
    assert first_bad(records) is None
    assert [record.seq for record in records] == [1, 2, 3, 4, 5]
    # As the reference has it, so that anybody can check an export.
    assert records[1].hash == hashlib.sha256(records[0].hash + records[1].body).digest()


async def test_a_flipped_byte_a_gap_and_a_swap_are_seen(store: Store) -> None:
    await fill(store, 4)
    records = await whole(store)
    flipped = replace(records[1], body=records[1].body.replace(b'"number":1', b'"number":7'))
    assert first_bad([records[0], flipped, *records[2:]]) == 2
    assert first_bad([records[0], *records[2:]]) == 2
    assert first_bad([records[0], records[2], records[1], records[3]]) == 2
    assert first_bad(records[1:]) == 1


async def test_streams_are_chains_of_their_own(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number in range(3):
            tx.audit.append(a_record(number=number))
            tx.audit.append(a_record(number=number, stream=Stream.ADMIN))

    await store.run(work)
    for stream in (Stream.AGENT_TOOL, Stream.ADMIN):
        records = await whole(store, stream)
        assert [record.stream for record in records] == [stream] * 3
        assert first_bad(records) is None
    assert await whole(store, Stream.IDENTITY) == []


async def test_a_unit_sees_what_it_appended(store: Store) -> None:
    await fill(store, 1)

    def work(tx: Tx) -> tuple[Sequence[ChainedRecord], Sequence[ChainedRecord]]:
        tx.audit.append(a_record(number=1))
        read = tx.audit.read(Stream.AGENT_TOOL, after=0, limit=10)
        tx.audit.append(a_record(number=2))
        return read, tx.audit.tail(limit=10)

    read, tail = await store.run(work)
    assert [record.seq for record in read] == [1, 2]
    assert [record.seq for record in tail] == [1, 2, 3]
    assert list(tail) == await whole(store)


async def test_a_failing_unit_leaves_no_record_and_no_gap(store: Store) -> None:
    await fill(store, 1)

    def work(tx: Tx) -> None:
        tx.audit.append(a_record(number=99))
        tx.audit.tail(limit=1)
        tx.audit.append(a_record(number=100))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.run(work)
    await fill(store, 1)
    assert [record.seq for record in await whole(store)] == [1, 2]
    assert first_bad(await whole(store)) is None


async def test_a_record_without_canonical_text_fails_its_unit(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.installation.put("name", b"value")
        tx.audit.append(a_record(number=2**60))

    with pytest.raises(ValueError, match="integer"):
        await store.run(work)
    assert await store.run(lambda tx: tx.installation.get("name")) is None


async def test_a_failed_commit_leaves_no_record_and_no_gap(open_store: Opener) -> None:
    store = open_store()
    await fill(store, 2)
    heal = open_store.fail_commits(store)
    with pytest.raises(Exception, match="cannot commit"):
        await fill(store, 1)
    heal()
    await fill(store, 2)
    assert [record.seq for record in await whole(store)] == [1, 2, 3, 4]
    assert first_bad(await whole(store)) is None
    await store.close()


async def test_reading_goes_on_after_a_place(store: Store) -> None:
    await fill(store, 5)
    page = await store.run(lambda tx: tx.audit.read(Stream.AGENT_TOOL, after=2, limit=2))
    assert [record.seq for record in page] == [3, 4]


async def test_the_tail_is_the_newest_over_one_or_all_streams_oldest_first(store: Store) -> None:
    for number, stream in enumerate([Stream.ADMIN, Stream.IDENTITY, Stream.ADMIN, Stream.AGENT_TOOL]):
        record = a_record(number=number, stream=stream)
        await store.run(lambda tx, record=record: tx.audit.append(record))
    tail = await store.run(lambda tx: tx.audit.tail(limit=3))
    assert [(record.stream, record.seq) for record in tail] == [
        (Stream.IDENTITY, 1),
        (Stream.ADMIN, 2),
        (Stream.AGENT_TOOL, 1),
    ]
    of_admin = await store.run(lambda tx: tx.audit.tail(limit=1, stream=Stream.ADMIN))
    assert [record.seq for record in of_admin] == [2]


def a_checkpoint(record: ChainedRecord, at: int = NOW) -> Checkpoint:
    return Checkpoint(stream=record.stream, seq=record.seq, hash=record.hash, at=at)


async def test_checkpoints_are_kept_once_and_read_in_order(store: Store) -> None:
    await fill(store, 3)
    made = [a_checkpoint(record, at=NOW + record.seq) for record in await whole(store)]

    def work(tx: Tx) -> None:
        for checkpoint in (made[2], made[0], made[1], replace(made[0], at=1)):
            tx.audit.add_checkpoint(checkpoint)

    await store.run(work)
    assert list(await store.run(lambda tx: tx.audit.checkpoints(Stream.AGENT_TOOL, after=1, limit=1))) == [made[1]]
    assert list(await store.run(lambda tx: tx.audit.checkpoints(Stream.ADMIN, after=0, limit=9))) == []
    for until, newest in ((NOW, None), (NOW + 1, made[0]), (NOW + 2, made[1]), (NOW + 9, made[2])):
        found = await store.run(lambda tx, at=until: tx.audit.newest_checkpoint(Stream.AGENT_TOOL, until=at))
        assert found == newest


async def test_a_purge_takes_the_oldest_records_of_one_stream_and_their_checkpoints(store: Store) -> None:
    await fill(store, 5)
    await store.run(lambda tx: tx.audit.append(a_record(stream=Stream.ADMIN)))
    for record in await whole(store):
        await store.run(lambda tx, record=record: tx.audit.add_checkpoint(a_checkpoint(record)))
    assert await store.run(lambda tx: tx.audit.purge(Stream.AGENT_TOOL, before=4, limit=2)) == 2
    assert [record.seq for record in await whole(store)] == [3, 4, 5]
    assert await store.run(lambda tx: tx.audit.purge(Stream.AGENT_TOOL, before=4, limit=2)) == 1
    assert [record.seq for record in await whole(store)] == [4, 5]
    kept = await store.run(lambda tx: tx.audit.checkpoints(Stream.AGENT_TOOL, after=0, limit=9))
    assert [checkpoint.seq for checkpoint in kept] == [4, 5]
    assert len(await whole(store, Stream.ADMIN)) == 1


async def test_a_purge_leaves_the_head_and_the_chain_goes_on_from_it(open_store: Opener) -> None:
    store = open_store()
    await fill(store, 3)
    head = (await whole(store))[-1]
    assert await store.run(lambda tx: tx.audit.purge(Stream.AGENT_TOOL, before=99, limit=99)) == 2
    if not isinstance(store, MemoryStore):
        await store.close()
        store = open_store()
    await fill(store, 1)
    kept, added = await whole(store)
    assert (kept, added.seq, added.hash) == (head, 4, chain(head.hash, added.body))
    await store.close()
