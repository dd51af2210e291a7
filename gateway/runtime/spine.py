"""Runs units of work and performs what must follow each commit. The only place where the two meet."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

import structlog

from gateway.failpoints import Point, reach
from gateway.runtime.effects import After, Effect
from gateway.runtime.ports import Store, StoreBusy, StoreUnavailable, Tx
from gateway.runtime.watched_store import WatchedStore

E = TypeVar("E", bound=Effect)
T = TypeVar("T")

PAUSE_SECONDS: Final = (0.02, 2.0)
"""The first and the longest pause before something is insisted on again."""

_log = structlog.get_logger("ostiary.spine")


class Spine:
    """Units of work in, effects out. Handlers are synchronous and run on the loop, in commit order."""

    def __init__(self, store: Store) -> None:
        self.store = WatchedStore(store)
        self._handlers: dict[type[Any], Callable[[Any], None]] = {}
        self._observers: list[Callable[[Effect], None]] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = asyncio.Event()

    def on(self, kind: type[E], handler: Callable[[E], None]) -> None:
        """Perform effects of `kind` with `handler`."""
        self._handlers[kind] = handler

    def observe(self, observer: Callable[[Effect], None]) -> None:
        """Show `observer` every effect, before it is performed; it must not raise."""
        self._observers.append(observer)

    async def run(self, work: Callable[[Tx], After]) -> Any:
        """Run one unit of work; returns its value after the commit and after its effects were performed.

        A caller that is cancelled meanwhile stops neither: what was committed has its effects.
        """
        after = await self.store.run(work, self._heard)
        return after.value

    def _heard(self, after: After) -> None:
        reach(Point.COMMIT_HEARD)
        for effect in after.effects:
            try:
                self.perform(effect)
            except Exception as bug:  # noqa: BLE001 - what was committed has its other effects, and its caller
                _log.exception("effect_failed", effect=type(effect).__name__, error=type(bug).__name__)
        reach(Point.EFFECTS_DONE)

    async def insist(self, step: Callable[[], Awaitable[T]]) -> T:
        """Do `step`, again and again until the store takes it: for what happened already and is not told twice.

        Raises:
            StoreBusy, StoreUnavailable: the gateway stops; a restart then says what became of it.
        """
        pause, longest = PAUSE_SECONDS
        while True:
            try:
                return await step()
            except (StoreBusy, StoreUnavailable):
                if self._closing.is_set():
                    raise
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._closing.wait()
            pause = min(2 * pause, longest)

    def close(self) -> None:
        """The gateway stops: what is insisted on gets one more try."""
        self._closing.set()

    def perform(self, effect: Effect) -> None:
        """Perform one effect now; for what needs no commit."""
        for observer in self._observers:
            observer(effect)
        self._handlers[type(effect)](effect)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run `work` beside its caller; it outlives the request that began it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def drain(self) -> None:
        """Wait for everything spawned so far, and for the effects of every unit handed to the store so far."""
        while True:
            with suppress(StoreBusy, StoreUnavailable):
                # Behind all others in the store's queue.
                await self.store.run(_nothing)
            if not self._tasks:
                return
            await asyncio.wait(tuple(self._tasks))

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("background_work_failed", error=type(error).__name__, exc_info=error)


def _nothing(_: Tx) -> None:
    """A unit of work that leaves all as it is."""
