"""Token buckets by name: how many calls one agent may make. Bounded by the names the configuration knows."""

from dataclasses import dataclass


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: int


class Limiter:
    """`take` spends one token of `name`; buckets refill evenly over a minute up to the burst."""

    def __init__(self) -> None:
        self._buckets: dict[str, _Bucket] = {}

    def take(self, name: str, *, per_minute: int, burst: int, now: int) -> int | None:
        """None when a token was spent, else how many milliseconds until there is one."""
        bucket = self._buckets.setdefault(name, _Bucket(burst, now))
        gained = max(0, now - bucket.at) * per_minute / 60_000
        bucket.tokens = min(burst, bucket.tokens + gained)
        bucket.at = now
        if bucket.tokens < 1:
            return int((1 - bucket.tokens) * 60_000 / per_minute) + 1
        bucket.tokens -= 1
        return None
