"""Outbox entries in memory, and a consumer that keeps what it is given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gateway.domain.outbox import UNDELIVERED, OutboxEntry, OutboxState, Undelivered
from gateway.runtime.ports import StaleState
from gateway.testing.tables import Tables


class MemoryOutbox:
    """`Outbox` over a dictionary. Whose turn it is, is looked up; a stored `due_at` says from when on."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, entry: OutboxEntry) -> bool:
        if entry.id in self._tables.outbox:
            return False
        due_at = None if self._first(entry.key) else entry.due_at or entry.at
        self._tables.counters["outbox"] = number = self._tables.counters.get("outbox", 0) + 1
        self._tables.outbox[entry.id] = replace(entry, number=number, due_at=due_at)
        return True

    def claim(self, holder: str, *, now: int, until: int, limit: int) -> Sequence[OutboxEntry]:
        ripe = [
            (e.due_at, e.number, e) for e in self._tables.outbox.values() if e.due_at is not None and e.due_at <= now
        ]
        claimed = [
            replace(entry, attempts=entry.attempts + 1, due_at=until, holder=holder)
            for _, _, entry in sorted(ripe, key=lambda item: item[:2])[:limit]
        ]
        for entry in claimed:
            self._tables.outbox[entry.id] = entry
        return sorted(claimed, key=lambda entry: entry.number)

    def save(self, entry: OutboxEntry, *, holder: str) -> None:
        stored = self._tables.outbox.get(entry.id)
        if stored is None or stored.state is not OutboxState.PENDING or stored.holder != holder:
            raise StaleState(f"outbox entry `{entry.id}` is not pending and held by `{holder}`")
        self._tables.outbox[entry.id] = replace(
            stored,
            state=entry.state,
            attempts=entry.attempts,
            due_at=entry.due_at,
            holder=entry.holder,
            ended_at=entry.ended_at,
            error=entry.error,
        )
        if entry.ended_at is not None and (first := self._first(entry.key)) is not None and first.due_at is None:
            self._tables.outbox[first.id] = replace(first, due_at=entry.ended_at)

    def requeue(self, entry: OutboxEntry) -> None:
        stored = self._tables.outbox.get(entry.id)
        if stored is None or stored.state is not OutboxState.DEAD:
            raise StaleState(f"outbox entry `{entry.id}` is not dead")
        del self._tables.outbox[entry.id]
        self.add(entry)

    def find(self, event: str) -> OutboxEntry | None:
        return self._tables.outbox.get(event)

    def page(self, state: OutboxState, *, above: int, limit: int) -> Sequence[OutboxEntry]:
        return [e for e in self._tables.outbox.values() if e.state is state and e.number > above][:limit]

    def next_due(self) -> int | None:
        instants = (entry.due_at for entry in self._tables.outbox.values())
        return min((at for at in instants if at is not None), default=None)

    def oldest_pending(self) -> int | None:
        pending = (entry.at for entry in self._tables.outbox.values() if entry.state is OutboxState.PENDING)
        return next(pending, None)

    def counts(self) -> Mapping[OutboxState, int]:
        states = [entry.state for entry in self._tables.outbox.values()]
        return {state: states.count(state) for state in UNDELIVERED}

    def purge(self, state: OutboxState, *, ended_before: int, limit: int) -> int:
        ended = [
            (e.ended_at, e.id) for e in self._tables.outbox.values() if e.state is state and e.ended_at is not None
        ]
        old = [name for ended_at, name in sorted(ended) if ended_at < ended_before][:limit]
        for name in old:
            del self._tables.outbox[name]
        return len(old)

    def _first(self, key: str) -> OutboxEntry | None:
        pending = (e for e in self._tables.outbox.values() if e.key == key and e.state is OutboxState.PENDING)
        return next(pending, None)


class MemorySink:
    """`Sink` that keeps every entry it is offered, and takes those `refuses` has nothing against."""

    def __init__(self, refuses: Callable[[OutboxEntry], str | None] = lambda _: None) -> None:
        self.refuses = refuses
        self.offered: list[OutboxEntry] = []
        self.taken: list[OutboxEntry] = []

    async def deliver(self, entry: OutboxEntry) -> Undelivered | None:
        """Take it, or say what is against it."""
        self.offered.append(entry)
        why = self.refuses(entry)
        if why is not None:
            return Undelivered(error=why)
        self.taken.append(entry)
        return None
