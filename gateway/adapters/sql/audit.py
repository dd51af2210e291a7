"""The audit trail: one hash chain per stream, extended in the transaction of what it tells.

Records of a unit of work are chained when the unit is done (or reads its own trail), not one by one: an
audit write is the last thing a unit locks, and a unit that fails costs no hashing.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import CheckConstraint, Table, UniqueConstraint, bindparam, delete, select

from gateway.adapters.sql.connection import Connection, Row
from gateway.adapters.sql.metadata import BYTES, METADATA, NUMBER, TEXT, counter, key, needed
from gateway.adapters.sql.statements import (
    Statement,
    insert_many_of,
    insert_of,
    names_of,
    names_of_many,
    one_of,
    value,
)
from gateway.domain.audit import GENESIS, AuditRecord, ChainedRecord, Checkpoint, Stream, body_of, chain
from gateway.failpoints import Point, reach

AUDIT: Final = Table(
    "audit",
    METADATA,
    counter(),
    needed("stream", TEXT),
    needed("seq", NUMBER),
    needed("body", BYTES),
    needed("hash", BYTES),
    UniqueConstraint("stream", "seq", name="audit_chain"),
    sqlite_strict=True,
)
_A = AUDIT.c
AUDIT.append_constraint(CheckConstraint(one_of(_A.stream, Stream), name="audit_stream"))

CHECKPOINTS: Final = Table(
    "audit_checkpoints",
    METADATA,
    key("stream", TEXT),
    key("seq", NUMBER),
    needed("hash", BYTES),
    needed("at", NUMBER),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

_RECORD = select(_A.stream, _A.seq, _A.body, _A.hash)
_LIMIT = bindparam("limit", type_=NUMBER)

_APPEND: Final = Statement(insert_of(AUDIT, without=["number"]), "stream", "seq", "body", "hash")
_BLOCK: Final = 12
"""Records written by one statement."""
_APPEND_BLOCK: Final = Statement(
    insert_many_of(AUDIT, _BLOCK, without=["number"]), *names_of_many(AUDIT, _BLOCK, without=["number"])
)
_HEAD: Final = Statement(
    select(_A.seq, _A.hash).where(_A.stream == value(_A.stream)).order_by(_A.seq.desc()).limit(1), "stream"
)
_READ: Final = Statement(
    _RECORD.where(_A.stream == value(_A.stream), _A.seq > value(_A.seq, "after")).order_by(_A.seq).limit(_LIMIT),
    "stream",
    "after",
    "limit",
)
_TAIL: Final = Statement(_RECORD.order_by(_A.number.desc()).limit(_LIMIT), "limit")
_TAIL_OF_STREAM: Final = Statement(
    _RECORD.where(_A.stream == value(_A.stream)).order_by(_A.seq.desc()).limit(_LIMIT), "stream", "limit"
)
_K = CHECKPOINTS.c
_ADD_CHECKPOINT: Final = Statement(insert_of(CHECKPOINTS).on_conflict_do_nothing(), *names_of(CHECKPOINTS))
_CHECKPOINTS: Final = Statement(
    select(CHECKPOINTS)
    .where(_K.stream == value(_K.stream), _K.seq > value(_K.seq, "after"))
    .order_by(_K.seq)
    .limit(_LIMIT),
    "stream",
    "after",
    "limit",
)
_NEWEST_CHECKPOINT: Final = Statement(
    select(CHECKPOINTS)
    .where(_K.stream == value(_K.stream), _K.at <= value(_K.at, "until"))
    .order_by(_K.seq.desc())
    .limit(1),
    "stream",
    "until",
)
_PURGE: Final = Statement(
    delete(AUDIT).where(
        _A.number.in_(
            select(_A.number)
            .where(_A.stream == value(_A.stream), _A.seq < value(_A.seq, "before"))
            .order_by(_A.seq)
            .limit(_LIMIT)
        )
    ),
    "stream",
    "before",
    "limit",
)
_PURGE_CHECKPOINTS: Final = Statement(
    delete(CHECKPOINTS).where(
        _K.stream == value(_K.stream),
        _K.seq.in_(
            select(_K.seq)
            .where(_K.stream == value(_K.stream, "of"), _K.seq < value(_K.seq, "before"))
            .order_by(_K.seq)
            .limit(_LIMIT)
        ),
    ),
    "stream",
    "of",
    "before",
    "limit",
)

Head = tuple[int, bytes]


class SqlAudit:
    """`Audit` on one connection, with the head of every stream in memory.

    The store calls `begin` before a unit, `flush` when it is done, `rollback` when it failed, and `forget`
    when a whole transaction was lost.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._pending: list[AuditRecord] = []
        self._heads: dict[Stream, Head] = {}
        self._heads_before: dict[Stream, Head] = {}

    def append(self, record: AuditRecord) -> None:
        self._pending.append(record)

    def read(self, stream: Stream, *, after: int, limit: int) -> Sequence[ChainedRecord]:
        self.flush()
        return [_record_of(row) for row in self._connection.fetch_all(_READ, (stream.value, after, limit))]

    def tail(self, *, limit: int, stream: Stream | None = None) -> Sequence[ChainedRecord]:
        self.flush()
        if stream is None:
            rows = self._connection.fetch_all(_TAIL, (limit,))
        else:
            rows = self._connection.fetch_all(_TAIL_OF_STREAM, (stream.value, limit))
        return [_record_of(row) for row in reversed(rows)]

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        values = (checkpoint.stream.value, checkpoint.seq, checkpoint.hash, checkpoint.at)
        self._connection.write(_ADD_CHECKPOINT, values)

    def checkpoints(self, stream: Stream, *, after: int, limit: int) -> Sequence[Checkpoint]:
        rows = self._connection.fetch_all(_CHECKPOINTS, (stream.value, after, limit))
        return [_checkpoint_of(row) for row in rows]

    def newest_checkpoint(self, stream: Stream, *, until: int) -> Checkpoint | None:
        row = self._connection.fetch_one(_NEWEST_CHECKPOINT, (stream.value, until))
        return None if row is None else _checkpoint_of(row)

    def purge(self, stream: Stream, *, before: int, limit: int) -> int:
        self.flush()
        # The head may be known from its row alone, so its row stays.
        before = min(before, self._head_of(stream)[0])
        forgotten = self._connection.execute(_PURGE, (stream.value, before, limit))
        self._connection.write(_PURGE_CHECKPOINTS, (stream.value, stream.value, before, limit))
        return forgotten

    def begin(self) -> None:
        self._heads_before = self._heads.copy()

    def flush(self) -> None:
        """Chain and write what was appended."""
        if not self._pending:
            return
        rows: list[tuple[str, int, bytes, bytes]] = []
        for record in self._pending:
            seq, previous = self._head_of(record.stream)
            body = body_of(record, seq + 1)
            head = (seq + 1, chain(previous, body))
            self._heads[record.stream] = head
            rows.append((record.stream.value, head[0], body, head[1]))
        self._pending.clear()
        blocks = len(rows) - len(rows) % _BLOCK
        for place in range(0, blocks, _BLOCK):
            block = rows[place : place + _BLOCK]
            self._connection.write(_APPEND_BLOCK, [field for row in block for field in row])
        self._connection.write_many(_APPEND, rows[blocks:])
        reach(Point.AUDIT_WRITTEN)

    def rollback(self) -> None:
        self._pending.clear()
        self._heads = self._heads_before

    def forget(self) -> None:
        self._pending.clear()
        self._heads, self._heads_before = {}, {}

    def _head_of(self, stream: Stream) -> Head:
        head = self._heads.get(stream)
        if head is not None:
            return head
        row = self._connection.fetch_one(_HEAD, (stream.value,))
        return (0, GENESIS) if row is None else (row[0], row[1])


def _record_of(row: Row) -> ChainedRecord:
    stream, seq, body, digest = row
    return ChainedRecord(stream=Stream(stream), seq=seq, body=body, hash=digest)


def _checkpoint_of(row: Row) -> Checkpoint:
    stream, seq, digest, at = row
    return Checkpoint(stream=Stream(stream), seq=seq, hash=digest, at=at)
