"""What only the SQLite store promises: where it lives, how it is guarded, what it does when the disk is full."""

import asyncio
import stat
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import create_engine

from gateway.adapters.sql import (
    agent_sessions,
    approvals,
    audit,
    baselines,
    calls,
    nonces,
    open_sqlite,
    pages,
    tickets,
    unit_of_work,
)
from gateway.adapters.sql.metadata import METADATA
from gateway.adapters.sql.migrations import migrate_sqlite
from gateway.adapters.sql.sqlite import check_file_system, check_version, connect
from gateway.adapters.sql.statements import Statement
from gateway.runtime.ports import Store, StoreRefused, StoreUnavailable, Tx
from tests.contract.samples import a_call, a_record, a_result, a_session
from tests.contract.stores import SqliteOpener

pytestmark = pytest.mark.anyio

assert unit_of_work, "its import completes the metadata"


def schema_of(path: Path) -> dict[str, str]:
    """The statements a database was made with, by name, without their layout."""
    raw = connect(path)
    rows = raw.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name != 'alembic_version'")
    schema = {name: " ".join(sql.split()) for name, sql in rows}
    raw.close()
    return schema


def test_the_migrations_make_what_the_metadata_says(tmp_path: Path) -> None:
    migrate_sqlite(tmp_path / "migrated")
    engine = create_engine(f"sqlite:///{tmp_path / 'made'}")
    METADATA.create_all(engine)
    engine.dispose()
    assert schema_of(tmp_path / "migrated") == schema_of(tmp_path / "made")


def test_every_table_is_strict(tmp_path: Path) -> None:
    migrate_sqlite(tmp_path / "db")
    tables = {name: sql for name, sql in schema_of(tmp_path / "db").items() if sql.startswith("CREATE TABLE")}
    assert len(tables) == len(METADATA.tables)
    assert [name for name, sql in tables.items() if "STRICT" not in sql] == []


def test_a_second_migration_changes_nothing(tmp_path: Path) -> None:
    migrate_sqlite(tmp_path / "db")
    once = schema_of(tmp_path / "db")
    migrate_sqlite(tmp_path / "db")
    assert schema_of(tmp_path / "db") == once


def modes_in(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


async def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "db", ledger_cap=10, open_cap=10)
    await store.run(lambda tx: tx.sessions.add(a_session()))
    assert modes_in(tmp_path) == {"db": 0o600, "db-wal": 0o600}
    await store.close()


async def test_a_database_that_is_open_is_not_opened_again(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "db", ledger_cap=10, open_cap=10)
    with pytest.raises(StoreRefused, match="another gateway"):
        open_sqlite(tmp_path / "db", ledger_cap=10, open_cap=10)
    await store.close()


def test_an_old_sqlite_is_refused_at_the_version_before_strict_tables() -> None:
    check_version((3, 37, 0))
    with pytest.raises(StoreRefused, match=r"3\.36\.0"):
        check_version((3, 36, 0))


@pytest.mark.parametrize(("kind", "is_refused"), [("nfs4", True), ("cifs", True), ("ext4", False)])
def test_a_network_file_system_is_refused(tmp_path: Path, kind: str, is_refused: bool) -> None:
    mounts = tmp_path / "mountinfo"
    place = str(tmp_path).replace(" ", "\\040")
    mounts.write_text(
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        f"40 22 0:50 / {place} rw,relatime shared:9 - {kind} server:/export rw\n"
        f"41 22 0:51 / {place}-other rw - nfs server:/other rw\n"
    )
    if is_refused:
        with pytest.raises(StoreRefused, match=kind):
            check_file_system(tmp_path / "db", mounts)
    else:
        check_file_system(tmp_path / "db", mounts)


async def test_what_was_committed_outlives_the_store(sqlite: SqliteOpener) -> None:
    def work(tx: Tx) -> None:
        tx.sessions.add(a_session())
        tx.calls.add(a_call(), '{"title":"milk"}')
        tx.audit.append(a_record())

    store = sqlite()
    await store.run(work)
    await store.close()

    store = sqlite()
    assert await store.run(lambda tx: tx.sessions.find("ses_1")) == a_session()
    assert await store.run(lambda tx: (tx.calls.find("call_1"), tx.calls.usage())) == (a_call(), (1, 1))
    await store.run(lambda tx: tx.audit.append(a_record()))
    assert [record.seq for record in await store.run(lambda tx: tx.audit.tail(limit=9))] == [1, 2]
    await store.close()


async def test_a_full_disk_fails_the_unit_and_more_room_heals_the_store(sqlite: SqliteOpener) -> None:
    store = sqlite()
    raw = sqlite.disk.connections[-1]
    await store.run(lambda tx: tx.installation.put("before", b"1"))
    (pages,) = raw.execute("PRAGMA page_count").fetchone()
    raw.execute(f"PRAGMA max_page_count = {pages + 2}")

    with pytest.raises(StoreUnavailable):
        await store.run(lambda tx: tx.installation.put("big", bytes(1_000_000)))
    assert await store.run(lambda tx: tx.installation.get("before")) == b"1"
    assert await store.run(lambda tx: tx.installation.get("big")) is None

    raw.execute("PRAGMA max_page_count = 1000000")
    await store.run(lambda tx: tx.installation.put("big", bytes(1_000_000)))
    assert await store.run(lambda tx: len(tx.installation.get("big") or b"")) == 1_000_000
    await store.close()


