"""How fast a worker is listened to: a bucket that may be overdrawn once and is then waited for. Pure."""

from typing import Final

PER_SECOND: Final = 1_000
BURST: Final = 2_000


class Pace:
    """The allowance of one worker, in frames."""

    def __init__(self, now: int, *, per_second: int = PER_SECOND, burst: int = BURST) -> None:
        self._per_second = per_second
        self._burst = burst
        self._left = float(burst)
        self._at = now

    def spend(self, now: int) -> int:
        """Pay for one frame at `now` (ms); returns for how many milliseconds nothing more may be read."""
        gained = max(0, now - self._at) * self._per_second / 1_000
        self._left = min(self._burst, self._left + gained) - 1
        self._at = now
        return 0 if self._left >= 0 else int(-self._left * 1_000 / self._per_second) + 1
