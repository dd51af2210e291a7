"""Databases on a real PostgreSQL server. A process makes them from a template, and drops them.

The server is the one `OSTIARY_TEST_POSTGRES` names, a URL of a user who may create databases; without that
`postgres` at 127.0.0.1:5432. Where none answers, the tests that need one fail and say so.
"""

import atexit
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import delete

from gateway.adapters.sql import unit_of_work
from gateway.adapters.sql.metadata import METADATA
from gateway.adapters.sql.migrations import migrate_postgresql

assert unit_of_work, "its import completes the metadata"

SERVER: Final = os.environ.get("OSTIARY_TEST_POSTGRES") or "postgresql://postgres@127.0.0.1:5432/postgres"


@contextmanager
def clean_database() -> Generator[str]:
    """The URL of a database with our tables, all empty. Tests in a row share one: emptying is the cheapest."""
    name = _IDLE.pop() if _IDLE else fresh_name("test")
    if name not in _MADE:
        create(name)
        _MADE.add(name)
        atexit.register(drop, name)
    else:
        execute(url_of(name), _EMPTY)
    try:
        yield url_of(name)
    finally:
        _IDLE.append(name)


@contextmanager
def fresh_database(*, is_empty: bool = False) -> Generator[str]:
    """The URL of a database nobody used before, with our tables in it unless it `is_empty`; dropped at the end."""
    name = fresh_name("test")
    create(name, is_empty=is_empty)
    try:
        yield url_of(name)
    finally:
        drop(name)


_IDLE: Final[list[str]] = []
_MADE: Final[set[str]] = set()
_DISCONNECT: Final = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid != pg_backend_pid() AND backend_type = 'client backend'
"""
_EMPTY: Final = ";".join(
    [
        _DISCONNECT,
        "DROP FUNCTION IF EXISTS refuse_commit CASCADE",
        *(str(delete(table)) for table in reversed(METADATA.sorted_tables) if table.name != "quota"),
        "UPDATE quota SET used = 0, open = 0",
    ]
)


def url_of(database: str) -> str:
    """The same server, another database."""
    return urlsplit(SERVER)._replace(path=f"/{database}").geturl()


def execute(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Do something behind the gateway's back; the rows, if there are any."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def disconnect(url: str) -> None:
    """Cut every connection to a database."""
    execute(url, _DISCONNECT)


@contextmanager
def gone(url: str) -> Generator[None]:
    """Until the block ends the database is not to be had: connections are cut, and new ones refused."""
    name = sql.Identifier(urlsplit(url).path[1:])
    with psycopg.connect(url, autocommit=True) as last, _admin() as admin:
        admin.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        last.execute(_DISCONNECT)
    try:
        yield
    finally:
        with _admin() as admin:
            admin.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))


def version() -> str:
    """What answers, in words."""
    with _admin() as admin:
        row = admin.execute("SHOW server_version").fetchone()
    assert row is not None
    return str(row[0]).split(" ")[0]


def fresh_name(kind: str) -> str:
    """A name nobody else takes."""
    return f"ostiary_{kind}_{secrets.token_hex(6)}"


def create(name: str, *, is_empty: bool = False) -> None:
    """Make a database, with our tables in it unless it `is_empty`."""
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} ENCODING 'UTF8'")
    template = "template0" if is_empty else _template()
    with _admin() as admin:
        admin.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))


def drop(name: str) -> None:
    """Drop a database, whoever is connected to it."""
    with _admin() as admin:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@cache
def _template() -> str:
    """One migrated database, copied by every test of this process."""
    name = fresh_name("template")
    create(name, is_empty=True)
    atexit.register(drop, name)
    migrate_postgresql(url_of(name))
    return name


def _admin() -> psycopg.Connection[Any]:
    try:
        return psycopg.connect(SERVER, autocommit=True, connect_timeout=5)
    except psycopg.OperationalError:
        place = urlsplit(SERVER)
        pytest.fail(
            f"no PostgreSQL answers at {place.hostname}:{place.port}: "
            "start one, or name one in OSTIARY_TEST_POSTGRES (a URL of a user who may create databases)"
        )
