"""What is read when somebody looks: how full, how many, how old. Nothing of it is kept up to date in between."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.domain.audit import Stream
from gateway.runtime.ports import StoreBusy, StoreUnavailable, Tx
from gateway.runtime.services import Services
from gateway.runtime.telemetry import names
from gateway.runtime.telemetry.names import Metric

Readings = Mapping[tuple[Metric, tuple[str, ...]], float]
"""A gauge and its label values, with what it shows."""

LATELY_MS: Final = 300_000
"""How long an agent session that spoke counts as connected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    used: int
    open: int
    unknown: int
    heads: Mapping[str, int]
    undelivered: Mapping[str, int]
    oldest: int | None


async def read_gauges(services: Services, *, queued: int) -> Readings:
    """Look at the live state and the store, which has `queued` units to do.

    Where the store does not answer, what only it knows is left out.
    """
    world, now = services.live.world, services.clock.now()
    limits, work = world.configuration.limits, services.workers.load()
    readings: dict[tuple[Metric, tuple[str, ...]], float] = {
        (names.PAGES, ()): sum(page.is_connected for page in world.pages.values()),
        (names.AGENT_SESSIONS, ()): services.sessions.connected(now - LATELY_MS),
        (names.APPROVAL_SUBSECOND, ()): services.telemetry.calls.subsecond_ratio,
        (names.LEDGER_CAP, ()): limits.ledger_rows,
        (names.LEDGER_OPEN_CAP, ()): limits.ledger_open,
        (names.STORE_QUEUE, ()): queued,
        (names.WORKERS, ()): work.running,
        (names.WORKER_HELD, ()): work.held,
        (names.WORKER_QUEUE, ()): work.waiting,
    }
    try:
        stored = await services.spine.store.run(_look)
    except (StoreBusy, StoreUnavailable):
        readings[names.STORE_UP, ()] = 0
        return readings
    readings[names.STORE_UP, ()] = 1
    readings[names.LEDGER_USED, ()] = stored.used
    readings[names.LEDGER_OPEN, ()] = stored.open
    readings[names.UNKNOWN_OPEN, ()] = stored.unknown
    readings[names.OUTBOX_LAG, ()] = 0 if stored.oldest is None else max(0, now - stored.oldest) / 1_000
    for state, count in stored.undelivered.items():
        readings[names.OUTBOX_ENTRIES, (state,)] = count
    for stream, at in stored.heads.items():
        readings[names.AUDIT_HEAD_AGE, (stream,)] = max(0, now - at) / 1_000
    return readings


def _look(tx: Tx) -> _Stored:
    used, open_calls = tx.calls.usage()
    heads = {stream.value: tx.audit.tail(limit=1, stream=stream) for stream in Stream}
    return _Stored(
        used=used,
        open=open_calls,
        unknown=tx.calls.count_unknown(),
        heads={stream: json.loads(records[-1].body)["at"] for stream, records in heads.items() if records},
        undelivered={state.value: count for state, count in tx.outbox.counts().items()},
        oldest=tx.outbox.oldest_pending(),
    )
