"""`Workers` with real processes: one for each app that is on."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from gateway.adapters.executors.keeper import Keeper
from gateway.adapters.executors.process import Source
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import Conversation, Ending, HookFailure, HookFault, Job, WorkerLoad, WorkerState
from gateway.runtime.ports import Clock, HandlerServices, WorkerNews
from gateway.settings import Limits


class PythonWorkers:
    """One per gateway; lives on its event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._keepers: dict[str, Keeper] = {}
        self._make: Callable[[str], Keeper] | None = None
        self._news: WorkerNews | None = None

    def connect(self, news: WorkerNews, services: HandlerServices, limits: Callable[[], Limits]) -> None:
        self._news = news
        self._make = lambda app: Keeper(app, clock=self._clock, news=news, services=services, limits=limits)

    def start(self, app: str, folder: Path, module: str) -> None:
        assert self._make is not None
        keeper = self._keepers.get(app) or self._keepers.setdefault(app, self._make(app))
        keeper.start(Source(folder, module))

    async def stop(self, app: str) -> None:
        keeper = self._keepers.get(app)
        if keeper is not None:
            await keeper.stop()

    def state(self, app: str) -> WorkerState:
        keeper = self._keepers.get(app)
        return WorkerState.STOPPED if keeper is None else keeper.state

    def pid(self, app: str) -> int | None:
        """The process of the worker of `app`, and its group; None while there is none."""
        keeper = self._keepers.get(app)
        return None if keeper is None else keeper.pid

    def load(self) -> WorkerLoad:
        counts = [keeper.counts for keeper in self._keepers.values()]
        running = sum(keeper.state is WorkerState.RUNNING for keeper in self._keepers.values())
        return WorkerLoad(
            running=running, held=sum(held for held, _ in counts), waiting=sum(waiting for _, waiting in counts)
        )

    def submit(self, job: Job) -> None:
        keeper = self._keepers.get(job.app)
        if keeper is not None:
            keeper.submit(job)
        elif self._news is not None:
            message = "the app is not started; try again"
            self._news.ended(job.ref, Ending(code=ErrorCode.NOT_AVAILABLE, message=message))

    def cancel(self, ref: str) -> None:
        for keeper in self._keepers.values():
            if keeper.cancel(ref):
                return

    async def activate(self, app: str, conversation: Conversation, *, within_ms: int) -> HookFailure | None:
        keeper = self._keepers.get(app)
        if keeper is None:
            return HookFailure(fault=HookFault.NOT_AVAILABLE, message="the app is not started")
        return await keeper.activate(conversation, within_ms)

    async def deactivate(self, app: str, conversation: Conversation, *, within_ms: int) -> HookFailure | None:
        keeper = self._keepers.get(app)
        return None if keeper is None else await keeper.deactivate(conversation, within_ms)

    async def close(self) -> None:
        await asyncio.gather(*(keeper.close() for keeper in self._keepers.values()))
