"""Ways to open a store of either kind, and to make its disk fail."""

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from gateway.adapters.sql import SqliteStore
from gateway.adapters.sql.migrations import migrate
from gateway.adapters.sql.sqlite import connect
from gateway.runtime.ports import Store
from gateway.testing import MemoryStore


class Opener(Protocol):
    """Opens stores for one test; each call of a SQLite opener opens the same file."""

    def __call__(self, *, ledger_cap: int = 1_000, open_cap: int = 1_000, queue: int = 1_024) -> Store: ...

    def fail_commits(self, store: Store) -> Callable[[], None]:
        """Let no transaction of `store` reach the disk until the answer is called."""
        ...


class MemoryOpener:
    def __call__(self, *, ledger_cap: int = 1_000, open_cap: int = 1_000, queue: int = 1_024) -> Store:
        return MemoryStore(ledger_cap=ledger_cap, open_cap=open_cap, queue=queue)

    def fail_commits(self, store: Store) -> Callable[[], None]:
        assert isinstance(store, MemoryStore)
        store.is_failing = True
        return partial(setattr, store, "is_failing", False)


class Disk:
    """What a test does to SQLite: commits that fail, and the connections a store opened."""

    def __init__(self) -> None:
        self.is_failing = False
        self.connections: list[sqlite3.Connection] = []

    def connect(self, path: Path) -> sqlite3.Connection:
        raw = connect(path, factory=partial(_FaultyConnection, disk=self))  # pyright: ignore[reportArgumentType] -- a callable will do
        self.connections.append(raw)
        return raw


class _FaultyConnection(sqlite3.Connection):
    def __init__(self, *arguments: Any, disk: Disk, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._disk = disk

    def cursor(self, factory: Any = None) -> Any:
        assert factory is None
        return super().cursor(partial(_FaultyCursor, disk=self._disk))


class _FaultyCursor(sqlite3.Cursor):
    def __init__(self, connection: sqlite3.Connection, *, disk: Disk) -> None:
        super().__init__(connection)
        self._disk = disk

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        if self._disk.is_failing and sql == "COMMIT":
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(sql, parameters)


class SqliteOpener:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.disk = Disk()

    def __call__(self, *, ledger_cap: int = 1_000, open_cap: int = 1_000, queue: int = 1_024) -> Store:
        migrate(self.path)
        return SqliteStore(
            self.path, ledger_cap=ledger_cap, open_cap=open_cap, queue=queue, connect=self.disk.connect
        )

    def fail_commits(self, store: Store) -> Callable[[], None]:
        assert isinstance(store, SqliteStore)
        self.disk.is_failing = True
        return partial(setattr, self.disk, "is_failing", False)
