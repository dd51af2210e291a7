"""Async tests on a loop of their own."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec

P = ParamSpec("P")


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Let pytest run an async test."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


async def until(holds: Callable[[], Any] | Callable[[], Awaitable[Any]], seconds: float = 5.0) -> None:
    """Wait until `holds` does."""
    async with asyncio.timeout(seconds):
        while True:
            found = holds()
            if (await found) if isinstance(found, Awaitable) else found:
                return
            await asyncio.sleep(0.01)
