"""What an administrator sees of the outbox, and how a dead letter gets back in line. What entries say is not shown."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.outbox import OutboxEntry, OutboxEvent, OutboxState, step
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.admin.checks import absent
from gateway.runtime.effects import After
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.spine import Spine

_BATCH: Final = 100
"""Entries one unit of work puts back."""


class DeadLetters:
    """Use cases over the outbox for whoever minds it."""

    def __init__(self, *, spine: Spine, clock: Clock) -> None:
        self._spine = spine
        self._clock = clock

    async def list(self, state: OutboxState, *, above: int = 0, limit: int) -> Sequence[OutboxEntry]:
        """At most `limit` entries in `state`, in order, from the number after `above`."""
        return await self._spine.store.run(lambda tx: list(tx.outbox.page(state, above=above, limit=limit)))

    async def requeue(self, event: str, *, by: str) -> OutboxEntry:
        """Put a dead entry behind those of its key, with all its attempts again; its event keeps its id.

        Raises:
            GatewayError: `not_found`, or `state_conflict` where it is not dead.
        """

        def work(tx: Tx) -> After:
            entry = tx.outbox.find(event) if "\0" not in event else None
            if entry is None:
                raise absent("outbox entry", event, "outbox list")
            if entry.state is not OutboxState.DEAD:
                raise GatewayError(
                    ErrorCode.STATE_CONFLICT,
                    f"outbox entry `{event}` is `{entry.state}`; only a `dead` one can be requeued",
                )
            return After(_requeue(tx, entry, self._clock.now(), by))

        return await self._spine.run(work)

    async def requeue_all(self, *, by: str) -> int:
        """Put every entry back that is dead now, a bounded number at a time; returns how many."""
        now, requeued, above = self._clock.now(), 0, 0
        while True:
            count, last = await self._spine.run(partial(self._requeue_some, now, above, by))
            requeued += count
            if last is None:
                return requeued
            above = last

    def _requeue_some(self, now: int, above: int, by: str, tx: Tx) -> After:
        found = tx.outbox.page(OutboxState.DEAD, above=above, limit=_BATCH)
        # One that was put back and died again meanwhile stays dead: somebody asks until there is none, otherwise.
        dead = [entry for entry in found if entry.ended_at is not None and entry.ended_at <= now]
        for entry in dead:
            _requeue(tx, entry, now, by)
        return After((len(dead), found[-1].number if len(found) == _BATCH else None))


def _requeue(tx: Tx, entry: OutboxEntry, now: int, by: str) -> OutboxEntry:
    again = step(entry, OutboxEvent.REQUEUE, now=now)
    tx.outbox.requeue(again)
    reach(Point.OUTBOX_REQUEUED)
    tx.audit.append(audit.of_admin(AuditEvent.OUTBOX_REQUEUED, now, entry=entry.id, type=entry.type, by=by))
    return again
