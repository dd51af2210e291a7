"""Runs units of work and performs what must follow each commit. The only place where the two meet."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import structlog

from gateway.failpoints import Point, reach
from gateway.runtime.effects import After, Effect
from gateway.runtime.ports import Store, Tx
from gateway.runtime.watched_store import WatchedStore

E = TypeVar("E", bound=Effect)

_log = structlog.get_logger("ostiary.spine")


class Spine:
    """Units of work in, effects out. Handlers are synchronous and run on the loop, in commit order."""

    def __init__(self, store: Store) -> None:
        self.store = WatchedStore(store)
        self._handlers: dict[type[Any], Callable[[Any], None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def on(self, kind: type[E], handler: Callable[[E], None]) -> None:
        """Perform effects of `kind` with `handler`."""
        self._handlers[kind] = handler

    async def run(self, work: Callable[[Tx], After]) -> Any:
        """Run one unit of work; returns its value after the commit and after its effects were performed.

        A caller that is cancelled meanwhile stops neither: what was committed has its effects.
        """
        task = asyncio.get_running_loop().create_task(self._run(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def _run(self, work: Callable[[Tx], After]) -> Any:
        after = await self.store.run(work)
        reach(Point.COMMIT_HEARD)
        for effect in after.effects:
            try:
                self.perform(effect)
            except Exception as bug:  # noqa: BLE001 - what was committed has its other effects, and its caller
                _log.exception("effect_failed", effect=type(effect).__name__, error=type(bug).__name__)
        reach(Point.EFFECTS_DONE)
        return after.value

    def perform(self, effect: Effect) -> None:
        """Perform one effect now; for what needs no commit."""
        self._handlers[type(effect)](effect)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run `work` beside its caller; it outlives the request that began it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def drain(self) -> None:
        """Wait for everything spawned so far."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("background_work_failed", error=type(error).__name__, exc_info=error)
