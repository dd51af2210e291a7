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
        self._elapsed = 0
        self._order = count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now(self) -> int:
        return self._now

    def monotonic(self) -> int:
        return self._elapsed

    @property
    def sleepers(self) -> int:
        """How many wait for an instant to come."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def sleep_until(self, instant: int) -> None:
        if instant <= self._now:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Kept by the time that has to pass: a clock that is set moves nobody's sleep away.
        end = self._elapsed + instant - self._now
        heapq.heappush(self._sleepers, (end, next(self._order), future))
        await future

    def advance(self, ms: int) -> None:
        """Let time pass, and wake whoever's instant came: by instant, then in the order they lay down.

        They run when the test next awaits. A negative `ms` sets the clock back, as `jump` does.
        """
        if ms < 0:
            self.jump(ms)
            return
        self._now += ms
        self._elapsed += ms
        self._wake(self._elapsed)

    def jump(self, ms: int) -> None:
        """Set the wall clock: forward wakes whose instant that passes over, back wakes nobody. No time passes."""
        self._now += ms
        self._wake(self._elapsed + max(0, ms))

    def _wake(self, until: int) -> None:
        while self._sleepers and self._sleepers[0][0] <= until:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
