"""What a worker may do to itself, and what becomes of everybody else."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.domain.errors import ErrorCode
from gateway.domain.workers import HookFault, Loss, WorkerState
from tests.support.in_loop import until
from tests.support.processes import ended
from tests.support.worker_house import APP, APPS, HERE, Real, Timed

pytestmark = pytest.mark.anyio


async def test_a_handler_that_ends_the_process_loses_its_call_alone_of_all_apps(house: Real) -> None:
    house.start()
    house.workers.start(APP, APPS, "orders_app")
    other = await house.hold(app=APP)
    ref = house.submit("vanish")
    assert await house.news.loss(ref) is Loss.CRASHED
    assert (await house.news.ending(house.submit("echo"))).code is None
    house.gates.open("gate")
    assert (await house.news.ending(other)).code is None


async def test_a_handler_that_exits_like_a_script_only_fails(house: Real) -> None:
    house.start()
    assert (await house.news.ending(house.submit("leave"))).code is ErrorCode.HANDLER_ERROR
    assert (await house.news.ending(house.submit("echo"))).code is None
    assert house.news.of("worker_ended") == []


async def test_a_handler_that_blocks_stops_no_other_app_and_is_killed_after_its_time(slow: Timed) -> None:
    """Its neighbours in the same process go with it; what waits for a process does not."""
    slow.limits = replace(slow.limits, app_jobs=2)
    slow.start()
    slow.workers.start(APP, APPS, "orders_app")
    neighbour = await slow.hold("wait")
    ref = await slow.hold("block", within_ms=1_000)
    await slow.news.until(lambda: slow.news.of("progressed"))
    waiting = slow.submit("echo")
    assert (await slow.news.ending(slow.submit("echo", app=APP))).code is None
    for ms in (1_000, slow.limits.app_kill_ms // 2, slow.limits.app_kill_ms // 2 - 1):
        slow.clock.advance(ms)
        assert (await slow.news.ending(slow.submit("echo", app=APP))).code is None
    assert slow.news.ends_of(ref) == 0
    slow.clock.advance(1)
    assert [await slow.news.loss(one) for one in (ref, neighbour)] == [Loss.OVERRAN, Loss.OVERRAN]
    assert (await slow.news.ending(waiting)).code is None
    assert slow.news.of("worker_ended") == [(slow.app, Loss.OVERRAN)]


async def test_what_a_worker_began_ends_with_it(house: Real) -> None:
    house.start()
    ref = await house.hold("beget")
    ((_, child, *_),) = await house.news.until(lambda: house.news.of("progressed"))
    os.kill(house.pid, 9)
    assert await house.news.loss(ref) is Loss.CRASHED
    await ended(int(child))


async def test_a_dead_worker_is_noticed_though_a_copy_of_it_holds_the_link(house: Real) -> None:
    house.start()
    ref = await house.hold("fork")
    ((_, child, *_),) = await house.news.until(lambda: house.news.of("progressed"))
    assert await house.news.loss(ref) is Loss.CRASHED
    await ended(int(child))
    assert (await house.news.ending(house.submit("echo"))).code is None


async def test_a_worker_that_closes_its_link_is_over(house: Real) -> None:
    house.start()
    assert await house.news.loss(await house.hold("cut")) is Loss.CRASHED
    assert (await house.news.ending(house.submit("echo"))).code is None


async def test_stopping_an_app_leaves_no_process(house: Real) -> None:
    house.start()
    assert (await house.news.ending(house.submit("echo"))).code is None
    pid = house.pid
    await house.workers.stop(house.app)
    await ended(pid)


async def test_a_stop_ends_even_what_blocks(slow: Timed) -> None:
    slow.start()
    ref = await slow.hold("block")
    await slow.news.until(lambda: slow.news.of("progressed"))
    pid, stopping = slow.pid, asyncio.create_task(slow.workers.stop(slow.app))
    for pause in (slow.limits.drain_ms, slow.limits.app_kill_ms):
        await until(lambda: slow.clock.sleepers > 1)
        assert slow.news.ends_of(ref) == 0
        slow.clock.advance(pause)
        await asyncio.sleep(0)
    await stopping
    assert await slow.news.loss(ref) is Loss.STOPPED
    await ended(pid)


# ---- an app that keeps crashing ---------------------------------------------------------------------------------


async def test_an_app_that_keeps_crashing_is_left_alone_for_a_while_and_comes_back_by_itself(slow: Timed) -> None:
    slow.start()
    assert await slow.news.loss(slow.submit("vanish")) is Loss.CRASHED
    assert await slow.news.loss(slow.submit("vanish")) is Loss.CRASHED
    await until(lambda: slow.workers.state(slow.app) is WorkerState.BACKING_OFF)
    absent = await slow.news.ending(slow.submit("echo"))
    assert absent.code is ErrorCode.NOT_AVAILABLE
    assert absent.code.retryable
    failure = await slow.workers.activate(slow.app, HERE, within_ms=1_000)
    assert failure is not None
    assert failure.fault is HookFault.NOT_AVAILABLE
    slow.clock.advance(499)
    assert (await slow.news.ending(slow.submit("echo"))).code is ErrorCode.NOT_AVAILABLE
    slow.clock.advance(1)
    await until(lambda: slow.workers.state(slow.app) is not WorkerState.BACKING_OFF)
    assert (await slow.news.ending(slow.submit("echo"))).code is None


async def test_one_good_answer_forgives_what_was_before(house: Real) -> None:
    house.start()
    for _ in range(4):
        assert await house.news.loss(house.submit("vanish")) is Loss.CRASHED
        assert (await house.news.ending(house.submit("echo"))).code is None


async def test_an_app_that_does_not_load_is_not_available_until_it_does(slow: Timed, tmp_path: Path) -> None:
    """Case C33: nothing is dead for good."""
    (tmp_path / "broken_app.py").write_text((APPS / "broken_app.py").read_text())
    slow.app = "com.example.broken"
    slow.start(tmp_path)
    assert (await slow.news.ending(slow.submit("any"))).code is ErrorCode.NOT_AVAILABLE
    (tmp_path / "mended").touch()
    slow.clock.advance(500)
    await until(lambda: slow.workers.state(slow.app) is WorkerState.RUNNING)
    assert await slow.workers.activate(slow.app, HERE, within_ms=1_000) is None


async def test_an_app_that_never_ends_to_load_is_ended(slow: Timed) -> None:
    slow.app = "com.example.slow"
    slow.start()
    await until(lambda: slow.pid)
    pid = slow.pid
    await until(lambda: slow.clock.sleepers)
    slow.clock.advance(slow.limits.app_start_ms)
    await slow.news.until(lambda: slow.news.of("worker_ended"))
    await ended(pid)


async def test_the_worker_of_a_new_version_begins_when_the_old_one_is_gone(house: Real, tmp_path: Path) -> None:
    (tmp_path / "rough_app.py").write_text((APPS / "rough_app.py").read_text().replace('"echo": given', '"new": 1'))
    house.start()
    held = await house.hold("wait")
    old = house.pid
    house.start(tmp_path)
    ref = house.submit("echo")
    assert house.workers.state(house.app) in (WorkerState.RUNNING, WorkerState.STOPPING)
    house.gates.open("gate")
    assert (await house.news.ending(held)).code is None
    assert (await house.news.ending(ref)).output == '{"new":1}'
    assert house.pid != old
    await ended(old)
