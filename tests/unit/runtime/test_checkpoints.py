"""Checkpoints: a walk begins at one where older records went, and each shows what was changed or cut off before it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from gateway.domain.audit import AuditEvent, Checkpoint, Stream, chain
from gateway.runtime.audit import of_admin
from tests.unit.runtime.rig import Rig

pytestmark = pytest.mark.anyio

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR


async def write(rig: Rig, count: int) -> None:
    for number in range(count):
        record = of_admin(AuditEvent.KEY_REVOKED, rig.clock.now(), key=f"key{number}")
        await rig.store.run(lambda tx, record=record: tx.audit.append(record))


async def even_hours(rig: Rig, hours: int = 1) -> None:
    for _ in range(hours * 15):
        await rig.after(240_000)


def tables(rig: Rig) -> Any:
    return vars(rig.store)["_tables"]


async def checkpoints(rig: Rig) -> list[Checkpoint]:
    return list(await rig.store.run(lambda tx: tx.audit.checkpoints(Stream.ADMIN, after=0, limit=100)))


async def test_every_hour_in_which_something_was_written_leaves_one(rig: Rig) -> None:
    await write(rig, 2)
    await even_hours(rig)
    first = await checkpoints(rig)
    assert len(first) == 1
    await even_hours(rig, 2)
    assert await checkpoints(rig) == first, "nothing was written"
    await write(rig, 1)
    await even_hours(rig)
    assert [c.seq for c in await checkpoints(rig)] == [first[0].seq, first[0].seq + 1]


async def test_old_records_go_up_to_a_checkpoint_and_a_walk_begins_there(rig: Rig) -> None:
    await write(rig, 4)
    await even_hours(rig)
    (anchor,) = await checkpoints(rig)
    await write(rig, 2)
    await rig.after(399 * DAY)
    await even_hours(rig)
    assert (await rig.services.admin.audit_verify()).starts == {}
    await rig.after(2 * DAY)
    await even_hours(rig)
    kept = await rig.services.admin.audit_read(Stream.ADMIN, after=0)
    assert kept[0].seq == anchor.seq
    found = await rig.services.admin.audit_verify()
    assert (found.is_intact, found.starts) == (True, {Stream.ADMIN: anchor.seq})
    (told,) = await rig.records("retention.applied")
    assert told == {"by": "retention", "audit_records": anchor.seq - 1}


def _cut_off(rig: Rig, admin: list[Any]) -> None:
    del tables(rig).audit[Stream.ADMIN, admin[-1].seq]


def _rewrite(rig: Rig, admin: list[Any]) -> None:
    """Change the third record and make the chain fit again."""
    hashed = admin[1].hash
    for record in admin[2:]:
        body = record.body.replace(b"key2", b"keyX")
        hashed = chain(hashed, body)
        tables(rig).audit[Stream.ADMIN, record.seq] = replace(record, body=body, hash=hashed)


def _take_the_checkpoint_away(rig: Rig, _: list[Any]) -> None:
    tables(rig).checkpoints.clear()


@pytest.mark.parametrize(
    ("harm", "what"),
    [(_cut_off, "which is missing"), (_rewrite, "not the one a checkpoint has")],
)
async def test_what_a_chain_alone_cannot_show_its_checkpoint_does(
    rig: Rig, harm: Callable[[Rig, list[Any]], None], what: str
) -> None:
    await write(rig, 6)
    given = list(await rig.services.admin.audit_checkpoint())
    assert (await rig.services.admin.audit_verify(given)).is_intact
    admin = [record for (stream, _), record in tables(rig).audit.items() if stream is Stream.ADMIN]
    harm(rig, admin)
    for checkpoints in ((), given):
        (broken,) = (await rig.services.admin.audit_verify(checkpoints)).broken
        assert (broken.stream, what in broken.what) == (Stream.ADMIN, True)
    _take_the_checkpoint_away(rig, admin)
    assert (await rig.services.admin.audit_verify()).is_intact, "a chain rewritten with its checkpoint looks whole"
    assert not (await rig.services.admin.audit_verify(given)).is_intact, "but not beside a copy kept elsewhere"


async def test_a_walk_without_its_first_checkpoint_says_so(rig: Rig) -> None:
    await write(rig, 4)
    await even_hours(rig)
    await write(rig, 1)
    await rig.after(401 * DAY)
    await even_hours(rig)
    old = Checkpoint(stream=Stream.ADMIN, seq=1, hash=bytes(32), at=0)
    found = await rig.services.admin.audit_verify([old])
    assert (found.is_intact, found.unchecked) == (True, (old,))
    _take_the_checkpoint_away(rig, [])
    (broken,) = (await rig.services.admin.audit_verify()).broken
    assert "before which records went by age, is missing" in broken.what
