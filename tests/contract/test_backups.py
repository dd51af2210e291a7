"""Copies of a store: whole, of mode 0600, never over a file that is there, and written while units of work go on."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.adapters.sql import SqlStore
from gateway.adapters.sql.installation import SqlInstallation
from gateway.adapters.sql.migrations import migrate_sqlite
from gateway.adapters.sql.sqlite_database import SqliteDatabase
from gateway.runtime.ports import Store, StoreRefused
from tests.contract.samples import a_page
from tests.contract.stores import SqliteOpener

pytestmark = pytest.mark.anyio


def kept(file: Path) -> dict[str, bytes]:
    with closing(sqlite3.connect(file)) as raw:
        return dict(raw.execute("SELECT name, value FROM installation"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_copy_holds_what_was_committed_and_takes_the_place_of_nothing(
    sqlite: SqliteOpener, tmp_path: Path
) -> None:
    store, copy = sqlite(), tmp_path / "copy"
    assert isinstance(store, SqlStore)
    await store.run(lambda tx: tx.installation.put("before", b"1"))
    await store.back_up(copy)
    await store.run(lambda tx: tx.installation.put("after", b"2"))
    assert kept(copy) == {"before": b"1"}
    assert copy.stat().st_mode & 0o777 == 0o600
    with pytest.raises(StoreRefused, match="is already there"):
        await store.back_up(copy)
    assert kept(copy) == {"before": b"1"}
    assert "copy.part" not in names(tmp_path)
    await store.close()


async def test_a_backup_that_was_cut_off_is_not_written_over(sqlite: SqliteOpener, tmp_path: Path) -> None:
    store = sqlite()
    part = tmp_path / "copy.part"
    part.write_text("cut off")
    with pytest.raises(StoreRefused, match="in the way"):
        await store.back_up(tmp_path / "copy")
    assert part.read_text() == "cut off"
    await store.close()


def test_what_is_written_between_the_pieces_is_in_the_copy(tmp_path: Path) -> None:
    migrate_sqlite(tmp_path / "db")
    database = SqliteDatabase(tmp_path / "db")
    installation = SqlInstallation(database)
    calls = 0

    def write() -> None:
        nonlocal calls
        calls += 1
        database.begin()
        database.enter()
        installation.put("pieces", str(calls).encode())
        database.leave()
        database.commit()

    database.begin()
    database.enter()
    for number in range(4):
        installation.put(f"large_{number}", bytes(1_048_576))
    database.leave()
    database.commit()
    database.copy_to(tmp_path / "copy", write)
    database.close()
    assert calls > 4, "a copy in one piece would stop every call"
    # The last piece is followed by one more turn, whose write comes after the copy.
    assert kept(tmp_path / "copy")["pieces"] == str(calls - 1).encode()


async def test_a_store_without_a_file_says_what_to_do_instead(store: Store, tmp_path: Path) -> None:
    if "gateway.sqlite3" in names(tmp_path):
        await store.back_up(tmp_path / "copy")
        assert "copy" in names(tmp_path)
        return
    with pytest.raises(StoreRefused, match=r"`pg_dump|in memory"):
        await store.back_up(tmp_path / "copy")
    assert names(tmp_path) == []


async def test_every_page_session_is_ended_once(store: Store) -> None:
    await store.run(lambda tx: tx.pages.add(a_page("page_1")))
    await store.run(lambda tx: tx.pages.add(a_page("page_2", ended_at=1)))
    assert [await store.run(lambda tx: tx.pages.end_all(7)) for _ in range(2)] == [1, 0]
    ends = [(await store.run(lambda tx, name=name: tx.pages.find(name))) for name in ("page_1", "page_2")]
    assert [page.ended_at for page in ends if page is not None] == [7, 1]
