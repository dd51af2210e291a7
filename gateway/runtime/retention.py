"""What is forgotten, and when: by age and end only, never for want of room, and never a call that is open or `unknown`.

Everything goes in bounded units of work, so that calls are served between them. What was history (calls, what ran
of mini apps, grants, audit records) is counted where it goes, and one audit record tells the counts of a whole run.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final

from gateway.domain.audit import AuditEvent
from gateway.domain.outbox import OutboxState
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.checkpoints import forget_records, write_checkpoints
from gateway.runtime.horizons import raise_call_horizon, raise_nonce_horizon
from gateway.runtime.ports import Clock, Store, Tx
from gateway.runtime.telemetry import NO_METER, Meter, names
from gateway.runtime.world import Live
from gateway.settings import Limits

BATCH: Final = 250
"""Rows of one unit of work: about what a person would not notice as a pause."""

UNITS: Final = 40
"""Units of one look at most; the rest has to wait for the next look."""

SHORT_MS: Final = 60_000
"""Time between two looks at what lives for minutes or hours."""

LONG_MS: Final = 600_000
"""Time between two looks at history."""

CHECKPOINT_MS: Final = 3_600_000
"""Time between two checkpoints of the audit trail; there is one at every stop as well."""

JUMP_MS: Final = 300_000
SETTLED_MS: Final = 600_000
"""After the clock leapt by more than `JUMP_MS`, or at a start, history is left alone for this long: a clock that is
wrong for a moment must not make the gateway forget the keys that keep calls from running twice."""

_PENDING: Final = "retention_pending"

Rule = Callable[[Tx, Limits, int], int]
"""Forget at most `BATCH` of one kind in this unit; returns how many."""


def _nonces(tx: Tx, _: Limits, now: int) -> int:
    forgotten = tx.nonces.purge(now, BATCH)
    if forgotten:
        raise_nonce_horizon(tx, now)
    return forgotten


def _calls(tx: Tx, limits: Limits, now: int) -> int:
    before = now - limits.call_keep_ms
    forgotten = tx.calls.purge(minted=False, ended_before=before, limit=BATCH)
    if forgotten:
        raise_call_horizon(tx, before)
    return forgotten


def _minted_calls(tx: Tx, limits: Limits, now: int) -> int:
    return tx.calls.purge(minted=True, ended_before=now - limits.minted_call_keep_ms, limit=BATCH)


SHORT: Final[Mapping[str, Rule]] = {
    "results": lambda tx, _, now: tx.calls.erase_results(now, BATCH),
    "messages": lambda tx, limits, now: tx.conversations.purge(now - limits.result_ms, BATCH),
    "surfaces": lambda tx, limits, now: tx.surfaces.purge(now - limits.result_ms, BATCH),
    "panel_items": lambda tx, limits, now: tx.panel_items.purge(now - limits.result_ms, BATCH),
    "surface_events": lambda tx, limits, now: tx.surfaces.purge_events(now - limits.surface_events_ms, BATCH),
    "documents": lambda tx, limits, now: tx.documents.purge(now - limits.result_ms, BATCH),
    "nonces": _nonces,
    "tickets": lambda tx, _, now: tx.tickets.purge(now, BATCH),
    "admin_requests": lambda tx, _, now: tx.admin_requests.purge(now, BATCH),
    "denials": lambda tx, _, now: tx.denials.purge(now, BATCH),
}
"""What has an end of its own."""

LONG: Final[Mapping[str, Rule]] = {
    "calls": _calls,
    "minted_calls": _minted_calls,
    "activations": lambda tx, limits, now: tx.activations.purge(now - limits.call_keep_ms, BATCH),
    "instances": lambda tx, limits, now: tx.instances.purge(now - limits.call_keep_ms, BATCH),
    "app_sessions": lambda tx, limits, now: tx.app_sessions.purge(now - limits.call_keep_ms, BATCH),
    "sessions": lambda tx, limits, now: tx.sessions.purge(now - limits.grant_keep_ms, BATCH),
    "conversations": lambda tx, _, __: tx.conversations.close(BATCH),
    "keys": lambda tx, limits, now: tx.keys.purge(now - limits.grant_keep_ms, BATCH),
    "admin_tokens": lambda tx, limits, now: tx.admin_tokens.purge(now - limits.grant_keep_ms, BATCH),
    "pages": lambda tx, limits, now: tx.pages.purge(now - limits.grant_keep_ms, BATCH),
    "outbox": lambda tx, limits, now: tx.outbox.purge(
        OutboxState.SENT, ended_before=now - limits.outbox_keep_ms, limit=BATCH
    ),
    "dead_letters": lambda tx, limits, now: tx.outbox.purge(
        OutboxState.DEAD, ended_before=now - limits.dead_letter_keep_ms, limit=BATCH
    ),
    "audit_records": lambda tx, limits, now: forget_records(
        tx, written_before=now - limits.audit_keep_ms, limit=BATCH
    ),
}
"""History: kept for as long as the configuration says, counted and audited when it goes."""


class Retention:
    """Applies the rules, a bounded piece at a time."""

    def __init__(self, *, store: Store, live: Live, clock: Clock, meter: Meter = NO_METER) -> None:
        self._store = store
        self._live = live
        self._clock = clock
        self._meter = meter
        self._looked_at: int | None = None
        self._even_since = 0
        self._short_at = 0
        self._long_at = 0
        self._checkpoint_at = 0

    async def look(self) -> None:
        """Do what is due of it, and not more than a look may take."""
        now = self._clock.now()
        self._watch_clock(now)
        if now - self._short_at >= SHORT_MS and await self._apply(SHORT, now, UNITS):
            self._short_at = now
        if now - self._even_since < SETTLED_MS:
            return
        if now - self._checkpoint_at >= CHECKPOINT_MS:
            await self._store.run(lambda tx: write_checkpoints(tx, now))
            self._checkpoint_at = now
        if now - self._long_at >= LONG_MS:
            if not await self._apply(LONG, now, UNITS):
                return
            await self._tell(now, by="retention")
            self._long_at = now

    async def apply(self, *, by: str) -> Mapping[str, int]:
        """Apply every rule to the end, now; returns how many of each kind of history went.

        The ages are those of the configuration: nothing goes earlier because somebody asks.
        """
        now = self._clock.now()
        await self._apply(SHORT, now, None)
        await self._apply(LONG, now, None)
        return await self._tell(now, by=by)

    def _watch_clock(self, now: int) -> None:
        looked_at, self._looked_at = self._looked_at, now
        if looked_at is None or not looked_at <= now <= looked_at + JUMP_MS:
            self._even_since = now
            self._short_at = min(self._short_at, now - SHORT_MS)
            self._long_at = min(self._long_at, now - LONG_MS)
            self._checkpoint_at = min(self._checkpoint_at, now - CHECKPOINT_MS)

    async def _apply(self, rules: Mapping[str, Rule], now: int, units: int | None) -> bool:
        """Apply rules in at most so many units; False when some is left."""
        limits = self._live.world.configuration.limits
        for name, rule in rules.items():
            while True:
                if units is not None and (units := units - 1) < 0:
                    return False
                is_history = rules is LONG
                forgotten = await self._store.run(
                    lambda tx, n=name, r=rule, h=is_history: _unit(tx, n, r, limits, now, h)
                )
                self._meter.add(names.PURGED, name, n=forgotten)
                if forgotten < BATCH:
                    break
        return True

    async def _tell(self, now: int, *, by: str) -> Mapping[str, int]:
        def work(tx: Tx) -> Mapping[str, int]:
            counts = _pending(tx)
            if counts:
                tx.audit.append(audit.of_admin(AuditEvent.RETENTION_APPLIED, now, by=by, **counts))
                tx.installation.put(_PENDING, b"{}")
            return counts

        return await self._store.run(work)


def _unit(tx: Tx, name: str, rule: Rule, limits: Limits, now: int, is_history: bool) -> int:
    forgotten = rule(tx, limits, now)
    if forgotten and is_history:
        # Counted in the transaction that forgets, told at the end of the run: also when a crash lies between.
        counts = _pending(tx)
        counts[name] = counts.get(name, 0) + forgotten
        tx.installation.put(_PENDING, json.dumps(counts).encode())
    reach(Point.PURGE_WRITTEN)
    return forgotten


def _pending(tx: Tx) -> dict[str, int]:
    counts: dict[str, int] = json.loads(tx.installation.get(_PENDING) or b"{}")
    return counts
