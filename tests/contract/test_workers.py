"""Contract of `Workers`: what is given, what waits, what each end means. Over real processes and over the fake."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from gateway.adapters.executors.python_workers import PythonWorkers
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import Denial, HookFault, Loss, ServiceDenied, WorkerState
from gateway.testing import FakeClock, FakeWorkers
from tests.support.worker_apps.orders_app import TOOLS
from tests.support.worker_house import APP, HERE, SECONDS, THERE, Timed

pytestmark = pytest.mark.anyio


def real() -> Timed:
    clock = FakeClock()
    made = Timed(workers=PythonWorkers(clock), clock=clock)
    made.crash = lambda: os.kill(made.pid, signal.SIGKILL)
    return made


def fake() -> Timed:
    clock = FakeClock()
    workers = FakeWorkers(clock, {APP: TOOLS})
    return Timed(workers=workers, clock=clock, crash=lambda: workers.crash(APP))


@pytest.fixture(params=[real, fake])
async def house(request: pytest.FixtureRequest) -> AsyncIterator[Timed]:
    made: Timed = request.param()
    yield made
    await made.workers.close()


# ---- one job ----------------------------------------------------------------------------------------------------


async def test_a_job_is_started_and_answered_once(house: Timed) -> None:
    house.start()
    ref = house.submit("echo", '{"b":1,"a":"ä"}')
    assert (await house.news.ending(ref)).output == '{"echo":{"a":"ä","b":1}}'
    assert house.news.all[0] == ("started", ref)
    assert house.news.ends_of(ref) == 1


async def test_an_app_that_was_not_started_is_not_available(house: Timed) -> None:
    assert (await house.news.ending(house.submit("echo"))).code is ErrorCode.NOT_AVAILABLE
    house.start()
    other = house.submit("echo", app="com.example.other")
    assert (await house.news.ending(other)).code is ErrorCode.NOT_AVAILABLE
    assert house.workers.state("com.example.other") is WorkerState.STOPPED


async def test_what_a_handler_means_for_its_caller_is_told_and_nothing_else(house: Timed) -> None:
    house.start()
    meant = await house.news.ending(house.submit("refuse"))
    assert (meant.code, meant.message) == (ErrorCode.HANDLER_ERROR, "there is no stock")
    other = await house.news.ending(house.submit("stumble"))
    assert other.code is ErrorCode.HANDLER_ERROR
    assert "MARKER-7" not in (other.message or "")


async def test_a_result_is_at_most_one_mebibyte(house: Timed) -> None:
    house.start()
    last = await house.news.ending(house.submit("grow", '{"bytes":1048576}'))
    assert last.output is not None
    assert len(last.output) == 1_048_576
    beyond = await house.news.ending(house.submit("grow", '{"bytes":1048577}'))
    assert beyond.code is ErrorCode.HANDLER_ERROR
    assert (await house.news.ending(house.submit("echo"))).code is None


# ---- the context ------------------------------------------------------------------------------------------------


async def test_a_handler_gets_its_context_from_the_gateway(house: Timed) -> None:
    house.start()
    ref = house.submit("report")
    ending = await house.news.ending(ref)
    told = f'{{"body":"made","header":"d","ref":"{ref}","revision":4,"status":201,"year":2023}}'
    assert ending.output == told
    assert house.gates.kept.data == '{"n":1,"seen":true}'
    assert house.gates.emitted == [("order.submitted", '{"n":1}')]
    assert house.news.of("progressed") == [(ref, 1, 2, "half")]
    (request,) = house.gates.requests
    assert (request.method, request.url, request.body) == ("POST", "https://api.example.com/x", b'{"a":1}')
    assert dict(request.headers) == {"x-a": "b", "content-type": "application/json"}
    (_, asker) = house.gates.asked[0]
    assert (asker.app, asker.conversation, asker.ref) == (APP, HERE, ref)


@pytest.mark.parametrize(
    ("denial", "error"),
    [
        (Denial.NOT_PERMITTED, "NotPermitted"),
        (Denial.NO_APP_SESSION, "NoAppSession"),
        (Denial.TOO_MUCH, "TooMuch"),
        (Denial.REQUEST_FAILED, "RequestFailed"),
        (Denial.REFUSED, "ContextError"),
    ],
)
async def test_a_refusal_reaches_the_handler_as_an_exception_of_the_contract(
    house: Timed, denial: Denial, error: str
) -> None:
    house.start()
    house.gates.shut("x", ServiceDenied(denial, "why not"))
    ending = await house.news.ending(house.submit("provoke", '{"name":"x"}'))
    assert ending.output == f'{{"error":"{error}","words":"why not"}}'


async def test_a_conflict_tells_the_handler_the_present_revision(house: Timed) -> None:
    house.start()
    house.gates.shut("x", ServiceDenied(Denial.CONFLICT, "meanwhile", revision=9))
    ending = await house.news.ending(house.submit("provoke", '{"name":"x"}'))
    assert ending.output == '{"error":"SessionConflict","revision":9}'


# ---- who waits --------------------------------------------------------------------------------------------------


async def test_a_worker_holds_so_many_jobs_and_the_others_come_in_order(house: Timed) -> None:
    house.limits = replace(house.limits, app_jobs=2)
    house.start()
    first = await house.hold("wait", '{"gate":"one"}')
    second = await house.hold("wait", '{"gate":"two"}')
    third, fourth = house.submit("echo"), house.submit("echo")
    assert house.workers.load().held == 2
    assert house.workers.load().waiting == 2
    house.gates.open("two")
    await house.news.ending(second)
    await house.news.ending(fourth)
    assert house.news.of("started") == [first, second, third, fourth]
    house.gates.open("one")
    await house.news.ending(first)


async def test_one_more_than_may_wait_is_busy(house: Timed) -> None:
    house.limits = replace(house.limits, app_jobs=1, app_queue=1)
    house.start()
    await house.hold()
    waiting = house.submit("echo")
    assert (await house.news.ending(house.submit("echo"))).code is ErrorCode.BUSY
    house.gates.open("gate")
    assert (await house.news.ending(waiting)).code is None


# ---- stopping a job ---------------------------------------------------------------------------------------------


async def test_a_job_that_waits_is_cancelled_at_once_and_never_runs(house: Timed) -> None:
    house.limits = replace(house.limits, app_jobs=1)
    house.start()
    await house.hold()
    waiting = house.submit("echo")
    house.workers.cancel(waiting)
    assert (await house.news.ending(waiting)).code is ErrorCode.CANCELLED
    house.gates.open("gate")
    assert (await house.news.ending(house.submit("echo"))).code is None
    assert waiting not in house.news.of("started")


async def test_a_handler_that_honours_its_signal_ends_cancelled(house: Timed) -> None:
    house.start()
    ref = await house.hold("patient")
    house.workers.cancel(ref)
    house.workers.cancel(ref)
    house.workers.cancel("call_unknown")
    assert (await house.news.ending(ref)).code is ErrorCode.CANCELLED


async def test_a_handler_that_goes_on_after_a_cancel_may_end_well(house: Timed) -> None:
    house.start()
    ref = await house.hold()
    house.workers.cancel(ref)
    house.gates.open("gate")
    assert (await house.news.ending(ref)).output == '{"gate":"value of gate"}'


# ---- time -------------------------------------------------------------------------------------------------------


async def test_a_handler_that_honours_the_end_of_its_time_ends_with_a_plain_failure(house: Timed) -> None:
    house.start()
    ref = await house.hold("patient", within_ms=1_000)
    house.clock.advance(999)
    assert (await house.news.ending(house.submit("echo"))).code is None
    assert house.news.ends_of(ref) == 0
    house.clock.advance(1)
    assert (await house.news.ending(ref)).code is ErrorCode.DEADLINE_EXCEEDED


async def test_a_handler_that_ends_late_is_still_heard(house: Timed) -> None:
    house.start()
    ref = await house.hold(within_ms=1_000)
    house.clock.advance(1_500)
    house.gates.open("gate")
    assert (await house.news.ending(ref)).output == '{"gate":"value of gate"}'


async def test_a_handler_that_goes_on_is_interrupted_and_its_neighbour_is_not(house: Timed) -> None:
    house.start()
    neighbour = await house.hold()
    ref = await house.hold("stubborn", within_ms=1_000)
    house.clock.advance(1_000)
    await house.news.until(lambda: (ref, 1, None, "told to stop") in house.news.of("progressed"))
    assert house.news.ends_of(ref) == 0
    house.clock.advance(house.limits.app_kill_ms // 2)
    assert await house.news.loss(ref) is Loss.OVERRAN
    house.gates.open("gate")
    assert (await house.news.ending(neighbour)).code is None
    assert house.news.of("worker_ended") == []


async def test_a_job_whose_time_is_over_before_a_worker_is_free_did_not_run(house: Timed) -> None:
    house.limits = replace(house.limits, app_jobs=1)
    house.start()
    await house.hold()
    ref = house.submit("echo", within_ms=1_000)
    house.clock.advance(1_000)
    assert (await house.news.ending(ref)).code is ErrorCode.NOT_DELIVERED
    house.gates.open("gate")
    await house.news.ending(house.submit("echo"))
    assert ref not in house.news.of("started")


# ---- a worker that dies -----------------------------------------------------------------------------------------


async def test_a_dead_worker_loses_what_it_held_and_nothing_that_waited(house: Timed) -> None:
    house.limits = replace(house.limits, app_jobs=2)
    house.start()
    held = [await house.hold(), await house.hold()]
    waiting = house.submit("echo")
    house.crash()
    assert [await house.news.loss(ref) for ref in held] == [Loss.CRASHED, Loss.CRASHED]
    assert (await house.news.ending(waiting)).code is None
    assert [house.news.ends_of(ref) for ref in (*held, waiting)] == [1, 1, 1]
    assert house.news.of("worker_ended") == [(APP, Loss.CRASHED)]


async def test_what_a_dead_worker_was_asked_comes_to_nothing(house: Timed) -> None:
    house.start()
    held = await house.hold()
    await house.gates.reached("gate")
    house.crash()
    await house.news.loss(held)
    ref = house.submit("echo")
    house.gates.open("gate")
    assert (await house.news.ending(ref)).output == '{"echo":{}}'


# ---- hooks ------------------------------------------------------------------------------------------------------


async def test_ten_calls_share_one_activation_and_run_after_it(house: Timed) -> None:
    """Case C33, Y1."""
    house.limits = replace(house.limits, app_jobs=10)
    house.start()
    activating = asyncio.create_task(house.workers.activate(APP, HERE, within_ms=60_000))
    refs = [house.submit("ready") for _ in range(10)]
    await house.gates.reached("activate")
    assert (await house.news.ending(house.submit("echo"))).code is None
    assert set(refs).isdisjoint(house.news.of("started"))
    house.gates.open("activate")
    assert [(await house.news.ending(ref)).code for ref in refs] == [None] * 10
    assert await activating is None
    assert house.gates.times("activate") == 1
    assert await house.workers.activate(APP, HERE, within_ms=1) is None
    assert house.gates.times("activate") == 1


async def test_each_conversation_has_an_activation_of_its_own(house: Timed) -> None:
    house.start()
    house.gates.open("activate")
    assert await house.workers.activate(APP, HERE, within_ms=60_000) is None
    assert await house.workers.activate(APP, THERE, within_ms=60_000) is None
    assert [asker.conversation for _, asker in house.gates.asked] == [HERE, THERE]
    assert [asker.ref for _, asker in house.gates.asked] == [None, None]


async def test_a_hook_that_raises_fails_everybody_and_the_next_call_tries_again(house: Timed) -> None:
    """Case C33, Y3."""
    house.start()
    house.gates.shut("activate", ServiceDenied(Denial.NOT_PERMITTED, "no config"))
    asked = (house.workers.activate(APP, HERE, within_ms=60_000) for _ in range(3))
    for failure in await asyncio.gather(*asked):
        assert failure is not None
        assert (failure.fault, failure.message) == (HookFault.RAISED, "no config")
    assert house.gates.times("activate") == 1
    ending = await house.news.ending(house.submit("ready"))
    assert (ending.code, ending.message) == (ErrorCode.APP_ACTIVATION_FAILED, "no config")
    house.gates.shut("activate")
    house.gates.open("activate")
    assert (await house.news.ending(house.submit("ready"))).code is None


async def test_a_hook_that_takes_too_long_fails_for_whoever_waits_and_the_next_attempt_is_fresh(house: Timed) -> None:
    """Case C33, Y2."""
    house.start()
    asked = [asyncio.create_task(house.workers.activate(APP, HERE, within_ms=5_000)) for _ in range(10)]
    await house.gates.reached("activate")
    house.clock.advance(5_000)
    faults = {failure.fault for failure in await asyncio.gather(*asked) if failure is not None}
    assert faults == {HookFault.TIMEOUT}
    house.clock.advance(house.limits.app_kill_ms // 2)
    house.gates.open("activate")
    assert await house.workers.activate(APP, HERE, within_ms=5_000) is None
    assert (await house.news.ending(house.submit("ready"))).code is None


async def test_whoever_leaves_an_activation_takes_it_from_nobody(house: Timed) -> None:
    """Case C33, Y6."""
    house.start()
    first = asyncio.create_task(house.workers.activate(APP, HERE, within_ms=60_000))
    await house.gates.reached("activate")
    second = asyncio.create_task(house.workers.activate(APP, HERE, within_ms=60_000))
    first.cancel()
    await asyncio.wait([first])
    house.gates.open("activate")
    assert await second is None
    assert house.gates.times("activate") == 1


async def test_a_new_worker_is_activated_before_the_first_call_that_needs_it(house: Timed) -> None:
    house.start()
    house.gates.open("activate")
    assert (await house.news.ending(house.submit("ready"))).code is None
    house.crash()
    await house.news.until(lambda: house.news.of("worker_ended"))
    house.gates.shut("activate")
    ref = house.submit("ready")
    await house.gates.reached("activate")
    assert ref not in house.news.of("started")
    house.gates.open("activate")
    assert (await house.news.ending(ref)).code is None


async def test_deactivating_waits_for_the_call_and_runs_the_hook_once(house: Timed) -> None:
    """Case C33, Y4."""
    house.start()
    house.gates.open("activate", "deactivate")
    assert await house.workers.activate(APP, HERE, within_ms=60_000) is None
    assert await house.workers.deactivate(APP, HERE, within_ms=60_000) is None
    assert house.gates.times("deactivate") == 1
    assert await house.workers.deactivate(APP, HERE, within_ms=60_000) is None
    assert house.gates.times("deactivate") == 1
    assert (await house.news.ending(house.submit("ready"))).code is None
    assert house.gates.times("activate") == 2


async def test_hooks_of_an_app_without_a_worker_do_nothing(house: Timed) -> None:
    failure = await house.workers.activate(APP, HERE, within_ms=60_000)
    assert failure is not None
    assert failure.fault is HookFault.NOT_AVAILABLE
    assert await house.workers.deactivate(APP, HERE, within_ms=60_000) is None


# ---- starting and stopping --------------------------------------------------------------------------------------


async def test_a_stopped_app_answers_that_it_is_not_available_until_it_is_started_again(house: Timed) -> None:
    house.start()
    assert (await house.news.ending(house.submit("echo"))).code is None
    await house.workers.stop(APP)
    assert house.workers.state(APP) is WorkerState.STOPPED
    assert (await house.news.ending(house.submit("echo"))).code is ErrorCode.NOT_AVAILABLE
    house.start()
    assert (await house.news.ending(house.submit("echo"))).code is None


async def test_a_stop_lets_what_runs_end_and_turns_away_what_waits(house: Timed) -> None:
    house.limits = replace(house.limits, app_jobs=1)
    house.start()
    held = await house.hold()
    waiting = house.submit("echo")
    stopping = asyncio.create_task(house.workers.stop(APP))
    assert (await house.news.ending(waiting)).code is ErrorCode.NOT_AVAILABLE
    assert not stopping.done()
    house.gates.open("gate")
    assert (await house.news.ending(held)).code is None
    async with asyncio.timeout(SECONDS):
        await stopping


async def test_starting_twice_is_starting_once(house: Timed) -> None:
    """Case C33, Y5."""
    house.start()
    held = await house.hold()
    house.start()
    house.gates.open("gate")
    assert (await house.news.ending(held)).code is None
    for _ in range(2):
        stopping = asyncio.create_task(house.workers.stop(APP))
        await asyncio.sleep(0)
        house.start()
        await stopping
    assert (await house.news.ending(house.submit("echo"))).code is None
    assert house.workers.load().running == 1
