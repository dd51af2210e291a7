"""Token buckets by name: how many calls one agent may make, how many requests one peer.

The table is bounded, and nothing a stranger does resets somebody's bucket: only full buckets are forgotten, which
changes nothing for their owners. When all places are held by buckets in use, newcomers share a few among them.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

KEPT: Final = 20_000
"""Names remembered at once."""

SHARED: Final = 256
"""Buckets newcomers share while the table is full; the hash that assigns them is salted by the process."""

CLEARED_MS: Final = 1_000
"""Least time between two looks for full buckets."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: int


class Limiter:
    """`take` spends one token of `name`; buckets refill evenly over a minute up to the burst."""

    def __init__(self, *, kept: int = KEPT) -> None:
        self._buckets: dict[Hashable, _Bucket] = {}
        self._shared: dict[int, _Bucket] = {}
        self._kept = kept
        self._cleared_at: int | None = None

    def take(self, name: Hashable, *, per_minute: int, burst: int, now: int) -> int | None:
        """None when a token was spent, else how many milliseconds until there is one.

        `now` is of a clock nobody sets, in milliseconds.
        """
        bucket = self._bucket(name, per_minute, burst, now)
        bucket.tokens = _filled(bucket, per_minute, burst, now)
        bucket.at = now
        if bucket.tokens < 1:
            return int((1 - bucket.tokens) * 60_000 / per_minute) + 1
        bucket.tokens -= 1
        return None

    def __len__(self) -> int:
        """How many buckets there are."""
        return len(self._buckets) + len(self._shared)

    def _bucket(self, name: Hashable, per_minute: int, burst: int, now: int) -> _Bucket:
        bucket = self._buckets.get(name)
        if bucket is not None:
            return bucket
        if len(self._buckets) >= self._kept:
            self._clear(per_minute, burst, now)
        if len(self._buckets) >= self._kept:
            return self._shared.setdefault(hash(name) % SHARED, _Bucket(burst, now))
        return self._buckets.setdefault(name, _Bucket(burst, now))

    def _clear(self, per_minute: int, burst: int, now: int) -> None:
        if self._cleared_at is not None and now - self._cleared_at < CLEARED_MS:
            return
        self._cleared_at = now
        for buckets in (self._buckets, self._shared):
            full = [name for name, bucket in buckets.items() if _filled(bucket, per_minute, burst, now) >= burst]
            for name in full:
                del buckets[name]  # type: ignore[arg-type] - a key of the same dictionary


def _filled(bucket: _Bucket, per_minute: int, burst: int, now: int) -> float:
    return min(burst, bucket.tokens + (now - bucket.at) * per_minute / 60_000)
