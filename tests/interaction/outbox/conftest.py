"""The whole gateway and a consumer of its outbox."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
