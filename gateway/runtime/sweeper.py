"""Wakes when something is due. Timers only wake: what a call becomes is decided inside its transaction."""

import asyncio

from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode
from gateway.runtime.dispatch import expire_if_due
from gateway.runtime.effects import After, CancelWork, SessionEnded
from gateway.runtime.pages import Pages
from gateway.runtime.ports import Clock, StoreUnavailable, Tx
from gateway.runtime.refusals import Refusals
from gateway.runtime.settlement import lose
from gateway.runtime.spine import Spine

LOOK_MS = 1_000
"""Longest time between two looks; nothing accepted is due sooner after its acceptance."""

PURGE_MS = 60_000
BATCH = 200


class Sweeper:
    """One background task of the gateway."""

    def __init__(self, *, spine: Spine, clock: Clock, pages: Pages, refusals: Refusals) -> None:
        self._spine = spine
        self._clock = clock
        self._pages = pages
        self._refusals = refusals
        self._purged_at = 0

    async def run(self) -> None:
        """Sweep until cancelled. A store that is gone is tried again at the next look."""
        while True:
            try:
                due = await self.sweep()
            except StoreUnavailable:
                due = None
            horizon = self._clock.now() + LOOK_MS
            await self._clock.sleep_until(horizon if due is None else min(due, horizon))
            await asyncio.sleep(0)

    async def sweep(self) -> int | None:
        """Do what is due now; returns when the next call is due."""
        now = self._clock.now()
        while len(due := await self._spine.store.run(lambda tx: list(tx.calls.due(now, BATCH)))) > 0:
            for call in due:
                await self._expire(call.ref)
            if len(due) < BATCH:
                break
        await self._pages.sweep(now)
        await self._end_sessions(now)
        if now - self._purged_at >= PURGE_MS:
            self._purged_at = now
            await self._purge(now)
        return await self._spine.store.run(lambda tx: tx.calls.next_due())

    async def _expire(self, ref: str) -> None:
        def work(tx: Tx) -> After:
            now = self._clock.now()
            call = tx.calls.find(ref)
            if call is None or call.due_at is None or call.due_at > now:
                return After(None)
            if call.state is CallState.DISPATCHED:
                return self._overrun(tx, call, now)
            expired = expire_if_due(tx, call, now)
            return After(None, expired[1] if expired else ())

        await self._spine.run(work)

    def _overrun(self, tx: Tx, call: Call, now: int) -> After:
        message = "it did not answer in time; whether it ran to the end is unknown"
        lost, effects = lose(tx, call, now, ErrorCode.DEADLINE_EXCEEDED, message)
        return After(None, (*effects, CancelWork(call=lost)))

    async def _end_sessions(self, now: int) -> None:
        ended = await self._spine.store.run(
            lambda tx: [s.id for s in tx.sessions.list() if s.revoked_at is None and not s.is_live(now)]
        )
        for session in ended:
            self._spine.perform(SessionEnded(session=session, why="expired"))

    async def _purge(self, now: int) -> None:
        def work(tx: Tx) -> After:
            tx.tickets.purge(now)
            tx.nonces.purge(now)
            tx.calls.erase_results(now)
            return After(None)

        await self._spine.run(work)
        await self._refusals.sweep()
