"""One gateway per test, on each database."""

from collections.abc import AsyncIterator

import pytest

from tests.interaction.page.rig import Rig, running
from tests.support.databases import database

__all__ = ["database"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig
