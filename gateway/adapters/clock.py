"""The wall clock."""

import asyncio
import time
from typing import Final

_SLICE_MS: Final = 1_000
"""The longest sleep at a stretch: a wall clock that is set, or a laptop that wakes, is noticed after it."""


class SystemClock:
    """`Clock` of the machine."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> int:
        return time.monotonic_ns() // 1_000_000

    async def sleep_until(self, instant: int) -> None:
        # By both clocks: one that is set back must not keep anybody asleep for hours.
        end = self.monotonic() + instant - self.now()
        while (left := min(instant - self.now(), end - self.monotonic())) > 0:  # noqa: ASYNC110 -- nobody tells
            await asyncio.sleep(min(left, _SLICE_MS) / 1_000)
