"""Writes outbox entries beside what they tell of: a store whose units of work announce their receipts and ends.

It stands before the store only where somebody consumes the outbox (design §13). No use case can forget to announce,
because none does: what a unit writes to calls, receipts and operations is noticed, and told in the same transaction.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from gateway.domain import announcements
from gateway.domain.calls import Call, CallState
from gateway.domain.operations import Operation, OperationState
from gateway.domain.outbox import OutboxEntry
from gateway.runtime.ports import Calls, Clock, Operations, Outbox, Store, Tx

T = TypeVar("T")


def key_of(tx: Tx, call: Call) -> str:
    """What keeps the entries of `call` in order: its conversation; without one its page, or else its user."""
    if call.conversation is not None:
        return call.conversation
    session = tx.sessions.find(call.session) if call.session else None
    if session is not None:
        return session.conversation
    return f"page:{call.page}" if call.page is not None else f"user:{call.user}"


class AnnouncingStore:
    """`Store` over another one. `on_written` is called on the loop after each commit that left something to deliver."""

    def __init__(self, store: Store, clock: Clock, *, include_results: bool) -> None:
        self._store = store
        self._clock = clock
        self._include_results = include_results
        self.on_written: Callable[[], None] = lambda: None

    async def run(self, work: Callable[[Tx], T], heard: Callable[[T], None] | None = None) -> T:
        """Run `work` as the store does, with what it announces in the same transaction."""
        has_written = False

        def announced(tx: Tx) -> T:
            nonlocal has_written
            listening = _ListeningTx(tx)
            value = work(cast("Tx", listening))
            listening.tell(self._clock.now(), include_results=self._include_results)
            has_written = listening.has_written
            return value

        def told(value: T) -> None:
            if has_written:
                self.on_written()
            if heard is not None:
                heard(value)

        return await self._store.run(announced, told)

    async def back_up(self, target: Path) -> None:
        """Copy the database as the store does."""
        await self._store.back_up(target)

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()


class _ListeningTx:
    """A `Tx` that notices what is to be told; everything else is the real one's."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._outbox = _ListeningOutbox(tx.outbox)
        self._calls = _ListeningCalls(tx.calls)
        self._operations = _ListeningOperations(tx.operations)
        self.outbox = cast("Outbox", self._outbox)
        self.calls = cast("Calls", self._calls)
        self.operations = cast("Operations", self._operations)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    @property
    def has_written(self) -> bool:
        return self._outbox.has_written

    def tell(self, now: int, *, include_results: bool) -> None:
        """Write what was noticed: receipts first, then ends, each in the order they happened."""
        tx = self._tx
        for ref, count in self._calls.receipts.items():
            call = self._calls.seen.get(ref) or tx.calls.find(ref)
            assert call is not None, "it has a receipt"
            key = key_of(tx, call)
            for receipt in tx.calls.receipts_of(ref)[-count:]:
                self.outbox.add(announcements.of_receipt(call, receipt, key))
        for operation in self._operations.ended.values():
            at = operation.ended_at or now
            self.outbox.add(announcements.of_operation_end(operation, tx.calls.find(operation.call), at))
        for call in self._calls.ended.values():
            result = tx.calls.result_of(call.ref) if include_results else None
            output = None if result is None else result.output
            # What became `unknown` has not ended for the ledger.
            at = call.ended_at or now
            self.outbox.add(announcements.of_end(call, key_of(tx, call), at, result=output))


class _ListeningOutbox:
    def __init__(self, outbox: Outbox) -> None:
        self._real = outbox
        self.has_written = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def add(self, entry: OutboxEntry) -> bool:
        is_added = self._real.add(entry)
        self.has_written |= is_added
        return is_added

    def requeue(self, entry: OutboxEntry) -> None:
        self._real.requeue(entry)
        self.has_written = True


class _ListeningCalls:
    def __init__(self, calls: Calls) -> None:
        self._real = calls
        self.seen: dict[str, Call] = {}
        self.receipts: dict[str, int] = {}
        self.ended: dict[str, Call] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def add(self, call: Call, arguments: str | None, *, promise: str | None = None) -> None:
        self._real.add(call, arguments, promise=promise)
        self._note(call)

    def save(self, call: Call, *, was: CallState, at: int | None = None) -> None:
        self._real.save(call, was=was, at=at)
        # A late end follows an `unknown` that was told; it is not pushed.
        if was is not CallState.UNKNOWN and call.state is not was:
            self._note(call)

    def add_receipt(self, ref: str, status: str, *, reason: str | None, at: int) -> None:
        self._real.add_receipt(ref, status, reason=reason, at=at)
        self.receipts[ref] = self.receipts.get(ref, 0) + 1

    def _note(self, call: Call) -> None:
        self.seen[call.ref] = call
        if call.state.is_terminal or call.state is CallState.UNKNOWN:
            self.ended[call.ref] = call


class _ListeningOperations:
    def __init__(self, operations: Operations) -> None:
        self._real = operations
        self.ended: dict[str, Operation] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def save(self, operation: Operation, *, was: OperationState) -> None:
        self._real.save(operation, was=was)
        if was is OperationState.RUNNING and operation.state is not was:
            self.ended[operation.id] = operation
