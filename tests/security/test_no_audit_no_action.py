"""What the trail cannot take does not happen (design §14): neither a call, nor a yes, nor a grant."""

import sqlite3
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateway.adapters.sql import SqlStore
from gateway.adapters.sql.migrations import migrate_sqlite
from gateway.adapters.sql.sqlite import connect
from gateway.adapters.sql.sqlite_database import SqliteDatabase
from gateway.domain.calls import CallState
from gateway.runtime.ports import Store, StoreUnavailable
from tests.contract.stores import Opener, PostgresqlOpener
from tests.interaction.page.rig import ADD, LIST, Rig, running
from tests.interaction.surface.client import invoke, post
from tests.support.databases import Databases
from tests.support.postgres import execute

pytestmark = pytest.mark.anyio

FULL = "database or disk is full"


class PostgresqlTrail:
    """Takes no further record while it is full: the server itself says that its disk is full, whenever a record is written."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._is_full = False
        execute(
            url,
            "CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN RAISE '{FULL}' USING ERRCODE = 'disk_full'; END $$",
        )

    @property
    def is_full(self) -> bool:
        return self._is_full

    @is_full.setter
    def is_full(self, is_full: bool) -> None:
        self._is_full = is_full
        execute(
            self._url,
            "CREATE TRIGGER full_disk BEFORE INSERT ON audit EXECUTE FUNCTION refuse_commit()"
            if is_full
            else "DROP TRIGGER full_disk ON audit",
        )


class SqliteTrail:
    """The same, said by the connection."""

    def __init__(self) -> None:
        self.is_full = False

    def connect(self, path: Path) -> sqlite3.Connection:
        return connect(path, factory=partial(_Connection, trail=self))  # pyright: ignore[reportArgumentType] -- a callable will do


class _Connection(sqlite3.Connection):
    def __init__(self, *arguments: Any, trail: SqliteTrail, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._trail = trail

    def cursor(self, factory: Any = None) -> Any:
        assert factory is None
        return super().cursor(partial(_Cursor, trail=self._trail))


class _Cursor(sqlite3.Cursor):
    def __init__(self, connection: sqlite3.Connection, *, trail: SqliteTrail) -> None:
        super().__init__(connection)
        self._trail = trail

    def executemany(self, sql: str, parameters: Any, /) -> Any:
        if self._trail.is_full and "INTO audit " in sql:
            raise sqlite3.OperationalError(FULL)
        return super().executemany(sql, parameters)


Trail = PostgresqlTrail | SqliteTrail


@pytest.fixture
def opener(database: Databases) -> Opener:
    return database.opener()


@pytest.fixture
def trail(opener: Opener) -> Trail:
    return PostgresqlTrail(opener.url) if isinstance(opener, PostgresqlOpener) else SqliteTrail()


@pytest.fixture
async def rig(opener: Opener, trail: Trail, tmp_path: Path) -> AsyncIterator[Rig]:
    if isinstance(trail, SqliteTrail):
        migrate_sqlite(tmp_path / "gateway.sqlite3")
        database = SqliteDatabase(tmp_path / "gateway.sqlite3", connect=trail.connect)
        store: Store = SqlStore(database, ledger_cap=100, open_cap=100)
    else:
        store = opener()
    async with running(store) as made:
        yield made
    await store.close()


async def test_a_call_that_cannot_be_recorded_is_not_made(rig: Rig, trail: Trail) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    wanted = {**invoke("todo.list"), "call_id": "call-0001"}
    trail.is_full = True
    refused = await post(rig, token, wanted)
    trail.is_full = False
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "store_unavailable")
    assert await rig.services.admin.calls() == []
    assert await rig.records("call.admitted") == []
    # The same call_id is free: nothing of the first attempt was kept.
    assert (await post(rig, token, wanted, headers={"Prefer": "wait=0"})).status_code == 200
    await page.receive("invoke")
    assert not page.has("invoke")
    assert len(await rig.records("call.admitted")) == 1


async def test_a_yes_that_cannot_be_recorded_does_not_count(rig: Rig, trail: Trail) -> None:
    page = await rig.page(ADD)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.add", {"title": "milk"})
    request = await page.receive("approve_request")
    trail.is_full = True
    await page.decide(request, "approve")
    # The socket closes, to come back when things are better.
    assert await page.closed() == 1013
    trail.is_full = False
    assert (await rig.call(submitted[0].call.ref)).state is CallState.AWAITING_APPROVAL
    assert not page.has("invoke")
    assert await rig.records("approval.decided") == []


async def test_a_grant_that_cannot_be_recorded_is_not_given(rig: Rig, trail: Trail) -> None:
    trail.is_full = True
    with pytest.raises(StoreUnavailable):
        await rig.grant()
    trail.is_full = False
    assert await rig.services.admin.sessions() == []
    assert await rig.records("session.added") == []
