"""`Database` over one PostgreSQL connection in libpq's pipeline mode.

Every statement is prepared once. What nobody waits for (`write`, the words of transaction control) goes out with
the next statement that somebody waits for, so a unit of work costs one round trip for each question it asks.
A transaction first takes its turn, an advisory lock of the database: several processes then write one after the
other, as they would on SQLite, and neither a count nor a chain can fork (ADR 0009).
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Final, cast

import psycopg
from psycopg import pq

from gateway.adapters.sql.connection import Interrupted, Row, Values
from gateway.adapters.sql.postgresql import TURN_LOCK, Connect
from gateway.adapters.sql.postgresql_wire import ConnectionLost, Wire
from gateway.adapters.sql.statements import EVERY, Statement
from gateway.runtime.ports import DuplicateKey, StoreRefused, StoreUnavailable

_CONTROL: Final = {
    b"begin": "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    b"turn": f"SELECT pg_advisory_xact_lock({TURN_LOCK})",
    b"enter": "SAVEPOINT unit",
    b"undo": "ROLLBACK TO unit",
    b"leave": "RELEASE unit",
    b"commit": "COMMIT",
    b"rollback": "ROLLBACK",
}

_AGAIN: Final = frozenset({"40001", "40P01"})
"""serialization_failure and deadlock_detected: the transaction came to nothing and may be run again."""
_SESSION_ENDED: Final = frozenset({"57P01", "57P02", "57P05"})
"""The server's last words over a connection it closes: an administrator's, a crash's, an idle session's."""
_TAKEN: Final = "23505"
_LOST_CLASSES: Final = frozenset({"08", "25", "53", "54", "55", "57", "58", "F0", "XX"})
"""Classes of SQLSTATE in which the server, not the statement, is at fault."""


class PostgresqlDatabase:
    """One connection, opened anew where it was lost."""

    batch: ClassVar = 64  # more savepoints than this, and every other session looks them up on disk
    is_alone: ClassVar = False

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._failure: Exception | None = None
        self._wire: Wire | None = self._open()

    def _open(self) -> Wire:
        link = self._connect()
        try:
            wire = Wire(link)
            for name, sql in _CONTROL.items():
                wire.prepare(name, sql)
            for statement in EVERY:
                wire.prepare(statement.name, statement.postgresql)
            wire.sync()
        except ConnectionLost as error:
            link.close()
            raise StoreUnavailable(f"the database is gone: {error}") from error
        except BaseException:
            link.close()
            raise
        if error := wire.error:
            link.close()
            raise error
        return wire

    # ---- transactions ----

    def begin(self) -> None:
        if self._wire is None:
            self._wire = self._open()
        self._failure = None
        self._wire.send(b"begin")
        self._wire.send(b"turn")

    def enter(self) -> None:
        self._failure = None
        self._sent(b"enter")

    def check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def settle(self) -> None:
        self.check()
        self._wait()

    def undo(self) -> None:
        wire = self._alive()
        try:
            wire.sync()
            wire.send(b"undo")
            wire.receive()
        except ConnectionLost as error:
            raise self._lost(error) from error
        if wire.error is not None:
            raise self._failure or self._translated(wire.error)
        self._failure = None

    def leave(self) -> None:
        self._sent(b"leave")

    def commit(self) -> None:
        wire = self._alive()
        try:
            wire.send(b"commit")
            result = wire.sync()
        except ConnectionLost as error:
            self._lost(error)
            # It may have been kept or not. Whoever asks again finds out; we do not.
            raise StoreUnavailable(
                f"the connection was lost during the commit, its outcome is unknown: {error}"
            ) from error
        if wire.error is not None:
            raise self._translated(wire.error)
        if result is None or result.command_status != b"COMMIT":
            raise StoreUnavailable("the database gave the transaction up")

    def roll_back(self) -> None:
        if self._wire is None:
            return
        try:
            self._wire.sync()
            if self._wire.is_in_transaction:
                self._wire.send(b"rollback")
                self._wire.sync()
        except ConnectionLost as error:
            self._lost(error)
        else:
            if self._wire.error is not None:
                self._drop()

    def copy_to(self, target: Path, between: Callable[[], None]) -> None:  # noqa: ARG002 - it has tools of its own
        raise StoreRefused("the database is PostgreSQL: back it up with `pg_dump --format=custom`")

    def close(self) -> None:
        self._drop()

    # ---- statements ----

    def execute(self, statement: Statement, values: Values = ()) -> int:
        self._sent(statement.name, values)
        return self._results().command_tuples or 0

    def write(self, statement: Statement, values: Values = ()) -> None:
        self._sent(statement.name, values)

    def write_many(self, statement: Statement, rows: Iterable[Values]) -> None:
        for row in rows:
            self._sent(statement.name, row)

    def fetch_one(self, statement: Statement, values: Values = ()) -> Row | None:
        self._sent(statement.name, values)
        result = self._results()
        return _row_of(result, 0, _readers_of(result)) if result.ntuples else None

    def fetch_all(self, statement: Statement, values: Values = ()) -> list[Row]:
        self._sent(statement.name, values)
        result = self._results()
        readers = _readers_of(result)
        return [_row_of(result, number, readers) for number in range(result.ntuples)]

    # ---- below ----

    def _alive(self) -> Wire:
        if self._wire is None:
            raise self._failure or StoreUnavailable("the database is gone")
        return self._wire

    def _sent(self, name: bytes, values: Values = ()) -> None:
        """Send one statement, unless this unit of work has failed already."""
        if self._failure is not None:
            raise self._failure
        self._alive().send(name, values)

    def _results(self) -> pq.abc.PGresult:
        """The result of what was sent last."""
        result = self._wait()
        assert result is not None, "something was sent"
        return result

    def _wait(self) -> pq.abc.PGresult | None:
        """Wait for everything that is under way."""
        wire = self._alive()
        try:
            result = wire.receive()
        except ConnectionLost as error:
            raise self._lost(error) from error
        if wire.error is not None:
            if wire.error.sqlstate in _SESSION_ENDED:
                raise self._lost(ConnectionLost(str(wire.error))) from wire.error
            self._failure = self._translated(wire.error)
            raise self._failure from wire.error
        return result

    def _lost(self, error: ConnectionLost) -> Exception:
        """Give the connection up. Before a commit was sent nothing was kept, so the work may be run again."""
        self._drop()
        self._failure = Interrupted(f"the connection to the database was lost: {error}")
        return self._failure

    def _drop(self) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def _translated(self, error: psycopg.Error) -> Exception:
        state = error.sqlstate or "XX000"
        if state in _AGAIN:
            return Interrupted(str(error))
        if state == _TAKEN:
            return DuplicateKey(str(error))
        if state[:2] in _LOST_CLASSES:
            return StoreUnavailable(
                f"the store failed: {type(error).__name__} ({state}); the server's log has its words"
            )
        return error


def _row_of(result: pq.abc.PGresult, number: int, readers: list["_Reader"]) -> Row:
    get = result.get_value
    return tuple([None if (raw := get(number, column)) is None else read(raw) for column, read in enumerate(readers)])


_Reader = Callable[[bytes], Any]


def _readers_of(result: pq.abc.PGresult) -> list[_Reader]:
    return [_READERS[result.ftype(column)] for column in range(result.nfields)]


def _number(raw: bytes) -> int:
    return int.from_bytes(raw, "big", signed=True)


_READERS: Final[dict[int, _Reader]] = {
    17: bytes,
    20: _number,
    23: _number,
    25: cast("_Reader", bytes.decode),
    1043: cast("_Reader", bytes.decode),
}
"""How the four kinds of columns are read in PostgreSQL's binary form, by the number of their type."""
