"""Keeps the one worker of an app: begins it, begins it again when it ends by itself, and ends it.

Every process lives inside one task, one after the other, so that an app never has two.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from gateway.adapters.executors.backing_off import Strikes
from gateway.adapters.executors.frames import Broken
from gateway.adapters.executors.hands import Hands
from gateway.adapters.executors.messages import Message, Ready, Unloadable
from gateway.adapters.executors.process import LINGER_SECONDS, Source, WorkerProcess
from gateway.adapters.executors.spoken import Allowance
from gateway.adapters.executors.timing import first_of
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import (
    Conversation,
    Ending,
    HookFailure,
    HookFault,
    Job,
    Loss,
    WorkerEvent,
    WorkerState,
    step,
)
from gateway.runtime.ports import Clock, HandlerServices, WorkerNews
from gateway.settings import Limits

_log = structlog.get_logger("ostiary.workers")


class Keeper:
    """One app."""

    def __init__(
        self,
        app: str,
        *,
        clock: Clock,
        news: WorkerNews,
        services: HandlerServices,
        limits: Callable[[], Limits],
    ) -> None:
        self._app = app
        self._clock = clock
        self._news = news
        self._limits = limits
        self._hands = Hands(
            app, clock=clock, news=news, services=services, limits=limits, overran=self._end_overrunner
        )
        self.state = WorkerState.STOPPED
        self._wanted: Source | None = None
        self._changed = asyncio.Event()
        self._ready = asyncio.Event()
        self._gone = asyncio.Event()
        self._gone.set()
        self._task: asyncio.Task[None] | None = None
        self._process: WorkerProcess | None = None
        self._why = Loss.CRASHED
        self._allowance = Allowance()

    @property
    def counts(self) -> tuple[int, int]:
        """Jobs the worker holds, and jobs that wait."""
        return self._hands.counts

    @property
    def pid(self) -> int | None:
        """The process there is."""
        return None if self._process is None else self._process.pid

    # -- what is wanted ---------------------------------------------------------------------------------------

    def start(self, source: Source) -> None:
        """Keep a worker of the app in `source` from now on, and no other."""
        if source == self._wanted:
            return
        self._change(source, "the app was replaced")
        if self._task is None or self._task.done():
            self._move(WorkerEvent.BEGIN)
            self._task = asyncio.get_running_loop().create_task(self._keep())

    async def stop(self) -> None:
        """Keep none; returns when the one there was is gone."""
        self._change(None, "the app was stopped")
        await self._gone.wait()

    def _change(self, wanted: Source | None, why: str) -> None:
        self._wanted = wanted
        # INVARIANT: from here on nothing is given to the worker of before, not even by who was in time to wait.
        self._hands.pause()
        self._hands.turn_away(why)
        self._changed.set()

    async def close(self) -> None:
        """End it now: the gateway stops, and has given its calls their time already."""
        self._wanted, self._why = None, Loss.STOPPED
        self._hands.pause()
        self._hands.turn_away("the gateway stops")
        if self._task is None or self._task.done():
            return
        if (process := self._process) is not None:
            self._hands.stop_all()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hands.emptied(), LINGER_SECONDS)
            process.send({"type": "bye", "at": self._clock.now()})
        await asyncio.wait({self._task}, timeout=LINGER_SECONDS)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def submit(self, job: Job) -> None:
        """Take a job, or say at once that there is nobody to do it."""
        if self._wanted is None or self.state is WorkerState.BACKING_OFF:
            self._news.ended(job.ref, Ending(code=ErrorCode.NOT_AVAILABLE, message=f"{self._absence}; try again"))
        else:
            self._hands.submit(job)

    def cancel(self, ref: str) -> bool:
        """Stop a job; False when it is not here."""
        return self._hands.cancel(ref)

    async def activate(self, conversation: Conversation, within_ms: int) -> HookFailure | None:
        """Run the hook; a failure at once where there is nobody to run it."""
        if self._wanted is None or self.state is WorkerState.BACKING_OFF:
            return HookFailure(fault=HookFault.NOT_AVAILABLE, message=self._absence)
        return await self._hands.activate(conversation, within_ms)

    async def deactivate(self, conversation: Conversation, within_ms: int) -> HookFailure | None:
        """Run the hook where the app is active."""
        return await self._hands.deactivate(conversation, within_ms)

    def _move(self, event: WorkerEvent) -> None:
        self.state = step(self.state, event)

    @property
    def _absence(self) -> str:
        return "the app is stopped" if self._wanted is None else "the app's worker keeps ending by itself"

    # -- one life after the other -----------------------------------------------------------------------------

    async def _keep(self) -> None:
        strikes, of = Strikes(), self._wanted
        while (source := self._wanted) is not None:
            if source != of:
                strikes, of = Strikes(), source
            self._changed.clear()
            why = await self._live(source, strikes)
            if why is Loss.STOPPED:
                continue
            self._news.worker_ended(self._app, why)
            # Killed for its time, it is not to blame for how often.
            if why is not Loss.OVERRAN and (pause := strikes.strike()) and source == self._wanted:
                self._move(WorkerEvent.PAUSE)
                self._hands.turn_away(self._absence)
                await first_of(self._clock, pause, self._changed.wait())
        self._move(WorkerEvent.GONE)

    async def _live(self, source: Source, strikes: Strikes) -> Loss:
        """One process from its beginning to its end; returns why it ended."""
        self._move(WorkerEvent.BEGIN)
        self._why = Loss.CRASHED
        self._ready.clear()
        self._gone.clear()
        listening: asyncio.Task[int] | None = None
        try:
            process = self._process = await WorkerProcess.begin(source)
            listening = asyncio.get_running_loop().create_task(
                process.listen(lambda message: self._heard(message, strikes), self._printed, self._clock)
            )
            limit = self._limits().app_start_ms
            await first_of(self._clock, limit, _end_of(listening), self._ready.wait(), self._changed.wait())
            if self._ready.is_set() and not self._changed.is_set():
                self._move(WorkerEvent.READY)
                self._hands.begin(process.send)
                await first_of(self._clock, None, _end_of(listening), self._changed.wait())
            if self._changed.is_set() and not listening.done():
                await self._end(process, listening)
        except Exception as error:  # noqa: BLE001 - whatever it was, the app is begun again
            _log.exception("worker_not_kept", app=self._app, error=type(error).__name__)
        finally:
            await self._bury(listening)
        return self._why

    async def _end(self, process: WorkerProcess, listening: "asyncio.Task[int]") -> None:
        self._move(WorkerEvent.STOP)
        self._why = Loss.STOPPED
        limits = self._limits()
        if self._ready.is_set():
            await self._hands.wind_down(drain_ms=limits.drain_ms, stop_ms=limits.app_kill_ms)
            process.send({"type": "bye", "at": self._clock.now()})
            await asyncio.wait({listening}, timeout=LINGER_SECONDS)

    async def _bury(self, listening: "asyncio.Task[int] | None") -> None:
        """See that it is dead, with all it began, and say what is lost with it."""
        process, self._process = self._process, None
        status: int | BaseException | None = None
        if process is not None and listening is not None:
            process.kill()
            (status,) = await asyncio.gather(listening, return_exceptions=True)
        if isinstance(status, Broken):
            self._why = Loss.BROKE_FRAMES
        if self._why is not Loss.STOPPED:
            _log.warning("worker_ended", app=self._app, cause=self._why.value, hint=_hint(status))
        self._hands.lose(self._why)
        self._gone.set()

    def _heard(self, message: Message, strikes: Strikes) -> None:
        match message:
            case Ready():
                self._ready.set()
            case Unloadable():
                _log.error("app_unloadable", app=self._app, hint=message.message)
            case _:
                if self._hands.heard(message):
                    strikes.forgive()

    def _end_overrunner(self) -> None:
        if self._process is not None:
            self._why = Loss.OVERRAN
            self._process.kill()

    def _printed(self, stream: str, line: str) -> None:
        is_kept, left_out = self._allowance.take(self._clock.monotonic())
        if is_kept:
            _log.info("app_output", app=self._app, stream=stream, line=line, left_out=left_out or None)


def _hint(status: int | BaseException | None) -> str:
    if isinstance(status, int):
        return f"exit status {status}" if status >= 0 else f"signal {-status}"
    return str(status) if isinstance(status, Broken) else "not started"


async def _end_of(task: "asyncio.Task[int]") -> None:
    await asyncio.wait({task})
