"""The SQL store. Repositories are written once, over constant statements; a store runs them on its database."""

from pathlib import Path

from gateway.adapters.sql.migrations import migrate
from gateway.adapters.sql.sqlite import StoreRefused
from gateway.adapters.sql.store import SqliteStore

__all__ = ["SqliteStore", "StoreRefused", "open_sqlite"]


def open_sqlite(path: str | Path, *, ledger_cap: int, open_cap: int, queue: int = 1024) -> SqliteStore:
    """Bring the database at `path` up to date (or make it) and open its store.

    Raises:
        StoreRefused: it cannot live here; the message says why.
    """
    place = Path(path)
    migrate(place)
    return SqliteStore(place, ledger_cap=ledger_cap, open_cap=open_cap, queue=queue)
