"""The relay: takes entries from the outbox in the order of each key and hands them to the consumer, at least once.

Every attempt holds a lease, so that two relays of one database share the work, and what a crash cut off is tried again
when its lease ends. What came of an attempt and the claim to the next one are one commit: a busy key costs the store no
more than that for each entry. An entry that used up its attempts is dead: audited, listed, and in nobody's way. Nothing here
waits for a consumer that does not answer, but the entries behind the one it does not take.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from gateway.domain.audit import AuditEvent
from gateway.domain.outbox import OutboxEntry, OutboxEvent, OutboxState, Patience, Undelivered, failed, step
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.ports import Clock, Ids, Sink, StaleState, StoreBusy, StoreUnavailable, Tx
from gateway.runtime.spine import Spine
from gateway.runtime.telemetry import NO_METER, Meter, names

ABREAST: Final = 8
"""Entries on their way at once, each of another key."""

LEASE_SLACK_MS: Final = 10_000
"""How much longer a lease is than an attempt may take: time for the store to note what came of it."""

LOOK_MS: Final = 60_000
"""Longest time between two looks, whatever was missed."""

AGAIN_MS: Final = 1_000
"""Time until the next look after one that failed."""

FINISH_SECONDS: Final = 3.0
"""How long a stop waits for what is on its way; what does not end by then is sent again at the end of its lease."""

_log = structlog.get_logger("ostiary.outbox")


@dataclass(frozen=True, slots=True)
class _Turn:
    lease: str
    entries: tuple[OutboxEntry, ...]


@dataclass(frozen=True, slots=True)
class _Settled:
    entry: OutboxEntry | None
    """None where the lease was lost."""

    turn: _Turn


class Relay:
    """One background task of a gateway whose outbox has a consumer."""

    def __init__(
        self,
        *,
        spine: Spine,
        clock: Clock,
        ids: Ids,
        sink: Sink,
        patience: Patience,
        attempt_ms: int,
        meter: Meter = NO_METER,
    ) -> None:
        self._spine = spine
        self._clock = clock
        self._ids = ids
        self._sink = sink
        self._patience = patience
        self._attempt_ms = attempt_ms
        self._meter = meter
        self._is_wanted = asyncio.Event()
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    def wake(self) -> None:
        """Something may be due now."""
        self._is_wanted.set()

    async def run(self) -> None:
        """Deliver until cancelled. Whatever fails is tried again: without looks nothing would leave."""
        try:
            while True:
                self._is_wanted.clear()
                await self._rest(await self._safe_look())
        finally:
            await self._finish()

    async def _safe_look(self) -> int | None:
        try:
            return await self.look()
        except (StoreBusy, StoreUnavailable):
            pass
        except Exception as bug:  # noqa: BLE001 - a dead relay would keep everything from its consumer
            _log.exception("outbox_look_failed", error=type(bug).__name__)
        return self._clock.now() + AGAIN_MS

    async def look(self) -> int | None:
        """Begin an attempt at what is due, as far as there is room; returns when to look again, None for at a wake."""
        room = ABREAST - len(self._under_way)
        if room <= 0:
            return None
        turn, due = await self._spine.store.run(partial(self._look, self._ids.name("lease"), room))
        reach(Point.OUTBOX_LEASED)
        for entry in turn.entries:
            task = asyncio.get_running_loop().create_task(self._attempts(entry, turn.lease))
            self._under_way.add(task)
            task.add_done_callback(self._done)
        return due

    def _look(self, lease: str, room: int, tx: Tx) -> tuple[_Turn, int | None]:
        return self._claim(lease, room, tx), tx.outbox.next_due()

    def _claim(self, lease: str, room: int, tx: Tx) -> _Turn:
        now = self._clock.now()
        until = now + self._attempt_ms + LEASE_SLACK_MS
        live: list[OutboxEntry] = []
        for entry in tx.outbox.claim(lease, now=now, until=until, limit=room):
            if entry.attempts <= self._patience.attempts:
                live.append(entry)
            else:
                # Its last attempt ended with the process that made it.
                dead = step(entry, OutboxEvent.GIVE_UP, now=now, error="nobody heard what came of its last attempt")
                self._save(tx, dead, lease, now)
        return _Turn(lease, tuple(live))

    async def _attempts(self, entry: OutboxEntry, lease: str) -> None:
        """One attempt, and then at whatever is due next, until nothing is."""
        turn = _Turn(lease, (entry,))
        while turn.entries:
            turn = await self._attempt(turn.entries[0], turn.lease)

    async def _attempt(self, entry: OutboxEntry, lease: str) -> _Turn:
        why = await self._delivered(entry)
        reach(Point.OUTBOX_ANSWERED)
        unit = partial(self._settle, entry, lease, why, self._ids.name("lease"))
        try:
            settled = await self._spine.insist(partial(self._spine.store.run, unit))
        except (StoreBusy, StoreUnavailable):  # the gateway stops; the lease ends by itself
            return _Turn(lease, ())
        reach(Point.OUTBOX_LEASED)
        self._note(entry, settled.entry, why)
        return settled.turn

    async def _delivered(self, entry: OutboxEntry) -> Undelivered | None:
        try:
            async with asyncio.timeout(self._attempt_ms / 1_000 + 1):
                return await self._sink.deliver(entry)
        except TimeoutError:
            return Undelivered(error="no answer in time")
        except Exception as bug:  # noqa: BLE001 - one entry the sink stumbles over holds up no other
            _log.exception("outbox_sink_failed", event_id=entry.id, error=type(bug).__name__)
            return Undelivered(error=f"the sink failed: {type(bug).__name__}")

    def _settle(self, entry: OutboxEntry, lease: str, why: Undelivered | None, following: str, tx: Tx) -> _Settled:
        now = self._clock.now()
        if why is None:
            moved = step(entry, OutboxEvent.DELIVER, now=now)
        else:
            moved = failed(entry, why, self._patience, now=now)
        try:
            self._save(tx, moved, lease, now)
        except StaleState:
            return _Settled(None, _Turn(following, ()))
        return _Settled(moved, _Turn(following, ()) if self._is_stopping else self._claim(following, 1, tx))

    def _save(self, tx: Tx, moved: OutboxEntry, lease: str, now: int) -> None:
        tx.outbox.save(moved, holder=lease)
        if moved.state is OutboxState.DEAD:
            reach(Point.OUTBOX_BURIED)
            record = audit.of_admin(
                AuditEvent.OUTBOX_GIVEN_UP,
                now,
                entry=moved.id,
                type=moved.type,
                attempts=moved.attempts,
                reason=moved.error,
            )
            tx.audit.append(record)
        reach(Point.OUTBOX_SETTLED)

    def _note(self, entry: OutboxEntry, moved: OutboxEntry | None, why: Undelivered | None) -> None:
        if moved is None:
            _log.warning("outbox_lease_lost", event_id=entry.id, hint="another relay has it; it may arrive twice")
            return
        outcome = "delivered" if why is None else "given_up" if moved.state is OutboxState.DEAD else "failed"
        self._meter.add(names.OUTBOX_ATTEMPTS, outcome)
        if why is not None:
            log = _log.error if moved.state is OutboxState.DEAD else _log.warning
            log(f"outbox_attempt_{outcome}", event_id=entry.id, attempts=moved.attempts, cause=moved.error)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        self._is_wanted.set()
        if not task.cancelled() and (bug := task.exception()) is not None:
            _log.error("outbox_attempt_broke", error=type(bug).__name__, exc_info=bug)

    async def _rest(self, due: int | None) -> None:
        horizon = self._clock.now() + LOOK_MS
        waits = (
            asyncio.ensure_future(self._is_wanted.wait()),
            asyncio.ensure_future(self._clock.sleep_until(horizon if due is None else min(due, horizon))),
        )
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _finish(self) -> None:
        self._is_stopping = True
        if self._under_way:
            await asyncio.wait(tuple(self._under_way), timeout=FINISH_SECONDS)
        for task in tuple(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
