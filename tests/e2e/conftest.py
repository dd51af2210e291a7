"""One browser and one gateway per file; one user per test."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from playwright.async_api import Browser

from gateway.demo.browser import browser
from tests.e2e.house import House, Visit, housed

__all__ = ["anyio_backend", "chromium", "house", "visit"]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def chromium(anyio_backend: str) -> AsyncIterator[Browser]:
    async with browser() as launched:
        yield launched


@pytest.fixture(scope="module")
async def house(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with housed(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture
async def visit(house: House, chromium: Browser) -> AsyncIterator[Visit]:
    guest = Visit(house, chromium, house.new_user(), AsyncExitStack())
    yield guest
    await guest.close()
