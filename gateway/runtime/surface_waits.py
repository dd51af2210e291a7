"""Calls of `ui.events` that wait: woken by what happens in their session's surfaces, or when their time is over.

Only wakes. What such a call becomes is decided in its transaction, and after a restart by `recovery`.
"""

import asyncio
from collections import defaultdict
from functools import partial

from gateway.domain.calls import Call
from gateway.runtime.effects import After, AwaitEvents, EventKept
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.spine import Spine
from gateway.runtime.surface_events import answered, given_of, is_waiting, stopped
from gateway.runtime.world import Live


class SurfaceWaits:
    """One per gateway."""

    def __init__(self, *, spine: Spine, live: Live, clock: Clock) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._waiting: defaultdict[str, dict[str, asyncio.Task[None]]] = defaultdict(dict)
        spine.on(AwaitEvents, self._wait)
        spine.on(EventKept, self._kept)

    def close(self) -> None:
        """The gateway stops: nobody is woken any more."""
        for session in tuple(self._waiting):
            for timer in self._waiting.pop(session).values():
                timer.cancel()

    async def cancel(self, call: Call) -> None:
        """End the wait of `call`, at its caller's request."""

        def work(tx: Tx) -> After:
            found = tx.calls.find(call.ref)
            if found is None or not is_waiting(found):
                return After(None)
            return After(None, stopped(tx, found, self._clock.now())[1])

        await self._spine.insist(partial(self._spine.run, work))
        self._forget(call.session, call.ref)

    def _wait(self, effect: AwaitEvents) -> None:
        call = effect.call
        timer = asyncio.get_running_loop().create_task(self._time(call.session, call.ref, effect.until))
        self._waiting[call.session][call.ref] = timer

    def _kept(self, effect: EventKept) -> None:
        for ref in tuple(self._waiting.get(effect.session, ())):
            self._spine.spawn(self._wake(effect.session, ref))

    async def _time(self, session: str, ref: str, until: int) -> None:
        await self._clock.sleep_until(until)
        while not await self._answered(ref):
            await self._clock.sleep_until(until)
        self._forget(session, ref)

    async def _wake(self, session: str, ref: str) -> None:
        if await self._answered(ref):
            self._forget(session, ref)

    async def _answered(self, ref: str) -> bool:
        """Answer `ref` if there is something to answer; False while it goes on waiting."""

        def work(tx: Tx) -> After:
            call = tx.calls.find(ref)
            if call is None or not is_waiting(call):
                return After(True)
            found = answered(tx, self._live.world, call, given_of(tx, call), self._clock.now())
            return After(False) if found is None else After(True, found[1])

        return await self._spine.insist(partial(self._spine.run, work))

    def _forget(self, session: str, ref: str) -> None:
        timers = self._waiting.get(session, {})
        timer = timers.pop(ref, None)
        if not timers:
            self._waiting.pop(session, None)
        if timer is not None and timer is not asyncio.current_task():
            timer.cancel()
