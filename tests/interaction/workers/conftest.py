"""Workers that are real processes, with whatever a handler does to them."""

from collections.abc import AsyncIterator

import pytest

from gateway.adapters.clock import SystemClock
from gateway.adapters.executors.python_workers import PythonWorkers
from gateway.testing import FakeClock
from tests.support.worker_house import Real, Timed


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def house() -> AsyncIterator[Real]:
    """A house of the rough app, by the machine's clock."""
    clock = SystemClock()
    made = Real(workers=PythonWorkers(clock), clock=clock, app="com.example.rough")
    yield made
    await made.workers.close()


@pytest.fixture
async def slow() -> AsyncIterator[Timed]:
    """The same by a clock that only the test moves."""
    clock = FakeClock()
    made = Timed(workers=PythonWorkers(clock), clock=clock, app="com.example.rough")
    yield made
    await made.workers.close()
