"""Every suite here runs over the fake and over both databases."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.runtime.ports import Store
from tests.contract.stores import MemoryOpener, Opener, PostgresqlOpener, SqliteOpener
from tests.support.postgres import clean_database


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    match request.param:
        case "memory":
            yield MemoryOpener()
        case "sqlite":
            yield SqliteOpener(tmp_path / "gateway.sqlite3")
        case _:
            with clean_database() as url:
                yield PostgresqlOpener(url)


@pytest.fixture
def sqlite(tmp_path: Path) -> SqliteOpener:
    return SqliteOpener(tmp_path / "gateway.sqlite3")


@pytest.fixture
def postgresql() -> Iterator[PostgresqlOpener]:
    with clean_database() as url:
        yield PostgresqlOpener(url)


@pytest.fixture
async def store(open_store: Opener) -> AsyncIterator[Store]:
    opened = open_store()
    yield opened
    await opened.close()
