"""The whole gateway, seen from outside."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
