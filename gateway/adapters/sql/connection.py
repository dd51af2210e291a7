"""What a repository needs from a database: run a constant statement, count or fetch its rows.

Repositories see only this, so that they serve every dialect `statements` compiles for.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from gateway.adapters.sql.statements import Statement

Row = tuple[Any, ...]
Values = Sequence[str | int | bytes | None]


class Connection(Protocol):
    """One database connection inside a transaction. Values go by position, in the statement's own order.

    Every method raises `DuplicateKey` where a unique key is taken, `StoreUnavailable` where the database fails.
    What fails once fails for the rest of the unit of work.
    """

    def execute(self, statement: Statement, values: Values = ()) -> int:
        """Run it and say how many rows it changed."""
        ...

    def write(self, statement: Statement, values: Values = ()) -> None:
        """Run it where nobody asks how many rows it changed.

        A database over the network does not wait for it: what it raises may come with a later statement, or
        with the end of the unit of work.
        """
        ...

    def write_many(self, statement: Statement, rows: Iterable[Values]) -> None:
        """`write` for each row."""
        ...

    def fetch_one(self, statement: Statement, values: Values = ()) -> Row | None:
        """The only row of a statement that yields at most one."""
        ...

    def fetch_all(self, statement: Statement, values: Values = ()) -> list[Row]: ...


class Database(Connection, Protocol):
    """A connection with its transactions: one at a time, each holding units of work in savepoints."""

    batch: ClassVar[int]
    """Units to a transaction at most."""
    is_alone: ClassVar[bool]
    """Whether nobody else can write between two transactions, so that what was read may be remembered."""

    def copy_to(self, target: Path, between: Callable[[], None]) -> None:
        """Fill the empty file `target` with a copy of this database, piece by piece, calling `between` after each.

        Raises:
            StoreRefused: this database has tools of its own for that.
            StoreUnavailable: it failed.
        """
        ...

    def begin(self) -> None:
        """Open a transaction that nobody else writes beside; a connection that was lost is opened anew."""
        ...

    def enter(self) -> None:
        """Begin a unit of work: what follows can be undone alone."""
        ...

    def check(self) -> None:
        """Raise what a unit of work swallowed; waits for nothing."""
        ...

    def settle(self) -> None:
        """Wait for what was written, and raise what came of it or was swallowed."""
        ...

    def undo(self) -> None:
        """Take back what the unit did. Raises where the transaction itself is lost."""
        ...

    def leave(self) -> None:
        """End a unit of work."""
        ...

    def commit(self) -> None:
        """Raises unless the database confirmed that everything since `begin` is kept."""
        ...

    def roll_back(self) -> None:
        """Give the transaction up. Never raises."""
        ...

    def close(self) -> None: ...


class Interrupted(Exception):
    """The transaction came to nothing through no fault of its own, and for certain: it may be run again."""
