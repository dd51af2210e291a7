"""Contract of `Clock`, and what the fake adds."""

import asyncio
import itertools
from typing import Any

import pytest

from gateway.adapters import clock as system
from gateway.adapters.clock import SystemClock
from gateway.runtime.ports import Clock
from gateway.testing import FakeClock

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[SystemClock, FakeClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    return request.param()


async def test_now_is_milliseconds_of_our_era(clock: Clock) -> None:
    assert 1_600_000_000_000 < clock.now() < 4_000_000_000_000


async def test_an_instant_that_has_come_is_not_slept_for(clock: Clock) -> None:
    async with asyncio.timeout(5):
        await clock.sleep_until(clock.now())
        await clock.sleep_until(clock.now() - 10_000)
        await clock.sleep_until(0)


async def test_the_system_clock_wakes_no_earlier_than_its_instant() -> None:
    clock = SystemClock()
    instant = clock.now() + 20
    await clock.sleep_until(instant)
    assert clock.now() >= instant


async def test_the_system_clock_looks_again_every_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, slept = SystemClock(), list[float]()
    instants = itertools.chain([0, 0, 1_000], itertools.repeat(3_600_000))

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    def now() -> int:
        return next(instants)

    monkeypatch.setattr(clock, "now", now)
    monkeypatch.setattr(clock, "monotonic", lambda: 0)
    monkeypatch.setattr(system.asyncio, "sleep", sleep)
    await clock.sleep_until(3_600_000)
    assert slept == [1.0, 1.0]


async def test_the_fake_clock_moves_only_when_told() -> None:
    clock = FakeClock(now=5)
    assert clock.now() == 5
    clock.advance(10)
    assert clock.now() == 15


async def test_the_fake_clock_wakes_sleepers_in_order_of_their_instants() -> None:
    clock, woken = FakeClock(now=0), list[str]()

    async def sleeper(name: str, instant: int) -> None:
        await clock.sleep_until(instant)
        woken.append(name)

    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[Any]] = [
            group.create_task(sleeper(*who)) for who in (("b", 20), ("a", 10), ("a too", 10), ("c", 21))
        ]
        await asyncio.sleep(0)
        assert clock.sleepers == 4
        clock.advance(9)
        await asyncio.sleep(0)
        assert woken == []
        clock.advance(11)
        await asyncio.wait(tasks[:3])
        assert woken == ["a", "a too", "b"]
        assert clock.sleepers == 1
        clock.advance(1)


async def test_a_sleeper_that_gave_up_is_forgotten() -> None:
    clock = FakeClock(now=0)
    task = asyncio.ensure_future(clock.sleep_until(10))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert clock.sleepers == 0
    clock.advance(10)
