"""Everything a store holds about calls, read in one unit of work. The judge knows the store only through this."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from gateway.domain.approvals import Approval
from gateway.domain.audit import AuditEvent, ChainedRecord
from gateway.domain.calls import Call, Result
from gateway.domain.pages import PageSession
from gateway.runtime.ports import Tx

ALL: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One audit record, read."""

    event: AuditEvent
    at: int
    facts: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One moment of a store. `records` stand in the order they were written, over all streams."""

    calls: Mapping[str, Call]
    results: Mapping[str, Result]
    accepted: frozenset[str]
    """The calls whose first receipt is `accepted`."""
    inputs: frozenset[str]
    approvals: Mapping[str, Approval]
    pages: Mapping[str, PageSession]
    used: int
    open: int
    records: Sequence[ChainedRecord]

    @property
    def trail(self) -> list[Record]:
        """The records, read."""
        return [_read(record) for record in self.records]


def _read(record: ChainedRecord) -> Record:
    body = orjson.loads(record.body)
    return Record(event=AuditEvent(body["event"]), at=body["at"], facts=body["facts"])


def collect(tx: Tx) -> Evidence:
    """A unit of work that reads all there is."""
    calls = {call.ref: call for call in tx.calls.recent(limit=ALL)}
    records = tx.audit.tail(limit=ALL)
    named = {str(page) for record in map(_read, records) if (page := record.facts.get("page"))}
    results = {ref: result for ref in calls if (result := tx.calls.result_of(ref)) is not None}
    approvals = [tx.approvals.find(call.approval) for call in calls.values() if call.approval]
    pages = [tx.pages.find(name) for name in named]
    used, still_open = tx.calls.usage()
    return Evidence(
        calls=calls,
        results=results,
        accepted=frozenset(ref for ref in calls if _is_accepted(tx, ref)),
        inputs=frozenset(ref for ref in calls if tx.calls.input_of(ref) is not None),
        approvals={approval.id: approval for approval in approvals if approval is not None},
        pages={page.id: page for page in pages if page is not None},
        used=used,
        open=still_open,
        records=records,
    )


def _is_accepted(tx: Tx, ref: str) -> bool:
    receipts = tx.calls.receipts_of(ref)
    return bool(receipts) and (receipts[0].seq, receipts[0].status) == (1, "accepted")
