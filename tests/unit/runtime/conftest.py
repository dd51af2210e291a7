"""One set of use cases per test."""

from collections.abc import AsyncIterator

import pytest

from tests.unit.runtime.rig import Rig, running


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as made:
        yield made
