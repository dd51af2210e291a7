"""The audit trail, read and verified."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson

from gateway.domain.audit import GENESIS, AuditEvent, ChainedRecord, Checkpoint, Stream, chain
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.checkpoints import base_of, write_checkpoints
from gateway.runtime.ports import Store, Tx

_BATCH: Final = 500
_EVENTS: Final = frozenset(AuditEvent)
_LAST: Final = 253_402_300_799_999
"""The last instant a date can be written for: the end of the year 9999, in ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailRecord:
    """One audit record, read back."""

    stream: Stream
    seq: int
    event: AuditEvent
    at: int
    facts: Mapping[str, Any]
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The first bad record of a stream."""

    stream: Stream
    seq: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a walk over the chains found. `starts` names the record a walk began at where older ones went by age;
    `unchecked` the given checkpoints that lie before it."""

    records: int
    streams: int
    broken: tuple[Broken, ...] = ()
    starts: Mapping[Stream, int] = field(default_factory=dict[Stream, int])
    unchecked: tuple[Checkpoint, ...] = ()

    @property
    def is_intact(self) -> bool:
        """Whether every record follows from the one before it, and every checkpoint from its record."""
        return not self.broken


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    records: int
    start: int | None
    broken: Broken | None
    unchecked: tuple[Checkpoint, ...]


class Trail:
    """Reads one store's chains."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def tail(self, *, limit: int = 50, stream: Stream | None = None) -> Sequence[TrailRecord]:
        """The newest records, oldest first.

        Raises:
            GatewayError: a record cannot be read.
        """
        found = await self._store.run(lambda tx: list(tx.audit.tail(limit=limit, stream=stream)))
        return [_read(record) for record in found]

    async def after(self, since: Mapping[Stream, int], *, limit: int = 500) -> Sequence[TrailRecord]:
        """What each stream gained since the seq named for it, in the order of time.

        Raises:
            GatewayError: a record cannot be read.
        """

        def work(tx: Tx) -> list[ChainedRecord]:
            return [r for s in Stream for r in tx.audit.read(s, after=since.get(s, 0), limit=limit)]

        records = [_read(record) for record in await self._store.run(work)]
        return sorted(records, key=lambda record: record.at)

    async def read(self, stream: Stream, *, after: int, limit: int = 500) -> Sequence[TrailRecord]:
        """The records of one stream with seq > `after`, in order.

        Raises:
            GatewayError: a record cannot be read.
        """
        found = await self._store.run(lambda tx: list(tx.audit.read(stream, after=after, limit=limit)))
        return [_read(record) for record in found]

    async def checkpoint(self, now: int) -> Sequence[Checkpoint]:
        """Note where every stream stands now."""
        return await self._store.run(lambda tx: write_checkpoints(tx, now))

    async def verify(self, given: Sequence[Checkpoint] = ()) -> Verification:
        """Walk every chain from its oldest kept record, or the checkpoint up to which records went by age, and
        recompute it. Checkpoints beside the chain and `given` ones must name the record they were made at. A
        stream's first flaw ends its walk."""
        walks = {
            stream: await self._walk(stream, {c.seq: c for c in given if c.stream is stream}) for stream in Stream
        }
        return Verification(
            records=sum(walk.records for walk in walks.values()),
            streams=sum(1 for walk in walks.values() if walk.records),
            broken=tuple(walk.broken for walk in walks.values() if walk.broken is not None),
            starts={stream: walk.start for stream, walk in walks.items() if walk.start is not None},
            unchecked=tuple(checkpoint for walk in walks.values() for checkpoint in walk.unchecked),
        )

    async def _walk(self, stream: Stream, given: Mapping[int, Checkpoint]) -> _Walk:
        base = await self._store.run(lambda tx: base_of(tx, stream))
        first = 1 if base is None else base
        seq, head, what, place = first - 1, GENESIS if base is None else None, None, None
        # In batches, so that calls are served between them.
        while what is None:
            batch, kept = await self._store.run(
                lambda tx, seq=seq: (
                    tx.audit.read(stream, after=seq, limit=_BATCH),
                    tx.audit.checkpoints(stream, after=seq, limit=_BATCH),
                )
            )
            if head is None and (not kept or kept[0].seq != first):
                what = f"the checkpoint at record {first}, before which records went by age, is missing"
                break
            if not batch:
                missing = sorted(place for place in (*given, *(c.seq for c in kept)) if place > seq)
                what = f"a checkpoint names record {missing[0]}, which is missing" if missing else None
                break
            noted = {c.seq: c for c in kept}
            for record in batch:
                what = _flaw(record, seq + 1, head)
                if what is None and any(
                    known.get(record.seq, record).hash != record.hash for known in (noted, given)
                ):
                    what = "the chain value is not the one a checkpoint has for this record"
                if what is not None:
                    place = record.seq
                    break
                seq, head = record.seq, record.hash
        return _Walk(
            records=seq - first + 1,
            start=base,
            broken=None if what is None else Broken(stream=stream, seq=place or seq + 1, what=what),
            unchecked=tuple(checkpoint for place, checkpoint in given.items() if place < first),
        )


def _flaw(record: ChainedRecord, expected: int, head: bytes | None) -> str | None:
    """What is wrong with a record; its chain value is a checkpoint's to judge where nothing is kept before it."""
    if record.seq != expected:
        return f"record {expected} is missing"
    if head is not None and chain(head, record.body) != record.hash:
        return "the chain value does not follow from the text and the record before"
    body = _body_in(record.body)
    if body is None:
        return "the text is no audit record"
    if (body["stream"], body["seq"]) != (record.stream.value, record.seq):
        return "the text belongs to another place"
    return None


def _read(record: ChainedRecord) -> TrailRecord:
    body = _body_in(record.body)
    if body is None or body["event"] not in _EVENTS:
        where = f"record {record.seq} of stream `{record.stream}`"
        raise GatewayError(ErrorCode.STORE_UNAVAILABLE, f"{where} is damaged; run `ostiary audit verify`")
    return TrailRecord(
        stream=record.stream,
        seq=record.seq,
        event=AuditEvent(body["event"]),
        at=body["at"],
        facts=body["facts"],
        hash=record.hash,
    )


def _body_in(text: bytes) -> Mapping[str, Any] | None:
    """The members of a record, each of its type; None for any other text, for somebody may have written it."""
    try:
        # The native reader has an end to nesting of its own, and no text makes it fail otherwise.
        body: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    match body:
        case {"stream": str(), "seq": int(), "event": str(), "at": int(at), "facts": dict()} if 0 <= at <= _LAST:
            return cast("dict[str, Any]", body)
        case _:
            return None
