"""Ways to open a store of each kind, and to make its commits fail."""

import sqlite3
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from gateway.adapters.sql import SqlStore
from gateway.adapters.sql import postgresql as postgres
from gateway.adapters.sql.migrations import migrate_sqlite
from gateway.adapters.sql.postgresql_database import PostgresqlDatabase
from gateway.adapters.sql.sqlite import connect
from gateway.adapters.sql.sqlite_database import SqliteDatabase
from gateway.runtime.ports import Store
from gateway.testing import MemoryStore
from tests.support.postgres import execute


class Opener(Protocol):
    """Opens stores for one test; each call of an opener of a database opens the same one."""

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


@cache
def _migrated() -> bytes:
    """A database with our tables: copying it costs less than making it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "template.sqlite3"
        migrate_sqlite(path)
        return path.read_bytes()


class SqliteOpener:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.disk = Disk()

    def __call__(self, *, ledger_cap: int = 1_000, open_cap: int = 1_000, queue: int = 1_024) -> Store:
        if not self.path.exists():
            self.path.write_bytes(_migrated())
        database = SqliteDatabase(self.path, connect=self.disk.connect)
        return SqlStore(database, ledger_cap=ledger_cap, open_cap=open_cap, queue=queue)

    def fail_commits(self, store: Store) -> Callable[[], None]:
        self.disk.is_failing = True
        return partial(setattr, self.disk, "is_failing", False)


class PostgresqlOpener:
    def __init__(self, url: str) -> None:
        self.url = url
        self.links: list[postgres.Link] = []

    def connect(self) -> postgres.Link:
        self.links.append(postgres.connect(self.url, alone=True))
        return self.links[-1]

    def __call__(self, *, ledger_cap: int = 1_000, open_cap: int = 1_000, queue: int = 1_024) -> Store:
        database = PostgresqlDatabase(self.connect)
        return SqlStore(database, ledger_cap=ledger_cap, open_cap=open_cap, queue=queue)

    def fail_commits(self, store: Store) -> Callable[[], None]:
        execute(self.url, _REFUSE_COMMITS)

        def heal() -> None:
            execute(self.url, "DROP FUNCTION refuse_commit CASCADE")

        return heal


_REFUSE_COMMITS = """
    CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
    DO $$ DECLARE place text; BEGIN
      FOR place IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE OR DELETE ON %I'
          ' DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_commit()', place);
      END LOOP;
    END $$
"""
