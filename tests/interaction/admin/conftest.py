"""One gateway per test."""

from collections.abc import AsyncIterator

import pytest

from tests.interaction.admin.client import Program, program
from tests.interaction.page.rig import Rig, running


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


@pytest.fixture
async def admin(rig: Rig) -> Program:
    return await program(rig)
