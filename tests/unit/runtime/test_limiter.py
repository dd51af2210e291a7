"""Buckets are bounded in number, and nobody else can empty or refill somebody's."""

from gateway.runtime.limiter import SHARED, Limiter

RATE = {"per_minute": 60, "burst": 2}


def test_a_burst_and_then_the_rate() -> None:
    limiter = Limiter()
    assert [limiter.take("a", **RATE, now=0) for _ in range(3)] == [None, None, 1_001]
    assert limiter.take("b", **RATE, now=0) is None
    assert limiter.take("a", **RATE, now=1_000) is None
    assert limiter.take("a", **RATE, now=1_000) == 1_001


def test_a_flood_of_names_neither_grows_the_table_nor_resets_a_bucket() -> None:
    limiter = Limiter(kept=100)
    for _ in range(2):
        limiter.take("held", **RATE, now=0)
    refused = 0
    for number in range(10_000):
        refused += limiter.take(("flood", number), **RATE, now=number // 10) is not None
        assert len(limiter) <= 100 + SHARED
    assert refused > 5_000
    assert limiter.take("held", **RATE, now=999) is not None


def test_a_full_table_forgets_nobody_who_is_limited() -> None:
    limiter = Limiter(kept=1)
    for _ in range(2):
        limiter.take("held", **RATE, now=0)
    limiter.take("newcomer", **RATE, now=0)
    assert limiter.take("held", **RATE, now=0) == 1_001


def test_what_is_full_again_makes_room() -> None:
    limiter = Limiter(kept=2)
    for name in ("a", "b"):
        limiter.take(name, **RATE, now=0)
    assert [limiter.take("c", **RATE, now=60_000) for _ in range(3)][:2] == [None, None]
    assert len(limiter) == 1