async def test_a_full_disk_that_the_unit_swallows_still_fails_it(sqlite: SqliteOpener) -> None:
    store = sqlite()
    raw = sqlite.disk.connections[-1]
    (pages,) = raw.execute("PRAGMA page_count").fetchone()
    raw.execute(f"PRAGMA max_page_count = {pages + 2}")

    def work(tx: Tx) -> None:
        tx.audit.append(a_record())
        try:
            tx.installation.put("big", bytes(1_000_000))
        except StoreUnavailable:
            return

    with pytest.raises(StoreUnavailable):
        await store.run(work)
    raw.execute("PRAGMA max_page_count = 1000000")
    assert await store.run(lambda tx: list(tx.audit.tail(limit=9))) == []
    await store.close()


async def test_a_connection_that_is_gone_is_opened_anew(sqlite: SqliteOpener) -> None:
    store = sqlite()
    await store.run(lambda tx: tx.audit.append(a_record()))
    sqlite.disk.connections[-1].close()
    with pytest.raises(StoreUnavailable):
        await store.run(lambda tx: tx.audit.append(a_record()))
    await store.run(lambda tx: tx.audit.append(a_record()))
    assert [record.seq for record in await store.run(lambda tx: tx.audit.tail(limit=9))] == [1, 2]
    await store.close()


async def test_a_transaction_lost_half_way_fails_the_whole_batch(sqlite: SqliteOpener) -> None:
    store = sqlite()
    raw = sqlite.disk.connections[-1]

    def lose(tx: Tx) -> None:
        tx.installation.put("b", b"1")
        raw.execute("ROLLBACK")

    outcomes = await asyncio.gather(
        store.run(lambda tx: tx.installation.put("a", b"1")),
        store.run(lose),
        store.run(lambda tx: tx.installation.put("c", b"1")),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes][1] is StoreUnavailable
    kept = [await store.run(lambda tx, name=name: tx.installation.get(name)) for name in "abc"]
    assert [value is not None for value in kept] == [outcome is None for outcome in outcomes]
    await store.close()


async def test_a_store_belongs_to_one_loop(sqlite: SqliteOpener) -> None:
    store = sqlite()
    await store.run(lambda tx: tx.calls.usage())

    async def elsewhere(store: Store) -> None:
        await store.run(lambda tx: tx.calls.usage())

    with pytest.raises(RuntimeError, match="one event loop"):
        await asyncio.to_thread(asyncio.run, elsewhere(store))
    await store.close()


async def test_hot_statements_are_compiled_once(sqlite: SqliteOpener) -> None:
    store = sqlite()
    raw = sqlite.disk.connections[-1]
    if not raw.execute("SELECT 1 FROM pragma_module_list WHERE name = 'sqlite_stmt'").fetchone():
        pytest.skip("this SQLite does not tell how often it compiles")

    def work(tx: Tx, ref: str) -> None:
        call = a_call(ref)
        tx.calls.find_by_key(call.agent, call.user, call.entry, call.call_id)
        tx.calls.equals(call.session, call.capability, call.request_fingerprint, ended_after=0)
        tx.calls.add(call, "{}")
        tx.calls.add_receipt(ref, "accepted", reason=None, at=1)
        tx.audit.append(a_record())
        tx.calls.save(call, was=call.state)
        tx.calls.put_result(ref, a_result())
        tx.calls.mark_taken([ref], erase_at=1)
        tx.calls.open_of_session(call.session)

    for number in range(50):
        await store.run(lambda tx, ref=f"call_{number}": work(tx, ref))
    compiled = raw.execute("SELECT sql, reprep FROM sqlite_stmt WHERE reprep > 5").fetchall()
    assert compiled == []
    await store.close()


@pytest.mark.parametrize("module", [agent_sessions, approvals, audit, baselines, calls, nonces, pages, tickets])
def test_no_statement_walks_a_table_that_grows(tmp_path: Path, module: ModuleType) -> None:
    migrate_sqlite(tmp_path / "db")
    raw = connect(tmp_path / "db")
    walks: list[tuple[str, str]] = []
    for name, statement in vars(module).items():
        if isinstance(statement, Statement):
            values = [1] * statement.sqlite.count("?")
            plan = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement.sqlite}", values)]
            walks += [
                (name, step)
                for step in plan
                if step.startswith("SCAN") and step not in ("SCAN quota", "SCAN 12 CONSTANT ROWS")
            ]
    raw.close()
    # These read the newest rows of all, the few rows a query inside found, or a table filled by hand.
    assert [name for name, _ in walks if name not in ("_END_ALL", "_RECENT", "_TAIL", "_LOWEST", "_LIST")] == []
