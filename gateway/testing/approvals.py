"""Approvals in memory."""

from collections.abc import Sequence

from gateway.domain.approvals import Approval, ApprovalState
from gateway.domain.lists import Place
from gateway.runtime.ports import DuplicateKey, StaleState
from gateway.testing.tables import Tables, below_place


class MemoryApprovals:
    """`Approvals` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, approval: Approval) -> None:
        if approval.id in self._tables.approvals:
            raise DuplicateKey(f"approval `{approval.id}` is there")
        self._tables.approvals[approval.id] = approval

    def find(self, approval: str) -> Approval | None:
        return self._tables.approvals.get(approval)

    def find_of_call(self, ref: str) -> Approval | None:
        newest = reversed(self._tables.approvals.values())
        return next((approval for approval in newest if approval.call == ref), None)

    def save(self, approval: Approval, *, was: ApprovalState) -> None:
        stored = self._tables.approvals.get(approval.id)
        if stored is None or stored.state is not was:
            raise StaleState(f"approval `{approval.id}` is not `{was}`")
        self._tables.approvals[approval.id] = approval

    def open_on_page(self, page: str) -> Sequence[Approval]:
        return [
            approval
            for approval in self._tables.approvals.values()
            if approval.page == page and approval.state is ApprovalState.OPEN
        ]

    def page(self, *, below: Place | None, limit: int) -> Sequence[Approval]:
        return below_place(self._tables.approvals.values(), lambda a: (a.opened_at, a.id), below)[:limit]

    def last_approved_fingerprint(self, user: str, capability: str) -> str | None:
        return self._tables.approved.get((user, capability))

    def note_approved(self, user: str, capability: str, fingerprint: str) -> None:
        self._tables.approved[user, capability] = fingerprint
