"""Waiting by the gateway's clock."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from gateway.runtime.ports import Clock


async def first_of(clock: Clock, within_ms: int | None, *works: Coroutine[Any, Any, Any]) -> None:
    """Return once one of `works` is done, or after `within_ms`; what is not done then is cancelled."""
    if within_ms is not None:
        works = (*works, clock.sleep_until(clock.now() + within_ms))
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
