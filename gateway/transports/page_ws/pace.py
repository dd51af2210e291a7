"""How fast one socket may speak: two token buckets that may be overdrawn once and are then waited for. Pure."""

from gateway.settings import Limits


class _Bucket:
    def __init__(self, per_second: int, burst: int, now: int) -> None:
        self._per_second = per_second
        self._burst = burst
        self._tokens = float(burst)
        self._at = now

    def spend(self, amount: int, now: int) -> int:
        """Milliseconds until the balance is no debt any more."""
        gained = max(0, now - self._at) * self._per_second / 1_000
        self._tokens = min(self._burst, self._tokens + gained) - amount
        self._at = now
        return 0 if self._tokens >= 0 else int(-self._tokens * 1_000 / self._per_second) + 1


class Pace:
    """One socket's allowance, in frames and in bytes."""

    def __init__(self, limits: Limits, now: int) -> None:
        self._frames = _Bucket(limits.page_frames_per_second, limits.page_frames_burst, now)
        self._bytes = _Bucket(limits.page_bytes_per_second, limits.page_bytes_burst, now)

    def spend(self, *, frames: int, size: int, now: int) -> int:
        """Pay for what came; returns for how many milliseconds nothing more may be read."""
        return max(self._frames.spend(frames, now), self._bytes.spend(size, now))
