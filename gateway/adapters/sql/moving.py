"""The way from SQLite to PostgreSQL: every row, compared afterwards, in one transaction of the target.

Making the tables is part of that transaction, so a move that fails leaves the target as it was.
"""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql
from sqlalchemy import Connection, Table, create_engine, delete, exists, func, insert, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from gateway.adapters.sql import postgresql, sqlite, unit_of_work
from gateway.adapters.sql.audit import AUDIT
from gateway.adapters.sql.ledger import QUOTA
from gateway.adapters.sql.metadata import METADATA
from gateway.adapters.sql.migrations import migrate_sqlite, upgrade
from gateway.domain.audit import GENESIS, AuditRecord, Stream, body_of, chain
from gateway.runtime.ports import StoreRefused, StoreUnavailable

assert unit_of_work, "its import completes the metadata"

_ROWS: Final = 1_000
"""How many rows of the source are in memory at once."""

Head = tuple[int, bytes]
Rows = dict[str, int]
Heads = dict[Stream, Head]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What source and target both hold: rows by table, and the newest record of every stream with its chain value."""

    rows: Rows
    heads: Heads


def move(source: Path, url: str, record_of: Callable[[Moved], AuditRecord]) -> Moved:
    """Copy the SQLite database `source` into the empty PostgreSQL database `url` and add the record of that.

    The source is brought up to date first, and otherwise left as it is.

    Raises:
        StoreRefused: one of them will not do, or they differed afterwards; the target is as it was.
        StoreUnavailable: the target failed; unless the message says otherwise, it is as it was.
    """
    migrate_sqlite(source)
    link = postgresql.reach(url)
    try:
        link.autocommit = False
        origin = create_engine("sqlite+pysqlite://", creator=lambda: sqlite.connect(source), poolclass=NullPool)
        goal = create_engine("postgresql+psycopg://", creator=lambda: link, poolclass=NullPool)
        with _told(url), origin.connect() as old, goal.connect() as new, new.begin() as transaction:
            postgresql.take_gateway_lock(link, url, for_session=False)
            upgrade(new, "head", postgresql.place_of(url))
            _expect_empty(new, url)
            new.execute(delete(QUOTA))
            for table in METADATA.sorted_tables:
                _copy(table, old, link)
                _go_on_counting(table, link)
            moved = _compared(old, new)
            _append(new, moved, record_of(moved))
            with _commit_told():
                transaction.commit()
        return moved
    finally:
        link.close()


def _expect_empty(new: Connection, url: str) -> None:
    for table in METADATA.sorted_tables:
        # The one row of the quota comes with the table; it counts rows of others.
        if table is not QUOTA and new.scalar(select(exists(select(table)))):
            raise StoreRefused(
                f"{postgresql.place_of(url)} is in use: there are rows in the table `{table.name}`; name an empty database"
            )


def _copy(table: Table, old: Connection, link: postgresql.Link) -> None:
    names = [column.name for column in table.columns]
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, names))
    )
    rows = old.execute(select(table).order_by(*table.primary_key.columns), execution_options={"yield_per": _ROWS})
    with link.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            _expect_no_nul(table.name, names, row)
            copy.write_row(row)


def _expect_no_nul(table: str, names: list[str], row: Any) -> None:
    for name, value in zip(names, row, strict=True):
        if isinstance(value, str) and "\0" in value:
            raise StoreRefused(
                f"column `{name}` of table `{table}` holds a NUL character, which PostgreSQL cannot: "
                "purge the row, or change it in the source"
            )


def _go_on_counting(table: Table, link: postgresql.Link) -> None:
    """Let the next row that the target numbers follow the last one that came."""
    if table.autoincrement_column is None:
        return
    name = sql.Identifier(table.autoincrement_column.name)
    link.execute(
        sql.SQL("SELECT setval(pg_get_serial_sequence({}, {}), coalesce(max({}), 1), count(*) > 0) FROM {}").format(
            table.name, table.autoincrement_column.name, name, sql.Identifier(table.name)
        )
    )


def _compared(old: Connection, new: Connection) -> Moved:
    for table in METADATA.sorted_tables:
        ours, theirs = _count(table, old), _count(table, new)
        if ours != theirs:
            raise StoreRefused(f"table `{table.name}` had {ours} rows, but {theirs} arrived")
    for stream in Stream:
        if _head(stream, old) != _head(stream, new):
            raise StoreRefused(f"the audit trail `{stream}` ended differently after the copy")
    heads = {stream: head for stream in Stream if (head := _head(stream, new)) is not None}
    return Moved(rows={table.name: _count(table, new) for table in METADATA.sorted_tables}, heads=heads)


def _count(table: Table, connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(table)) or 0


def _head(stream: Stream, connection: Connection) -> Head | None:
    newest = select(AUDIT.c.seq, AUDIT.c.hash).where(AUDIT.c.stream == stream.value).order_by(AUDIT.c.seq.desc())
    row = connection.execute(newest.limit(1)).one_or_none()
    return None if row is None else (row.seq, bytes(row.hash))


def _append(new: Connection, moved: Moved, record: AuditRecord) -> None:
    seq, previous = moved.heads.get(record.stream, (0, GENESIS))
    body = body_of(record, seq + 1)
    new.execute(insert(AUDIT).values(stream=record.stream.value, seq=seq + 1, body=body, hash=chain(previous, body)))


@contextmanager
def _commit_told() -> Generator[None]:
    try:
        yield
    except DBAPIError as error:
        if not isinstance(error.orig, psycopg.OperationalError) or error.orig.sqlstate is not None:
            raise
        raise StoreUnavailable(
            "the connection was lost during the commit, its outcome is unknown: try again, a target that took it is in use"
        ) from error


@contextmanager
def _told(url: str) -> Generator[None]:
    try:
        yield
    except (DBAPIError, psycopg.Error, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        match cause:
            case psycopg.Error():
                message = f"{postgresql.place_of(url)} did not take it: {postgresql.told_by(cause)}"
            case _:
                message = f"cannot read the source: {cause}"
        raise StoreUnavailable(message) from error
