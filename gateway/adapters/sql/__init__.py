"""The SQL store. Repositories are written once, over constant statements; a database runs them in its own dialect."""

from functools import partial
from pathlib import Path

from gateway.adapters.sql.migrations import migrate_postgresql, migrate_sqlite
from gateway.adapters.sql.postgresql import PATIENCE_MS, connect
from gateway.adapters.sql.postgresql_database import PostgresqlDatabase
from gateway.adapters.sql.sqlite import check_place
from gateway.adapters.sql.sqlite_database import SqliteDatabase
from gateway.adapters.sql.store import SqlStore

__all__ = ["SqlStore", "check_place", "open_postgresql", "open_sqlite"]


def open_sqlite(path: str | Path, *, ledger_cap: int, open_cap: int, queue: int = 1024) -> SqlStore:
    """Bring the database at `path` up to date (or make it) and open its store.

    Raises:
        StoreRefused: it cannot live here; the message says why.
    """
    place = Path(path)
    migrate_sqlite(place)
    return SqlStore(SqliteDatabase(place), ledger_cap=ledger_cap, open_cap=open_cap, queue=queue)


def open_postgresql(
    url: str, *, ledger_cap: int, open_cap: int, queue: int = 1024, patience_ms: int = PATIENCE_MS
) -> SqlStore:
    """Bring the database at `url` up to date (or fill an empty one) and open its store, as its one gateway.

    A gateway that serves it already may take `patience_ms` to end.

    Raises:
        StoreRefused: the server will not do, or another gateway serves the database; the message says why.
        StoreUnavailable: it cannot be reached.
    """
    migrate_postgresql(url, patience_ms=patience_ms)
    database = PostgresqlDatabase(partial(connect, url, alone=True, patience_ms=patience_ms))
    return SqlStore(database, ledger_cap=ledger_cap, open_cap=open_cap, queue=queue)
