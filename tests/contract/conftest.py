"""Every suite here runs over the fake and over the real thing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.runtime.ports import Store
from tests.contract.stores import MemoryOpener, Opener, SqliteOpener


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["memory", "sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return MemoryOpener() if request.param == "memory" else SqliteOpener(tmp_path / "gateway.sqlite3")


@pytest.fixture
def sqlite(tmp_path: Path) -> SqliteOpener:
    return SqliteOpener(tmp_path / "gateway.sqlite3")


@pytest.fixture
async def store(open_store: Opener) -> AsyncIterator[Store]:
    opened = open_store()
    yield opened
    await opened.close()
