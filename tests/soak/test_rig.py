"""The load of `make soak`, small and short, so that it cannot rot."""

import asyncio

from tests.soak.run import growth_of, soak


def test_a_short_run_finds_nothing() -> None:
    report = asyncio.run(soak(seconds=6, pages=8, agents=4))
    assert report.problems == []
    assert report.answers["succeeded"] > 0
    assert report.calls > 0


def test_growth_is_that_of_the_fitted_line() -> None:
    assert growth_of([(0.0, 100), (1.0, 110), (2.0, 120)]) == 20
    assert growth_of([(0.0, 100), (1.0, 200), (2.0, 100)]) == 0
    assert growth_of([]) == 0
