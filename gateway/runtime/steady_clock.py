"""Time that does not run back: what expired stays expired though somebody sets the machine's clock back.

The wall clock leads. When it is set forward, time follows; when it is set back, time goes on from the latest instant
at the pace of a clock nobody can set, until the wall has caught up or the gateway is started again.
"""

from typing import Final

import structlog

from gateway.runtime.ports import Clock

NOTED_MS: Final = 1_000
"""A smaller step back is a correction nobody needs to hear of."""

_log = structlog.get_logger("ostiary.clock")


class SteadyClock:
    """`Clock` over another one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at = clock.now()
        self._elapsed = clock.monotonic()
        self._noted = 0

    @property
    def behind_ms(self) -> int:
        """How far the wall clock is behind the time this gateway goes by."""
        return self.now() - self._clock.now()

    def now(self) -> int:
        wall, elapsed = self._clock.now(), self._clock.monotonic()
        steady = self._at + elapsed - self._elapsed
        if wall < steady:
            self._note(steady - wall)
            wall = steady
        self._at, self._elapsed = wall, elapsed
        return wall

    def monotonic(self) -> int:
        return self._clock.monotonic()

    async def sleep_until(self, instant: int) -> None:
        await self._clock.sleep_until(instant - self.behind_ms)

    def _note(self, behind: int) -> None:
        if behind > self._noted + NOTED_MS:
            self._noted = behind
            _log.warning("clock_set_back", behind_ms=behind, hint="restart the gateway to follow the clock again")
