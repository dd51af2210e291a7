"""Outbox entries. Only the first pending one of a key has a `due_at`, so that those behind it cost no look at all.

INVARIANT: of the pending entries of one key exactly the one with the lowest number has its turn. Whoever adds, ends or
requeues one keeps it so in the same transaction; transactions take turns (ADR 0009).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import (
    CheckConstraint,
    Index,
    Table,
    UniqueConstraint,
    bindparam,
    delete,
    func,
    null,
    select,
    update,
)

from gateway.adapters.sql.connection import Connection, Row, Values
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, counter, needed, optional
from gateway.adapters.sql.statements import Statement, insert_of, names_of, one_of, value
from gateway.domain.outbox import UNDELIVERED, OutboxEntry, OutboxState
from gateway.failpoints import Point, reach
from gateway.runtime.ports import StaleState

OUTBOX: Final = Table(
    "outbox",
    METADATA,
    counter(),
    needed("id", TEXT),
    needed("key", TEXT),
    needed("type", TEXT),
    optional("app", TEXT),
    needed("subject", TEXT),
    needed("at", NUMBER),
    needed("data", TEXT),
    optional("traceparent", TEXT),
    needed("state", TEXT),
    needed("attempts", NUMBER),
    optional("due_at", NUMBER),
    optional("holder", TEXT),
    optional("ended_at", NUMBER),
    optional("error", TEXT),
    UniqueConstraint("id", name="outbox_id"),
    sqlite_strict=True,
)
_O = OUTBOX.c
_IS_PENDING = one_of(_O.state, [OutboxState.PENDING])
_IS_DEAD = one_of(_O.state, [OutboxState.DEAD])
OUTBOX.append_constraint(CheckConstraint(one_of(_O.state, OutboxState), name="outbox_state"))
Index("outbox_due", _O.due_at)
Index("outbox_pending", _O.key, _O.number, sqlite_where=_IS_PENDING, postgresql_where=_IS_PENDING)
Index("outbox_ended", _O.state, _O.ended_at)
Index("outbox_listed", _O.state, _O.number)

_LIMIT = bindparam("limit", type_=NUMBER)

_WITHOUT: Final = ("number",)
_ADD: Final = Statement(
    insert_of(OUTBOX, without=_WITHOUT).on_conflict_do_nothing(), *names_of(OUTBOX, without=_WITHOUT)
)
_HAS_PENDING: Final = Statement(
    select(func.count()).select_from(
        select(_O.number).where(_IS_PENDING, _O.key == value(_O.key)).limit(1).subquery()
    ),
    "key",
)
_CLAIM: Final = Statement(
    update(OUTBOX)
    .values(attempts=_O.attempts + 1, due_at=value(_O.due_at, "until"), holder=value(_O.holder))
    .where(
        _O.number.in_(
            select(_O.number)
            .where(_O.due_at <= value(_O.due_at, "now"))
            .order_by(_O.due_at, _O.number)
            .limit(_LIMIT)
            # Beside another relay of the same database; SQLite has one connection and leaves it out.
            .with_for_update(skip_locked=True)
        )
    )
    .returning(*OUTBOX.columns),
    "until",
    "holder",
    "now",
    "limit",
)
_SAVE: Final = Statement(
    update(OUTBOX)
    .values(
        state=value(_O.state),
        attempts=value(_O.attempts),
        due_at=value(_O.due_at),
        holder=value(_O.holder),
        ended_at=value(_O.ended_at),
        error=value(_O.error),
    )
    .where(_O.id == value(_O.id), _IS_PENDING, _O.holder == value(_O.holder, "was_held_by")),
    "state",
    "attempts",
    "due_at",
    "holder",
    "ended_at",
    "error",
    "id",
    "was_held_by",
)
_FIRST = select(func.min(_O.number)).where(_IS_PENDING, _O.key == value(_O.key)).scalar_subquery()
_NEXT_TURN: Final = Statement(
    update(OUTBOX).values(due_at=value(_O.due_at)).where(_O.number == _FIRST, _O.due_at.is_(null())), "due_at", "key"
)
_TAKE_OUT: Final = Statement(delete(OUTBOX).where(_O.id == value(_O.id), _IS_DEAD), "id")
_FIND: Final = Statement(select(OUTBOX).where(_O.id == value(_O.id)), "id")
_PAGE: Final = Statement(
    select(OUTBOX)
    .where(_O.state == value(_O.state), _O.number > value(_O.number, "above"))
    .order_by(_O.number)
    .limit(_LIMIT),
    "state",
    "above",
    "limit",
)
_NEXT_DUE: Final = Statement(select(_O.due_at).where(_O.due_at.is_not(None)).order_by(_O.due_at).limit(1))
_OLDEST: Final = Statement(select(_O.at).where(_IS_PENDING).order_by(_O.number).limit(1))
_IS_UNDELIVERED = one_of(_O.state, UNDELIVERED)
_COUNTS: Final = Statement(select(_O.state, func.count()).where(_IS_UNDELIVERED).group_by(_O.state))
_PURGE: Final = Statement(
    delete(OUTBOX).where(
        _O.number.in_(
            select(_O.number)
            .where(_O.state == value(_O.state), _O.ended_at < value(_O.ended_at, "ended_before"))
            .order_by(_O.ended_at)
            .limit(_LIMIT)
        )
    ),
    "state",
    "ended_before",
    "limit",
)


class SqlOutbox:
    """`Outbox` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, entry: OutboxEntry) -> bool:
        is_behind = self._connection.fetch_all(_HAS_PENDING, (entry.key,))[0][0]
        is_added = bool(
            self._connection.execute(_ADD, _values(entry, None if is_behind else entry.due_at or entry.at))
        )
        reach(Point.OUTBOX_ADDED)
        return is_added

    def claim(self, holder: str, *, now: int, until: int, limit: int) -> Sequence[OutboxEntry]:
        rows = self._connection.fetch_all(_CLAIM, (until, holder, now, limit))
        reach(Point.OUTBOX_CLAIMED)
        return sorted((_entry_of(row) for row in rows), key=lambda entry: entry.number)

    def save(self, entry: OutboxEntry, *, holder: str) -> None:
        moved = (entry.state.value, entry.attempts, entry.due_at, entry.holder, entry.ended_at, entry.error)
        if not self._connection.execute(_SAVE, (*moved, entry.id, holder)):
            raise StaleState(f"outbox entry `{entry.id}` is not pending and held by `{holder}`")
        if entry.ended_at is not None:
            self._connection.write(_NEXT_TURN, (entry.ended_at, entry.key))

    def requeue(self, entry: OutboxEntry) -> None:
        if not self._connection.execute(_TAKE_OUT, (entry.id,)):
            raise StaleState(f"outbox entry `{entry.id}` is not dead")
        self.add(entry)

    def find(self, event: str) -> OutboxEntry | None:
        row = self._connection.fetch_one(_FIND, (event,))
        return None if row is None else _entry_of(row)

    def page(self, state: OutboxState, *, above: int, limit: int) -> Sequence[OutboxEntry]:
        return [_entry_of(row) for row in self._connection.fetch_all(_PAGE, (state.value, above, limit))]

    def next_due(self) -> int | None:
        row = self._connection.fetch_one(_NEXT_DUE)
        return None if row is None else row[0]

    def oldest_pending(self) -> int | None:
        row = self._connection.fetch_one(_OLDEST)
        return None if row is None else row[0]

    def counts(self) -> Mapping[OutboxState, int]:
        found = dict.fromkeys(UNDELIVERED, 0)
        found.update({OutboxState(state): count for state, count in self._connection.fetch_all(_COUNTS)})
        return found

    def purge(self, state: OutboxState, *, ended_before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (state.value, ended_before, limit))


def _values(entry: OutboxEntry, due_at: int | None) -> Values:
    return (
        entry.id,
        entry.key,
        entry.type,
        entry.app,
        entry.subject,
        entry.at,
        entry.data,
        entry.traceparent,
        entry.state.value,
        entry.attempts,
        due_at,
        entry.holder,
        entry.ended_at,
        entry.error,
    )


def _entry_of(row: Row) -> OutboxEntry:
    number, name, key, kind, app, subject, at, data, traceparent, state, attempts, due_at, holder, ended_at, error = (
        row
    )
    return OutboxEntry(
        id=name,
        key=key,
        type=kind,
        app=app,
        subject=subject,
        at=at,
        data=data,
        traceparent=traceparent,
        state=OutboxState(state),
        number=number,
        attempts=attempts,
        due_at=due_at,
        holder=holder,
        ended_at=ended_at,
        error=error,
    )
