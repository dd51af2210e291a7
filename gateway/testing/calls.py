"""The ledger in memory."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from gateway.domain.calls import OPEN, Call, CallState, Entry, Receipt, Result, end_of
from gateway.domain.lists import Wanted
from gateway.runtime.ports import DuplicateKey, LedgerFull, StaleState
from gateway.testing.conversations import MemoryConversations
from gateway.testing.tables import Tables

_NAMING: Final = (
    "entry",
    "agent",
    "user",
    "session",
    "call_id",
    "minted",
    "request_fingerprint",
    "arguments_digest",
    "capability",
    "page_selector",
    "admitted_at",
)
"""What names a call is written once; `save` replaces the rest."""


class MemoryCalls:
    """`Calls` over dictionaries."""

    def __init__(self, tables: Tables, conversations: MemoryConversations, *, ledger_cap: int, open_cap: int) -> None:
        self._tables = tables
        self._conversations = conversations
        self._ledger_cap = ledger_cap
        self._open_cap = open_cap

    def add(self, call: Call, arguments: str | None, *, promise: str | None = None) -> None:
        used, still_open = self.usage()
        if used >= self._ledger_cap or still_open + (call.state in OPEN) > self._open_cap:
            raise LedgerFull("the ledger, or its share of open calls, is full")
        if call.ref in self._tables.calls or self.find_by_key(call.agent, call.user, call.entry, call.call_id):
            raise DuplicateKey(f"call_id `{call.call_id}` is taken")
        self._tables.calls[call.ref] = call
        if arguments is not None:
            self._tables.inputs[call.ref] = arguments
        if promise is not None:
            self._tables.promises[call.ref] = promise

    def save(self, call: Call, *, was: CallState, at: int | None = None) -> None:
        stored = self._tables.calls.get(call.ref)
        if stored is None or stored.state is not was:
            raise StaleState(f"call `{call.ref}` is not `{was}`")
        naming: dict[str, Any] = {name: getattr(stored, name) for name in _NAMING}
        self._tables.calls[call.ref] = replace(call, **naming)
        if call.state not in OPEN:
            self._tables.inputs.pop(call.ref, None)
        if call.state.is_terminal:
            self._tables.promises.pop(call.ref, None)
        if was in OPEN and call.state not in OPEN:
            self._conversations.told_end(call, end_of(call, at))

    def find(self, ref: str) -> Call | None:
        return self._tables.calls.get(ref)

    def find_by_key(self, agent: str, user: str, entry: Entry, call_id: str) -> Call | None:
        key = (agent, user, entry, call_id)
        return self._newest(lambda call: (call.agent, call.user, call.entry, call.call_id) == key)

    def equals(self, session: str, capability: str, request_fingerprint: str, *, ended_after: int) -> Sequence[Call]:
        key = (Entry.AGENT_TOOL, session, capability, request_fingerprint)

        def is_equal(call: Call) -> bool:
            if (call.entry, call.session, call.capability, call.request_fingerprint) != key:
                return False
            if call.ended_at is None:
                return call.state in OPEN or (call.state is CallState.UNKNOWN and not call.taken)
            return call.ended_at >= ended_after and not call.taken

        return [call for call in reversed(self._tables.calls.values()) if is_equal(call)]

    def input_of(self, ref: str) -> str | None:
        return self._tables.inputs.get(ref)

    def promise_of(self, ref: str) -> str | None:
        return self._tables.promises.get(ref)

    def add_receipt(self, ref: str, status: str, *, reason: str | None, at: int) -> None:
        self._must_exist(ref)
        earlier = self._tables.receipts.get(ref, ())
        receipt = Receipt(seq=len(earlier) + 1, status=str(status), reason=reason, at=at)
        self._tables.receipts[ref] = (*earlier, receipt)
        self._conversations.told_receipt(ref, at)

    def receipts_of(self, ref: str) -> Sequence[Receipt]:
        return list(self._tables.receipts.get(ref, ()))

    def put_result(self, ref: str, result: Result) -> None:
        self._must_exist(ref)
        if ref in self._tables.results:
            raise DuplicateKey(f"call `{ref}` has its result")
        self._tables.results[ref] = result

    def result_of(self, ref: str) -> Result | None:
        return self._tables.results.get(ref)

    def drawn_for(self, user: str, *, limit: int) -> Sequence[tuple[Call, str]]:
        drawn = [
            (call, result.ui)
            for ref, call in self._tables.calls.items()
            if call.user == user and (result := self._tables.results.get(ref)) is not None and result.ui is not None
        ]
        return drawn[-limit:]

    def erase_ui(self, ref: str) -> None:
        if (result := self._tables.results.get(ref)) is not None:
            self._tables.results[ref] = replace(result, ui=None)

    def mark_taken(self, refs: Iterable[str], *, erase_at: int) -> None:
        for ref in refs:
            if (call := self._tables.calls.get(ref)) is not None:
                self._tables.calls[ref] = replace(call, taken=True)
            if (result := self._tables.results.get(ref)) is not None:
                self._tables.results[ref] = replace(result, erase_at=min(result.erase_at, erase_at))

    def erase_results(self, now: int, limit: int) -> int:
        due = [ref for ref, result in self._tables.results.items() if result.erase_at <= now][:limit]
        for ref in due:
            del self._tables.results[ref]
        return len(due)

    def unknown(self, *, after: str = "", limit: int) -> Sequence[Call]:
        lost = [c for c in self._tables.calls.values() if c.state is CallState.UNKNOWN and c.ref > after]
        return sorted(lost, key=lambda call: call.ref)[:limit]

    def count_unknown(self) -> int:
        return sum(call.state is CallState.UNKNOWN for call in self._tables.calls.values())

    def purge(self, *, minted: bool, ended_before: int, limit: int) -> int:
        ended = [
            (call.ended_at, call.ref)
            for call in self._tables.calls.values()
            if call.minted == minted and call.ended_at is not None and call.ref not in self._tables.results
        ]
        old = [ref for ended_at, ref in sorted(ended) if ended_at < ended_before][:limit]
        for ref in old:
            del self._tables.calls[ref]
            self._tables.receipts.pop(ref, None)
        for name in [name for name, operation in self._tables.operations.items() if operation.call in old]:
            del self._tables.operations[name]
        asked = [name for name, approval in self._tables.approvals.items() if approval.call in old]
        for name in asked:
            del self._tables.approvals[name]
        self._conversations.forget_calls(old)
        return len(old)

    def due(self, now: int, limit: int) -> Sequence[Call]:
        due = [(at, call) for call in self._tables.calls.values() if (at := call.due_at) is not None]
        ripe = sorted((item for item in due if item[0] <= now), key=lambda item: item[0])
        return [call for _, call in ripe[:limit]]

    def next_due(self) -> int | None:
        instants = (call.due_at for call in self._tables.calls.values())
        return min((at for at in instants if at is not None), default=None)

    def open_calls(self) -> Sequence[Call]:
        return self._open(lambda _: True)

    def open_on_page(self, page: str) -> Sequence[Call]:
        return self._open(lambda call: call.page == page)

    def waiting_for(self, activation: str) -> Sequence[Call]:
        is_waiting = CallState.WAITING_ACTIVATION
        return self._open(lambda call: call.state is is_waiting and call.activation == activation)

    def open_of_session(self, session: str) -> Sequence[Call]:
        return self._open(lambda call: call.session == session)

    def open_of_instance(self, instance: str) -> Sequence[Call]:
        return self._open(lambda call: call.instance == instance)

    def recent(self, *, limit: int, session: str | None = None, user: str | None = None) -> Sequence[Call]:
        newest = (
            call
            for call in reversed(self._tables.calls.values())
            if session in (None, call.session) and user in (None, call.user)
        )
        return list(islice(newest, limit))

    def page(self, *, below: str | None, wanted: Wanted, limit: int, look: int) -> tuple[Sequence[Call], str | None]:
        refs = sorted((ref for ref in self._tables.calls if below is None or ref < below), reverse=True)
        looked_at = [self._tables.calls[ref] for ref in refs[:look]]
        found = [call for call in looked_at if wanted.takes_in(call)][:limit]
        if len(found) == limit:
            return found, found[-1].ref
        return found, looked_at[-1].ref if len(looked_at) == look else None

    def usage(self) -> tuple[int, int]:
        return len(self._tables.calls), len(self.open_calls())

    def _newest(self, is_meant: Callable[[Call], bool]) -> Call | None:
        return next((call for call in reversed(self._tables.calls.values()) if is_meant(call)), None)

    def _open(self, is_meant: Callable[[Call], bool]) -> list[Call]:
        return [call for call in self._tables.calls.values() if call.state in OPEN and is_meant(call)]

    def _must_exist(self, ref: str) -> None:
        if ref not in self._tables.calls:
            raise LookupError(f"no call `{ref}`")
