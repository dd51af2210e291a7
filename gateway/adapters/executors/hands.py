"""What waits for the worker of an app and what it holds: who is next, whose time is up, what each end means.

Knows nothing of how a worker is begun or ended; it is told when there is one that takes work, and when it is gone.
"""

import asyncio
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, Final

import orjson

from gateway.adapters.executors.answering import AT_ONCE, Answering, denial
from gateway.adapters.executors.messages import Ask, Failed, Progress, Result, Started
from gateway.adapters.executors.timing import first_of
from gateway.adapters.executors.work import Hook, Stop, Work, ending_of, failure_of
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import Conversation, Denial, Ending, HookFailure, HookFault, Job, Loss, ServiceDenied
from gateway.runtime.ports import Clock, HandlerServices, WorkerNews
from gateway.settings import Limits

Send = Callable[[dict[str, Any]], None]
"""Writes one frame to the worker."""

HOOK_MS: Final = 10_000
"""How long a hook may take that nobody asked for by name."""


class Hands:
    """The work of one app, in order of arrival. `overran` is told of work that did not end when it was told to."""

    def __init__(
        self,
        app: str,
        *,
        clock: Clock,
        news: WorkerNews,
        services: HandlerServices,
        limits: Callable[[], Limits],
        overran: Callable[[], None],
    ) -> None:
        self._app = app
        self._clock = clock
        self._news = news
        self._answering = Answering(services)
        self._limits = limits
        self._overran = overran
        self._numbers = count(1)
        self._waiting: dict[str, Work] = {}
        self._held: dict[str, Work] = {}
        self._active: set[Conversation] = set()
        self._send: Send | None = None
        self._is_giving = False

    # -- what is asked for ------------------------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        """Take `job`, or say that too many wait."""
        limits = self._limits()
        if len(_jobs(self._waiting)) >= limits.app_queue and not self._has_room():
            busy = f"{limits.app_queue} calls wait for this app already; try again"
            self._news.ended(job.ref, Ending(code=ErrorCode.BUSY, message=busy))
            return
        self._await(job.ref, job.conversation, job.within_ms, job=job)
        self._give()

    def cancel(self, ref: str) -> bool:
        """Stop a job; False when it is not here."""
        if (work := self._waiting.get(ref)) is not None:
            self._drop(work, Ending(code=ErrorCode.CANCELLED, message="stopped before it ran"))
        elif (work := self._held.get(ref)) is not None:
            self._stop(work, Stop.CALLER)
        return work is not None

    async def activate(self, conversation: Conversation, within_ms: int) -> HookFailure | None:
        """Run the hook, or join the run that is under way; None when the app is ready in `conversation`."""
        if conversation in self._active:
            return None
        work = self._activating(conversation) or self._hook(Hook.ACTIVATE, conversation, within_ms)
        self._give()
        await work.over.wait()
        return work.failure

    async def deactivate(self, conversation: Conversation, within_ms: int) -> HookFailure | None:
        """Let what runs there end, then run the hook, if the app is active there."""
        until = self._clock.now() + within_ms
        self.turn_away("its app is being closed", conversation)
        await self._quiet(conversation, within_ms // 2)
        for work in self._there(conversation):
            self._stop(work, Stop.APP)
        await self._quiet(conversation, max(0, until - self._clock.now()))
        if conversation not in self._active:
            return None
        self._active.discard(conversation)
        if self._there(conversation):
            return HookFailure(fault=HookFault.TIMEOUT, message="calls of the app were still running")
        work = self._hook(Hook.DEACTIVATE, conversation, max(within_ms // 2, until - self._clock.now()))
        self._give()
        await work.over.wait()
        return work.failure

    async def _quiet(self, conversation: Conversation, within_ms: int) -> None:
        under_way = self._there(conversation)
        if under_way:
            await first_of(self._clock, within_ms, _all_over(under_way))

    def _there(self, conversation: Conversation) -> list[Work]:
        """What the worker holds that needs the app to be active in `conversation`, or makes it so."""
        return [work for work in self._held.values() if work.needs(conversation)]

    # -- the worker -------------------------------------------------------------------------------------------

    def begin(self, send: Send) -> None:
        """There is a worker that takes work."""
        self._send, self._is_giving = send, True
        self._give()

    def pause(self) -> None:
        """Give nothing more: the worker is about to be ended."""
        self._is_giving = False

    def turn_away(self, why: str, conversation: Conversation | None = None) -> None:
        """Answer what waits, all of it or that of one conversation which needs the app to be ready there."""
        for work in tuple(self._waiting.values()):
            if conversation is None or work.needs(conversation):
                self._drop(work, Ending(code=ErrorCode.NOT_AVAILABLE, message=f"{why}; try again"))

    def lose(self, why: Loss) -> None:
        """The worker is gone, and with it whatever it held; what waits goes on waiting."""
        self._send, self._is_giving = None, False
        self._active.clear()
        held, self._held = tuple(self._held.values()), {}
        for work in held:
            self._fail_hook(work, HookFault.NOT_AVAILABLE, "the app's worker ended")
            work.end()
            if work.job is not None:
                self._news.lost(work.job.ref, why)

    async def wind_down(self, *, drain_ms: int, stop_ms: int) -> None:
        """Let what the worker holds end, then tell it to stop, then run the hooks for where the app is active."""
        await self._until_empty(drain_ms)
        self.stop_all()
        await self._until_empty(stop_ms)
        if self._held:
            return
        for conversation in tuple(self._active):
            self._begin(self._hook(Hook.DEACTIVATE, conversation, stop_ms))
        self._active.clear()
        await self._until_empty(stop_ms)

    def stop_all(self) -> None:
        """Tell everything the worker holds to stop."""
        for work in tuple(self._held.values()):
            self._stop(work, Stop.APP)

    async def emptied(self) -> None:
        """Return once all that the worker holds now is over."""
        await asyncio.gather(*(work.over.wait() for work in tuple(self._held.values())))

    async def _until_empty(self, within_ms: int) -> None:
        if self._held:
            await first_of(self._clock, within_ms, self.emptied())

    @property
    def counts(self) -> tuple[int, int]:
        """Jobs the worker holds, and jobs that wait."""
        return len(_jobs(self._held)), len(_jobs(self._waiting))

    # -- giving -----------------------------------------------------------------------------------------------

    def _has_room(self) -> bool:
        return self._is_giving and len(_jobs(self._held)) < self._limits().app_jobs

    def _give(self) -> None:
        """Give the worker what it may have, first come, first served."""
        if not self._is_giving:
            return
        for work in tuple(self._waiting.values()):
            if work.hook is not None:
                self._give_hook(work)
            elif work.job is not None and work.job.is_app_ready and work.conversation not in self._active:
                if self._activating(work.conversation) is None:
                    self._give_hook(self._hook(Hook.ACTIVATE, work.conversation, HOOK_MS))
            elif self._has_room():
                self._begin(work)

    def _give_hook(self, work: Work) -> None:
        # INVARIANT: hooks of one conversation run one after the other.
        if any(held.hook is not None for held in self._there(work.conversation)):
            return
        if work.hook is Hook.ACTIVATE and work.conversation in self._active:
            self._waiting.pop(work.id)
            work.end()
        else:
            self._begin(work)

    def _begin(self, work: Work) -> None:
        self._held[work.id] = self._waiting.pop(work.id)
        if work.job is not None:
            given = {"method": work.job.method, "input": orjson.Fragment(work.job.arguments)}
            self._say({"type": "run", "id": work.id, **given})
        else:
            self._say({"type": "hook", "id": work.id, "hook": work.hook})

    def _activating(self, conversation: Conversation) -> Work | None:
        works = (*self._waiting.values(), *self._held.values())
        mine = [work for work in works if work.hook is Hook.ACTIVATE and work.conversation == conversation]
        return next((work for work in mine if not work.over.is_set()), None)

    def _hook(self, hook: Hook, conversation: Conversation, within_ms: int) -> Work:
        return self._await(f"hook-{next(self._numbers)}", conversation, within_ms, hook=hook)

    def _await(
        self,
        name: str,
        conversation: Conversation,
        within_ms: int,
        *,
        job: Job | None = None,
        hook: Hook | None = None,
    ) -> Work:
        until = self._clock.now() + within_ms
        work = Work(id=name, app=self._app, conversation=conversation, until=until, job=job, hook=hook)
        self._waiting[name] = work
        work.timer = asyncio.get_running_loop().create_task(self._time(work))
        return work

    # -- ending -----------------------------------------------------------------------------------------------

    def heard(self, message: Started | Progress | Result | Failed | Ask) -> bool:
        """Take what the worker says of its work; about anything but what it holds, its word counts nothing.

        True when something came to its end.
        """
        name = message.of if isinstance(message, Ask) else message.id
        work = self._held.get(name)
        match message:
            case Ask():
                self._asked(message, work)
            case Result() | Failed():
                if work is not None:
                    self._settle(work, message)
            case Started():
                if work is not None and work.job is not None:
                    self._news.started(name)
            case Progress():
                if work is not None and work.job is not None:
                    self._news.progressed(name, message.n, message.total, message.message)
        return work is not None and isinstance(message, Result | Failed)

    def _settle(self, work: Work, message: Result | Failed) -> None:
        del self._held[work.id]
        if work.job is not None:
            work.end()
            self._tell(work.job, ending_of(work.job, work.stop, message))
        elif work.hook is not None:
            self._settle_hook(work, work.hook, failure_of(work.hook, message))
        self._give()

    def _settle_hook(self, work: Work, hook: Hook, failure: HookFailure | None) -> None:
        if hook is Hook.ACTIVATE and failure is None:
            # Also where it came too late for whoever asked: the next one finds the app ready.
            self._active.add(work.conversation)
        if not work.over.is_set():
            work.failure = failure
            if failure is not None and hook is Hook.ACTIVATE:
                self._fail_waiting(work.conversation, failure)
        work.end()

    def _fail_waiting(self, conversation: Conversation, failure: HookFailure) -> None:
        ending = Ending(code=ErrorCode.APP_ACTIVATION_FAILED, message=failure.message)
        for work in tuple(self._waiting.values()):
            if work.conversation == conversation and work.job is not None and work.job.is_app_ready:
                self._drop(work, ending)

    def _tell(self, job: Job, end: Ending | Loss) -> None:
        if isinstance(end, Ending):
            self._news.ended(job.ref, end)
        else:
            self._news.lost(job.ref, end)

    def _drop(self, work: Work, ending: Ending) -> None:
        """End what the worker was never given."""
        self._waiting.pop(work.id, None)
        self._fail_hook(work, HookFault.NOT_AVAILABLE, ending.message or "")
        work.end()
        if work.job is not None:
            self._news.ended(work.job.ref, ending)

    def _fail_hook(self, work: Work, fault: HookFault, message: str) -> None:
        if work.hook is not None and not work.over.is_set():
            work.failure = HookFailure(fault=fault, message=message)

    def _stop(self, work: Work, why: Stop) -> None:
        if work.stop is None:
            work.stop = why
            self._say({"type": "stop", "id": work.id})

    def _say(self, frame: dict[str, Any]) -> None:
        if self._send is not None:
            self._send({**frame, "at": self._clock.now()})

    # -- time -------------------------------------------------------------------------------------------------

    async def _time(self, work: Work) -> None:
        """First the signal, then an interruption where the handler awaits, then the end of its worker."""
        await self._clock.sleep_until(work.until)
        if work.id in self._waiting:
            self._too_late(work)
            return
        self._stop(work, Stop.TIME)
        if work.hook is not None:
            self._overrun_hook(work, work.hook)
        grace = self._limits().app_kill_ms
        await self._clock.sleep_until(work.until + grace // 2)
        self._say({"type": "interrupt", "id": work.id})
        await self._clock.sleep_until(work.until + grace)
        self._overran()

    def _too_late(self, work: Work) -> None:
        self._fail_hook(work, HookFault.TIMEOUT, "the app's worker was not there in time")
        message = "its time was over before its worker was free; it did not run"
        self._drop(work, Ending(code=ErrorCode.NOT_DELIVERED, message=message))

    def _overrun_hook(self, work: Work, hook: Hook) -> None:
        # Whoever waits is told now; what the hook still does is its own matter until it ends or is ended.
        work.failure = HookFailure(
            fault=HookFault.TIMEOUT, message=f"the `{hook}` hook of the app did not end in time"
        )
        if hook is Hook.ACTIVATE:
            self._fail_waiting(work.conversation, work.failure)
        work.over.set()

    # -- questions --------------------------------------------------------------------------------------------

    def _asked(self, ask: Ask, work: Work | None) -> None:
        if work is None:
            self._say(denial(ask, ServiceDenied(Denial.REFUSED, "its call is over")))
        elif len(work.asking) >= AT_ONCE:
            self._say(denial(ask, ServiceDenied(Denial.REFUSED, f"more than {AT_ONCE} questions at once")))
        else:
            task = asyncio.get_running_loop().create_task(self._answer(ask, work))
            work.asking.add(task)
            task.add_done_callback(work.asking.discard)

    async def _answer(self, ask: Ask, work: Work) -> None:
        self._say(await self._answering.frame(work.asker, ask))


def _jobs(works: dict[str, Work]) -> list[Work]:
    return [work for work in works.values() if work.job is not None]


async def _all_over(works: Iterable[Work]) -> None:
    await asyncio.gather(*(work.over.wait() for work in tuple(works)))
