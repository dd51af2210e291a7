"""Wakes when something is due. Timers only wake: what a call becomes is decided inside its transaction."""

import asyncio
from collections.abc import Awaitable

import structlog

from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode
from gateway.failpoints import Point, reach
from gateway.runtime.effects import After, CancelWork, SessionEnded
from gateway.runtime.ending import expire_if_due
from gateway.runtime.pages import Pages
from gateway.runtime.ports import Clock, StoreBusy, StoreUnavailable, Tx
from gateway.runtime.refusals import Refusals
from gateway.runtime.retention import Retention
from gateway.runtime.running_apps import RunningApps
from gateway.runtime.settlement import lose
from gateway.runtime.spine import Spine
from gateway.runtime.surface_events import given_up, is_waiting
from gateway.runtime.surfaces import Surfaces

LOOK_MS = 1_000
"""Longest time between two looks; nothing accepted is due sooner after its acceptance."""

COUNT_MS = 60_000
"""Time between two records of refusals that were only counted."""

BATCH = 200

_log = structlog.get_logger("ostiary.sweeper")


class Sweeper:
    """One background task of the gateway."""

    def __init__(
        self,
        *,
        spine: Spine,
        clock: Clock,
        pages: Pages,
        refusals: Refusals,
        retention: Retention,
        running: RunningApps,
        surfaces: Surfaces,
    ) -> None:
        self._spine = spine
        self._clock = clock
        self._pages = pages
        self._refusals = refusals
        self._retention = retention
        self._running = running
        self._surfaces = surfaces
        self._counted_at = 0
        self._ended_until = clock.now()

    async def run(self) -> None:
        """Sweep until cancelled. Whatever fails is tried again at the next look: without looks nothing expires."""
        while True:
            if self._spine.store.is_down:
                # Nothing else may want to be written for long, and somebody waits for the end of the outage.
                await self._spine.store.probe()
            try:
                due = await self.sweep()
            except (StoreBusy, StoreUnavailable):
                due = None
            except Exception as bug:  # noqa: BLE001 - a dead sweeper would keep dead calls and grants alive
                _log.exception("sweep_failed", error=type(bug).__name__)
                due = None
            horizon = self._clock.now() + LOOK_MS
            await self._clock.sleep_until(horizon if due is None else min(due, horizon))
            await asyncio.sleep(0)

    async def sweep(self) -> int | None:
        """Do what is due now; returns when the next call is due, None when something is to be tried again."""
        now = self._clock.now()
        succeeded = [
            # First what calls wait for: an attempt that took too long has an answer for each of them, their age none.
            await self._run_apps(now),
            await self._expire_due(now),
            await self._succeeds(self._pages.sweep(now)),
            await self._succeeds(self._surfaces.sweep(now)),
            await self._succeeds(self._end_sessions(now)),
        ]
        await self._succeeds(self._retention.look())
        if now - self._counted_at >= COUNT_MS:
            self._counted_at = now
            succeeded.append(await self._succeeds(self._refusals.sweep()))
        # A call that stays due would be looked at without a pause.
        return await self._spine.store.run(_next_due) if all(succeeded) else None

    async def _run_apps(self, now: int) -> bool:
        return all([await self._succeeds(step()) for step in await self._running.due(now)])

    async def _expire_due(self, now: int) -> bool:
        while True:
            due = await self._spine.store.run(lambda tx: list(tx.calls.due(now, BATCH)))
            succeeded = [await self._succeeds(self._expire(call.ref)) for call in due]
            if len(due) < BATCH or not all(succeeded):
                return all(succeeded)

    async def _succeeds(self, step: Awaitable[None]) -> bool:
        try:
            await step
        except (StoreBusy, StoreUnavailable):
            return False
        except Exception as bug:  # noqa: BLE001 - one step that fails holds up no other
            _log.exception("sweep_step_failed", error=type(bug).__name__)
            return False
        return True

    async def _expire(self, ref: str) -> None:
        reach(Point.EXPIRY_FOUND)

        def work(tx: Tx) -> After:
            now = self._clock.now()
            call = tx.calls.find(ref)
            if call is None or call.due_at is None or call.due_at > now:
                return After(None)
            if call.state is CallState.DISPATCHED:
                return self._overrun(tx, call, now)
            expired = expire_if_due(tx, call, now)
            reach(Point.EXPIRY_WRITTEN)
            return After(None, expired[1] if expired else ())

        await self._spine.run(work)

    def _overrun(self, tx: Tx, call: Call, now: int) -> After:
        if is_waiting(call):
            return After(None, given_up(tx, call, now)[1])
        message = "it did not answer in time; whether it ran to the end is unknown"
        lost, effects = lose(tx, call, now, ErrorCode.DEADLINE_EXCEEDED, message)
        reach(Point.OVERRUN_WRITTEN)
        # Who runs it is asked to stop before all others hear that it is over, and forget who runs it.
        return After(None, (CancelWork(call=lost), *effects))

    async def _end_sessions(self, now: int) -> None:
        # Who expired before this process began has no stream in it.
        after = self._ended_until
        ended = await self._spine.store.run(lambda tx: [s.id for s in tx.sessions.expired(after, now)])
        self._ended_until = now
        for session in ended:
            self._spine.perform(SessionEnded(session=session, why="expired"))


def _next_due(tx: Tx) -> int | None:
    due = (tx.calls.next_due(), RunningApps.next_due(tx), tx.surfaces.next_due())
    return min((at for at in due if at is not None), default=None)
