"""The audit trail, read and verified."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.domain.audit import GENESIS, AuditEvent, ChainedRecord, Stream, chain
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.ports import Store, Tx

_BATCH: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailRecord:
    """One audit record, read back."""

    stream: Stream
    seq: int
    event: AuditEvent
    at: int
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The first bad record of a stream."""

    stream: Stream
    seq: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a walk over the chains found."""

    records: int
    streams: int
    broken: tuple[Broken, ...] = ()

    @property
    def is_intact(self) -> bool:
        """Whether every record follows from the one before it."""
        return not self.broken


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

    async def verify(self) -> Verification:
        """Walk every chain from its oldest record and recompute it; a stream's first bad record ends its walk."""
        walks = [await self._walk(stream) for stream in Stream]
        return Verification(
            records=sum(records for records, _ in walks),
            streams=sum(1 for records, _ in walks if records),
            broken=tuple(broken for _, broken in walks if broken is not None),
        )

    async def _walk(self, stream: Stream) -> tuple[int, Broken | None]:
        seq, head = 0, GENESIS
        # In batches, so that calls are served between them.
        while batch := await self._store.run(lambda tx, seq=seq: tx.audit.read(stream, after=seq, limit=_BATCH)):
            for record in batch:
                what = _flaw(record, seq + 1, head)
                if what is not None:
                    return seq, Broken(stream=stream, seq=record.seq, what=what)
                seq, head = record.seq, record.hash
        return seq, None


def _flaw(record: ChainedRecord, expected: int, head: bytes) -> str | None:
    if record.seq != expected:
        return f"record {expected} is missing"
    if chain(head, record.body) != record.hash:
        return "the chain value does not follow from the text and the record before"
    try:
        body = json.loads(record.body)
        place = body["stream"], body["seq"]
    except (ValueError, KeyError, TypeError):
        return "the text is no audit record"
    if place != (record.stream.value, record.seq):
        return "the text belongs to another place"
    return None


def _read(record: ChainedRecord) -> TrailRecord:
    try:
        body: dict[str, Any] = json.loads(record.body)
        event = AuditEvent(body["event"])
        return TrailRecord(stream=record.stream, seq=record.seq, event=event, at=body["at"], facts=body["facts"])
    except (ValueError, KeyError, TypeError) as error:
        where = f"record {record.seq} of stream `{record.stream}`"
        raise GatewayError(ErrorCode.STORE_UNAVAILABLE, f"{where} is damaged; run `ostiary audit verify`") from error
