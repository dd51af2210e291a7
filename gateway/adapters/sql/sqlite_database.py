"""`Database` over one SQLite file."""

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar, Final

from gateway.adapters.sql.connection import Row, Values
from gateway.adapters.sql.sqlite import Connect, connect
from gateway.adapters.sql.statements import Statement
from gateway.runtime.ports import DuplicateKey, StoreUnavailable

_TAKEN: Final = frozenset({sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY})

_PIECE: Final = 256
"""Pages copied at once: a MiB, a few milliseconds."""


class SqliteDatabase:
    """One sqlite3 connection, exchanged for a fresh one where it cannot begin a transaction any more.

    From a failure of the database itself to the next unit of work every statement fails the same way: SQLite may
    have dropped the transaction, and a unit that swallowed the exception would go on writing outside of one.
    """

    batch: ClassVar = 256  # the first of a batch waits for the last
    is_alone: ClassVar = True

    raw: sqlite3.Connection
    _cursor: "sqlite3.Cursor | _Refusing"
    _failure: StoreUnavailable | None

    def __init__(self, path: Path, *, connect: Connect = connect) -> None:
        self._path = path
        self._connect = connect
        self._is_usable = True
        self._attach()

    def _attach(self) -> None:
        self.raw = self._connect(self._path)
        self._control = self.raw.cursor()
        self._renew()

    def _renew(self) -> None:
        self._failure = None
        # INVARIANT: every method fetches all its rows at once, so that one cursor serves them all.
        self._cursor = self._control

    # ---- transactions: errors come as SQLite words them ----

    def begin(self) -> None:
        if not self._is_usable:
            self.raw.close()
            self._attach()
        self._is_usable = False
        self._renew()
        self._control.execute("BEGIN IMMEDIATE")
        self._is_usable = True

    def enter(self) -> None:
        self._control.execute("SAVEPOINT unit")
        self._renew()

    def check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if not self.raw.in_transaction:
            raise StoreUnavailable("the store lost its transaction")

    def settle(self) -> None:
        self.check()

    def undo(self) -> None:
        # SQLite drops the whole transaction on some errors; then there is no savepoint and this raises.
        try:
            self._control.execute("ROLLBACK TO unit")
        except sqlite3.Error as error:
            raise self._failure or error from error

    def leave(self) -> None:
        self._control.execute("RELEASE unit")

    def commit(self) -> None:
        self._control.execute("COMMIT")

    def roll_back(self) -> None:
        """Forget the transaction in place: SQLite then writes over what a failed commit left in its log."""
        try:
            if self.raw.in_transaction:
                self._control.execute("ROLLBACK")
        except sqlite3.Error:
            self._is_usable = False

    def close(self) -> None:
        self.raw.close()

    def copy_to(self, target: Path, between: Callable[[], None]) -> None:
        source = self.raw

        def pause(_status: int, _remaining: int, _total: int) -> None:
            between()
            if self.raw is not source or not self._is_usable:
                raise StoreUnavailable("the database failed while a backup was written")

        copy = sqlite3.connect(target)
        try:
            # SQLite carries what this connection writes meanwhile over to the copy.
            source.backup(copy, pages=_PIECE, progress=pause)
        except sqlite3.Error as error:
            raise StoreUnavailable(f"the backup failed: {error}") from error
        finally:
            copy.close()

    # ---- statements ----

    def execute(self, statement: Statement, values: Values = ()) -> int:
        try:
            return self._cursor.execute(statement.sqlite, values).rowcount
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def write(self, statement: Statement, values: Values = ()) -> None:
        try:
            self._cursor.execute(statement.sqlite, values)
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def write_many(self, statement: Statement, rows: Iterable[Values]) -> None:
        try:
            self._cursor.executemany(statement.sqlite, rows)
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def fetch_one(self, statement: Statement, values: Values = ()) -> Row | None:
        try:
            row: Row | None = self._cursor.execute(statement.sqlite, values).fetchone()
        except sqlite3.Error as error:
            raise self._translated(error) from error
        return row

    def fetch_all(self, statement: Statement, values: Values = ()) -> list[Row]:
        try:
            return self._cursor.execute(statement.sqlite, values).fetchall()
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def _translated(self, error: sqlite3.Error) -> Exception:
        if isinstance(error, sqlite3.IntegrityError):
            return DuplicateKey(str(error)) if error.sqlite_errorcode in _TAKEN else error
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError | sqlite3.DataError):
            return error
        self._failure = StoreUnavailable(f"the store failed: {error}")
        self._cursor = _Refusing(self._failure)
        return self._failure


class _Refusing:
    """A cursor that runs nothing."""

    def __init__(self, failure: StoreUnavailable) -> None:
        self._failure = failure

    def execute(self, _sql: str, _values: Values) -> sqlite3.Cursor:
        raise self._failure

    def executemany(self, _sql: str, _rows: Iterable[Values]) -> sqlite3.Cursor:
        raise self._failure
