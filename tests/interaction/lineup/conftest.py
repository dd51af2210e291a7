"""One gateway per test, on each database, and an agent at its door."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from gateway.bootstrap import Gateway
from tests.interaction.lineup.client import Agent, an_agent
from tests.interaction.page.rig import Rig, running
from tests.support.databases import database
from tests.support.whole_gateway import serving

__all__ = ["database"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


@pytest.fixture
async def agent(rig: Rig) -> Agent:
    return await an_agent(rig)


@pytest.fixture
async def limited() -> AsyncIterator[tuple[Rig, Agent]]:
    """A gateway that takes one call at a time from an agent."""
    async with running(calls_per_minute=1, calls_burst=1) as running_rig:
        yield running_rig, await an_agent(running_rig)


@pytest.fixture
async def whole(tmp_path: Path) -> AsyncIterator[tuple[Agent, Gateway]]:
    """An agent at a whole gateway, which has built-ins."""
    async with serving(tmp_path) as running_gateway, httpx.AsyncClient(base_url=running_gateway.origin) as http:
        agent = Agent(http=http, session=running_gateway.session, token=running_gateway.token)
        yield agent, running_gateway.gateway
