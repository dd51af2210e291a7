"""What a repository needs from a database: run a constant statement, count or fetch its rows.

Repositories see only this, so that they serve every dialect `statements` compiles for.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from gateway.adapters.sql.statements import Statement

Row = tuple[Any, ...]
Values = Sequence[str | int | bytes | None]


class Connection(Protocol):
    """One database connection inside a transaction. Values go by position, in the statement's own order.

    Every method raises `DuplicateKey` where a unique key is taken, `StoreUnavailable` where the database fails.
    """

    def execute(self, statement: Statement, values: Values = ()) -> int:
        """Run it and say how many rows it changed."""
        ...

    def execute_many(self, statement: Statement, rows: Iterable[Values]) -> None: ...

    def fetch_one(self, statement: Statement, values: Values = ()) -> Row | None:
        """The only row of a statement that yields at most one."""
        ...

    def fetch_all(self, statement: Statement, values: Values = ()) -> list[Row]: ...
