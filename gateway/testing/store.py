"""`Store` in memory: a unit works on a copy of everything, and the copy becomes the truth or is dropped."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gateway.runtime.ports import StoreBusy, StoreRefused, StoreUnavailable, Tx
from gateway.testing.administration import MemoryAdminRequests, MemoryAdminTokens
from gateway.testing.approvals import MemoryApprovals
from gateway.testing.calls import MemoryCalls
from gateway.testing.conversations import MemoryConversations
from gateway.testing.documents import MemoryDocuments
from gateway.testing.identities import (
    MemoryAgentSessions,
    MemoryPageSessions,
    MemorySiteKeys,
    MemoryTickets,
)
from gateway.testing.memories import (
    MemoryAudit,
    MemoryBaselines,
    MemoryDenials,
    MemoryInstallation,
    MemoryNonces,
)
from gateway.testing.mini_apps import MemoryMiniApps
from gateway.testing.outbox import MemoryOutbox
from gateway.testing.panel_items import MemoryPanelItems
from gateway.testing.running_apps import (
    MemoryActivations,
    MemoryAppSessions,
    MemoryInstances,
    MemoryOperations,
)
from gateway.testing.session_data import MemorySessionDatas
from gateway.testing.surfaces import MemorySurfaces
from gateway.testing.tables import Tables

T = TypeVar("T")


class MemoryTx:
    """`Tx` over one set of tables."""

    def __init__(self, tables: Tables, *, ledger_cap: int, open_cap: int) -> None:
        self.conversations = MemoryConversations(tables)
        self.calls = MemoryCalls(tables, self.conversations, ledger_cap=ledger_cap, open_cap=open_cap)
        self.approvals = MemoryApprovals(tables)
        self.sessions = MemoryAgentSessions(tables)
        self.keys = MemorySiteKeys(tables)
        self.tickets = MemoryTickets(tables)
        self.pages = MemoryPageSessions(tables)
        self.audit = MemoryAudit(tables)
        self.nonces = MemoryNonces(tables)
        self.baselines = MemoryBaselines(tables)
        self.denials = MemoryDenials(tables)
        self.admin_tokens = MemoryAdminTokens(tables)
        self.admin_requests = MemoryAdminRequests(tables)
        self.instances = MemoryInstances(tables)
        self.activations = MemoryActivations(tables)
        self.operations = MemoryOperations(tables)
        self.app_sessions = MemoryAppSessions(tables)
        self.surfaces = MemorySurfaces(tables)
        self.documents = MemoryDocuments(tables)
        self.panel_items = MemoryPanelItems(tables)
        self.outbox = MemoryOutbox(tables)
        self.session_data = MemorySessionDatas(tables)
        self.installation = MemoryInstallation(tables)
        self.mini_apps = MemoryMiniApps(tables)


class MemoryStore:
    """Everything in dictionaries. `is_failing` makes every commit fail until it is taken back."""

    def __init__(self, *, ledger_cap: int = 1_000_000, open_cap: int = 2_048, queue: int = 1024) -> None:
        self.is_failing = False
        self._tables = Tables()
        self._caps = {"ledger_cap": ledger_cap, "open_cap": open_cap}
        self._room = queue
        self._is_closed = False

    async def run(self, work: Callable[[Tx], T], heard: Callable[[T], None] | None = None) -> T:
        if self._is_closed:
            raise StoreUnavailable("the store is closed")
        if self._room <= 0:
            raise StoreBusy("the queue of the store is full; try again")
        self._room -= 1
        try:
            value = self._commit(work)
            if heard is not None:
                asyncio.get_running_loop().call_soon(heard, value)
            # The caller of a real store waits for the disk, and others run meanwhile.
            await asyncio.sleep(0)
        finally:
            self._room += 1
        return value

    async def back_up(self, target: Path) -> None:
        raise StoreRefused(f"there is nothing to copy to `{target}`: this store is in memory")

    async def close(self) -> None:
        self._is_closed = True

    def _commit(self, work: Callable[[Tx], T]) -> T:
        tables = self._tables.copy()
        value = work(MemoryTx(tables, **self._caps))
        if self.is_failing:
            raise StoreUnavailable("the store cannot commit: it was told to fail")
        self._tables = tables
        return value
