"""Agent sessions, site keys, tickets and page sessions in memory."""

from collections.abc import Sequence
from dataclasses import replace

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import OPEN
from gateway.domain.lists import Place
from gateway.domain.pages import PageSession
from gateway.domain.sites import SiteKey, Ticket
from gateway.runtime.ports import DuplicateKey
from gateway.testing.tables import Tables, below_place


class MemoryAgentSessions:
    """`AgentSessions` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, session: AgentSession) -> None:
        if session.id in self._tables.sessions or self.find_by_token(session.token_hash) is not None:
            raise DuplicateKey(f"agent session `{session.id}` or its token is there")
        self._tables.sessions[session.id] = session

    def find(self, session: str) -> AgentSession | None:
        return self._tables.sessions.get(session)

    def find_by_token(self, token_hash: bytes) -> AgentSession | None:
        sessions = self._tables.sessions.values()
        return next((session for session in sessions if session.token_hash == token_hash), None)

    def save(self, session: AgentSession) -> None:
        if session.id not in self._tables.sessions:
            raise LookupError(f"no agent session `{session.id}`")
        self._tables.sessions[session.id] = session

    def of_conversation(self, user: str, conversation: str) -> Sequence[AgentSession]:
        place = (user, conversation, None)
        sessions = reversed(self._tables.sessions.values())
        return [session for session in sessions if (session.user, session.conversation, session.revoked_at) == place]

    def list(self) -> Sequence[AgentSession]:
        return [*self._tables.sessions.values()]

    def expired(self, after: int, until: int) -> Sequence[AgentSession]:
        sessions = self._tables.sessions.values()
        return [s for s in sessions if s.revoked_at is None and after < s.expires_at <= until]

    def purge(self, ended_before: int, limit: int) -> int:
        kept = {call.session for call in self._tables.calls.values()}
        old = [
            session.id
            for session in self._tables.sessions.values()
            if _ended_at(session) < ended_before and session.id not in kept
        ][:limit]
        for name in old:
            del self._tables.sessions[name]
            self._tables.baselines.pop(name, None)
        return len(old)


class MemorySiteKeys:
    """`SiteKeys` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, key: SiteKey) -> None:
        if key.id in self._tables.keys:
            raise DuplicateKey(f"site key `{key.id}` is there")
        self._tables.keys[key.id] = key

    def find(self, key: str) -> SiteKey | None:
        return self._tables.keys.get(key)

    def save(self, key: SiteKey) -> None:
        if key.id not in self._tables.keys:
            raise LookupError(f"no site key `{key.id}`")
        self._tables.keys[key.id] = key

    def list(self) -> Sequence[SiteKey]:
        return [*self._tables.keys.values()]

    def purge(self, ended_before: int, limit: int) -> int:
        old = [key.id for key in self._tables.keys.values() if _ended_at(key) < ended_before][:limit]
        for name in old:
            del self._tables.keys[name]
        return len(old)


class MemoryTickets:
    """`Tickets` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, ticket: Ticket) -> None:
        if ticket.hash in self._tables.tickets:
            raise DuplicateKey("the ticket is there")
        self._tables.tickets[ticket.hash] = ticket

    def find(self, ticket_hash: bytes) -> Ticket | None:
        return self._tables.tickets.get(ticket_hash)

    def use(self, ticket_hash: bytes, at: int) -> bool:
        ticket = self._tables.tickets.get(ticket_hash)
        if ticket is None or ticket.used_at is not None:
            return False
        self._tables.tickets[ticket_hash] = replace(ticket, used_at=at)
        return True

    def purge(self, before: int, limit: int) -> int:
        old = [name for name, ticket in self._tables.tickets.items() if ticket.expires_at < before][:limit]
        for name in old:
            del self._tables.tickets[name]
        return len(old)


class MemoryPageSessions:
    """`PageSessions` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, page: PageSession) -> None:
        if page.id in self._tables.pages:
            raise DuplicateKey(f"page session `{page.id}` is there")
        self._tables.pages[page.id] = page

    def find(self, page: str) -> PageSession | None:
        return self._tables.pages.get(page)

    def save(self, page: PageSession) -> None:
        if page.id not in self._tables.pages:
            raise LookupError(f"no page session `{page.id}`")
        self._tables.pages[page.id] = page

    def page(self, *, below: Place | None, limit: int) -> Sequence[PageSession]:
        return below_place(self._tables.pages.values(), lambda p: (p.created_at, p.id), below)[:limit]

    def pinned(self, user: str, site: str) -> PageSession | None:
        pins = [
            (page.pinned_at, page.id)
            for page in self._tables.pages.values()
            if (page.user, page.site) == (user, site) and page.pinned_at is not None and page.ended_at is None
        ]
        return self._tables.pages[max(pins)[1]] if pins else None

    def end_all(self, at: int) -> int:
        open_ones = [page for page in self._tables.pages.values() if page.ended_at is None]
        for page in open_ones:
            self._tables.pages[page.id] = replace(page, ended_at=at)
        return len(open_ones)

    def purge(self, before: int, limit: int) -> int:
        busy = {call.page for call in self._tables.calls.values() if call.state in OPEN}
        pages = self._tables.pages.values()
        old = [page.id for page in pages if page.standing_until < before and page.id not in busy][:limit]
        for name in old:
            del self._tables.pages[name]
        return len(old)


def _ended_at(grant: AgentSession | SiteKey) -> int:
    return grant.expires_at if grant.revoked_at is None else min(grant.expires_at, grant.revoked_at)
