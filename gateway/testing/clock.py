"""A clock that moves only when a test says so."""

import asyncio
import heapq
from itertools import count
from typing import Final

_START: Final = 1_700_000_000_000
"""Some instant of the epoch's own era, so that nothing is small or zero by accident."""


class FakeClock:
    """`Clock` under the test's thumb."""

    def __init__(self, now: int = _START) -> None:
        self._now = now
        self._order = count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now(self) -> int:
        return self._now

    @property
    def sleepers(self) -> int:
        """How many wait for an instant to come."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep_until(self, instant: int) -> None:
        if instant <= self._now:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (instant, next(self._order), future))
        await future

    def advance(self, ms: int) -> None:
        """Move the clock and wake whoever's instant came: by instant, then in the order they lay down.

        They run when the test next awaits. A negative `ms` sets the clock back and wakes nobody.
        """
        self._now += ms
        while self._sleepers and self._sleepers[0][0] <= self._now:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
