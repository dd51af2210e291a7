"""What only the PostgreSQL store promises: its schema, its one gateway, and what it does when the server goes."""

import asyncio
import os
import threading
from typing import Any

import psycopg
import pytest
from sqlalchemy import create_engine

from gateway.adapters.sql import open_postgresql
from gateway.adapters.sql.metadata import METADATA
from gateway.adapters.sql.migrations import migrate_postgresql
from gateway.adapters.sql.postgresql import check_version, place_of
from gateway.runtime.ports import DuplicateKey, Store, StoreRefused, StoreUnavailable, Tx
from tests.contract.samples import a_record, a_session
from tests.contract.stores import PostgresqlOpener
from tests.support.cutting_proxy import CuttingProxy
from tests.support.postgres import disconnect, execute, fresh_database, gone, url_of

pytestmark = pytest.mark.anyio

COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable, collation_name, column_default
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name != 'alembic_version'
"""
RULES = """
    SELECT conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text != 'alembic_version'
"""
INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename != 'alembic_version'"

WAITING = (
    "SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()"
)


def put(tx: Tx, name: str, value: bytes = b"1") -> str:
    tx.installation.put(name, value)
    return name


async def get(store: Store, name: str) -> bytes | None:
    return await store.run(lambda tx: tx.installation.get(name))


@pytest.mark.parametrize("question", [COLUMNS, RULES, INDEXES])
def test_the_migrations_make_what_the_metadata_says(postgresql: PostgresqlOpener, question: str) -> None:
    with fresh_database(is_empty=True) as url:
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        METADATA.create_all(engine)
        engine.dispose()
        assert sorted(execute(postgresql.url, question)) == sorted(execute(url, question))


def test_a_second_migration_changes_nothing(postgresql: PostgresqlOpener) -> None:
    migrate_postgresql(postgresql.url)


def test_a_database_of_a_newer_version_is_refused_and_not_touched() -> None:
    with fresh_database() as url:
        execute(url, "UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(StoreRefused, match=r"version `9999`, newer than"):
            open_postgresql(url, ledger_cap=10, open_cap=10)
        assert execute(url, "SELECT version_num FROM alembic_version") == [("9999",)]


def test_an_old_server_is_refused_at_the_version_before_the_oldest() -> None:
    check_version(140_000)
    with pytest.raises(StoreRefused, match="`13` is too old"):
        check_version(130_099)


def test_a_database_in_another_encoding_is_refused() -> None:
    with fresh_database(is_empty=True) as url:
        name = url.rpartition("/")[2]
        execute(url_of("postgres"), f"DROP DATABASE {name}")
        execute(
            url_of("postgres"),
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
        )
        with pytest.raises(StoreRefused, match="`LATIN1`"):
            open_postgresql(url, ledger_cap=10, open_cap=10)


async def test_a_second_gateway_on_one_database_is_refused_and_told_who_serves_it(
    postgresql: PostgresqlOpener,
) -> None:
    store = postgresql()
    with pytest.raises(StoreRefused, match=f"another gateway serves .*`ostiary pid {os.getpid()} on"):
        open_postgresql(postgresql.url, ledger_cap=10, open_cap=10, patience_ms=100)
    await store.close()
    await open_postgresql(postgresql.url, ledger_cap=10, open_cap=10).close()


@pytest.mark.parametrize("url", ["postgresql://me:s3cret@127.0.0.1:1/shop", "postgresql://me:s3 cret@[::1/shop"])
def test_no_message_holds_the_password(url: str) -> None:
    with pytest.raises((StoreUnavailable, StoreRefused)) as caught:
        open_postgresql(url, ledger_cap=10, open_cap=10)
    assert "cret" not in str(caught.value)


def test_a_database_is_named_without_its_password() -> None:
    assert place_of("postgresql://me:s3cret@db.example.com:6543/shop") == "PostgreSQL `shop` at `db.example.com:6543`"


async def test_a_connection_cut_between_two_units_is_opened_anew_unnoticed(postgresql: PostgresqlOpener) -> None:
    store = postgresql()
    await store.run(lambda tx: tx.audit.append(a_record()))
    disconnect(postgresql.url)
    await store.run(lambda tx: tx.audit.append(a_record()))
    assert [record.seq for record in await store.run(lambda tx: tx.audit.tail(limit=9))] == [1, 2]
    assert len(postgresql.links) == 2
    await store.close()


async def test_a_connection_cut_in_mid_unit_runs_the_unit_again_and_keeps_it_once(
    postgresql: PostgresqlOpener,
) -> None:
    store, runs = postgresql(), list[int]()

    def work(tx: Tx) -> None:
        tx.audit.append(a_record())
        put(tx, "a")
        if not runs:
            disconnect(postgresql.url)
        runs.append(1)
        tx.audit.tail(limit=1)

    await store.run(work)
    assert len(runs) == 2
    assert [record.seq for record in await store.run(lambda tx: tx.audit.tail(limit=9))] == [1]
    await store.close()


async def test_a_database_that_is_gone_refuses_clearly_and_serves_again_when_it_is_back(
    postgresql: PostgresqlOpener,
) -> None:
    store = postgresql()
    await store.run(lambda tx: put(tx, "before"))
    with gone(postgresql.url):
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="not currently accepting connections"):
                await store.run(lambda tx: put(tx, "while"))
    await store.run(lambda tx: put(tx, "after"))
    assert [await get(store, name) for name in ("before", "while", "after")] == [b"1", None, b"1"]
    await store.close()


@pytest.mark.parametrize(("is_delivered", "kept"), [(True, b"1"), (False, None)])
async def test_a_commit_without_an_answer_is_neither_reported_nor_repeated(
    postgresql: PostgresqlOpener, is_delivered: bool, kept: bytes | None
) -> None:
    with CuttingProxy(postgresql.url) as proxy:
        store, runs = PostgresqlOpener(proxy.url)(), list[int]()
        await store.run(lambda tx: tx.audit.append(a_record()))

        def work(tx: Tx) -> None:
            runs.append(1)
            tx.audit.append(a_record())
            put(tx, "a")

        proxy.cut_at(b"commit", is_delivered=is_delivered)
        with pytest.raises(StoreUnavailable, match="its outcome is unknown"):
            await store.run(work)
        assert len(runs) == 1
        assert await get(store, "a") == kept
        await store.run(lambda tx: tx.audit.append(a_record()))
        seqs = [record.seq for record in await store.run(lambda tx: tx.audit.tail(limit=9))]
        assert seqs == ([1, 2, 3] if kept else [1, 2])
        await store.close()


async def test_a_deadlock_with_somebody_else_is_run_again(postgresql: PostgresqlOpener) -> None:
    store, runs = postgresql(), list[int]()
    for name in "ab":
        await store.run(lambda tx, name=name: put(tx, name, b"0"))
    with psycopg.connect(postgresql.url) as other:
        # Our side notices the deadlock first, and gives way.
        other.execute("SET deadlock_timeout = '1min'")
        other.execute("UPDATE installation SET value = '2' WHERE name = 'b'")
        waits = threading.Thread(target=lambda: other.execute("UPDATE installation SET value = '2' WHERE name = 'a'"))

        def work(tx: Tx) -> None:
            runs.append(1)
            if len(runs) == 2:
                waits.join()
                other.commit()
            put(tx, "a")
            tx.installation.get("a")
            if len(runs) == 1:
                waits.start()
                while not execute(postgresql.url, WAITING):
                    pass
            put(tx, "b")

        await store.run(work)
    assert len(runs) == 2
    assert [await get(store, name) for name in "ab"] == [b"1", b"1"]
    await store.close()


async def test_an_error_the_unit_swallows_still_fails_it_alone(postgresql: PostgresqlOpener) -> None:
    store = postgresql()

    def work(tx: Tx) -> None:
        tx.sessions.add(a_session())
        tx.sessions.add(a_session())
        try:
            tx.sessions.find("ses_1")
        except DuplicateKey:
            return

    outcomes = await asyncio.gather(
        store.run(lambda tx: put(tx, "a")),
        store.run(work),
        store.run(lambda tx: put(tx, "c")),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [str, DuplicateKey, str]
    assert [await get(store, name) for name in "abc"] == [b"1", None, b"1"]
    assert await store.run(lambda tx: list(tx.sessions.list())) == []
    await store.close()


async def test_what_was_committed_outlives_the_store(postgresql: PostgresqlOpener) -> None:
    store = postgresql()
    await store.run(lambda tx: tx.sessions.add(a_session()))
    await store.run(lambda tx: tx.audit.append(a_record()))
    await store.close()
    store = postgresql()
    assert await store.run(lambda tx: tx.sessions.find("ses_1")) == a_session()
    await store.run(lambda tx: tx.audit.append(a_record()))
    assert [record.seq for record in await store.run(lambda tx: tx.audit.tail(limit=9))] == [1, 2]
    await store.close()


async def test_every_value_a_column_can_hold_comes_back(postgresql: PostgresqlOpener) -> None:
    store = postgresql()
    values: list[Any] = [b"", bytes(range(256)), "ü\u2028🜚".encode()]
    for value in values:
        await store.run(lambda tx, value=value: tx.installation.put("a", value))
        assert await get(store, "a") == value
    for number in (0, -1, 2**63 - 1, -(2**63)):
        session = a_session(f"ses_{number}", created_at=number, user="ü\u2028🜚 '\"\\$1 %s")
        await store.run(lambda tx, session=session: tx.sessions.add(session))
        assert await store.run(lambda tx, session=session: tx.sessions.find(session.id)) == session
    await store.close()


async def test_a_text_with_a_nul_fails_its_unit_alone_and_is_never_cut(postgresql: PostgresqlOpener) -> None:
    store = postgresql()
    outcomes = await asyncio.gather(
        store.run(lambda tx: put(tx, "a")),
        store.run(lambda tx: tx.sessions.add(a_session(user="ada\0x"))),
        store.run(lambda tx: tx.sessions.find("ses_1\0x")),
        store.run(lambda tx: put(tx, "d")),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [str, ValueError, ValueError, str]
    assert await store.run(lambda tx: list(tx.sessions.list())) == []
    assert [await get(store, name) for name in "ad"] == [b"1", b"1"]
    await store.close()
