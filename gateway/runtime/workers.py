"""Calls that run in the workers of mini apps: handed over once, and settled by what their worker says.

A call that was handed over and never answered is `unknown`, also after a restart (`recovery`); nothing is run again.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from capabilities.contract import Descriptor, Readiness
from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import STOP_MS, Conversation, Ending, Job, Loss
from gateway.failpoints import Point, reach
from gateway.runtime.effects import After
from gateway.runtime.ports import Clock, HandlerServices, Tx, Workers
from gateway.runtime.settlement import Answer, lose
from gateway.runtime.spine import Spine
from gateway.runtime.telemetry import Meter, names
from gateway.runtime.world import Live


@dataclass(frozen=True, slots=True)
class _Given:
    """A call in the hands of a worker, with the declaration its answer is judged by."""

    call: Call
    declared: Descriptor


@dataclass(frozen=True, slots=True)
class Reports:
    """Whom the news of a worker goes to."""

    started: Callable[[str], None]
    progressed: Callable[[Call, float, float | None, str | None], None]
    answered: Callable[[Call, Answer, Descriptor], Awaitable[bool]]


_LOST: Final = {
    Loss.CRASHED: (ErrorCode.OUTCOME_UNKNOWN, "its worker ended before an answer came"),
    Loss.BROKE_FRAMES: (ErrorCode.OUTCOME_UNKNOWN, "its worker was ended before an answer came"),
    Loss.OVERRAN: (ErrorCode.OUTCOME_UNKNOWN, "its worker was ended because a call did not stop in time"),
    Loss.STOPPED: (ErrorCode.OUTCOME_UNKNOWN, "its app was stopped before an answer came"),
}


class WorkerCalls:
    """`WorkerNews`, and the way into `Workers`."""

    def __init__(
        self, *, spine: Spine, live: Live, clock: Clock, workers: Workers, services: HandlerServices, meter: Meter
    ) -> None:
        self._spine = spine
        self._clock = clock
        self._workers = workers
        self._meter = meter
        self._given: dict[str, _Given] = {}
        self._reports: Reports | None = None
        workers.connect(self, services, lambda: live.world.configuration.limits)

    def report_to(self, reports: Reports) -> None:
        """Say whom the news goes to; once, before anything is handed over."""
        self._reports = reports

    def run(self, call: Call, declared: Descriptor, arguments: str) -> None:
        """Hand a dispatched call over, once."""
        assert call.execute_by is not None
        assert call.app is not None
        assert call.conversation is not None
        self._given[call.ref] = _Given(call, declared)
        self._workers.submit(
            Job(
                app=call.app,
                ref=call.ref,
                method=call.capability,
                arguments=arguments,
                within_ms=max(0, call.execute_by - STOP_MS - self._clock.now()),
                conversation=Conversation(user=call.user, id=call.conversation),
                is_app_ready=declared.readiness is not Readiness.ACTIVATION_NOT_REQUIRED,
            )
        )
        reach(Point.JOB_GIVEN)

    def cancel(self, ref: str) -> bool:
        """Ask the handler to stop; False when no worker has the call."""
        if ref not in self._given:
            return False
        self._workers.cancel(ref)
        return True

    # -- news ---------------------------------------------------------------------------------------------------

    def started(self, ref: str) -> None:
        if ref in self._given and self._reports is not None:
            self._reports.started(ref)

    def progressed(self, ref: str, n: float, total: float | None, message: str | None) -> None:
        given = self._given.get(ref)
        if given is not None and self._reports is not None:
            self._reports.progressed(given.call, n, total, message)

    def ended(self, ref: str, ending: Ending) -> None:
        given = self._given.pop(ref, None)
        if given is None or self._reports is None:
            return
        self._meter.add(names.WORKER_JOBS, "succeeded" if ending.code is None else ending.code.wire)
        reach(Point.JOB_ANSWERED)
        answer = Answer(output=ending.output, code=ending.code, message=ending.message)
        # A worker says its answer once.
        step = partial(self._reports.answered, given.call, answer, given.declared)
        self._spine.spawn(self._spine.insist(step))

    def lost(self, ref: str, why: Loss) -> None:
        given = self._given.pop(ref, None)
        if given is None:
            return
        self._meter.add(names.WORKER_LOSSES, why.value)
        self._spine.spawn(self._spine.insist(partial(self._lose, ref, why)))

    def worker_ended(self, app: str, why: Loss) -> None:  # noqa: ARG002 - which app it was stands in the log
        self._meter.add(names.WORKER_ENDS, why.value)

    async def _lose(self, ref: str, why: Loss) -> None:
        code, words = _LOST[why]

        def work(tx: Tx) -> After:
            call = tx.calls.find(ref)
            if call is None or call.state is not CallState.DISPATCHED:
                # Its time was up before: that is what became of it.
                return After(None)
            after = After(None, lose(tx, call, self._clock.now(), code, f"{words}; whether it ran is unknown")[1])
            reach(Point.JOB_LOST)
            return after

        await self._spine.run(work)
