"""Answers about what goes on: status, pages, and the audit trail."""

from typing import Annotated, Any

from pydantic import Field

from gateway.domain.audit import AuditEvent, Stream
from gateway.protocol.admin.base import Answer, Instant, Next


class Status(Answer):
    """The gateway at a glance."""

    configuration: str
    pages: int
    sessions: int
    ledger_rows: int
    ledger_cap: int
    open_calls: int
    open_cap: int


class LivePage(Answer):
    """A page that is open, or was dropped a moment ago."""

    page: str
    site: str
    user: str
    label: str
    path: str
    visible: bool
    connected: bool
    pinned: bool
    capabilities: Annotated[list[str], Field(description="Ids it declares.")]


class LivePages(Answer):
    """The pages that are there now, by name."""

    items: list[LivePage]
    next: Next


class PageSession(Answer):
    """The standing of one tab."""

    page: str
    site: str
    user: str
    origin: str
    epoch: int
    capabilities: Annotated[list[str], Field(description="Patterns of the ticket it came with.")]
    live: bool
    created_at: Instant
    seen_at: Instant
    standing_until: Instant
    pinned_at: Instant | None
    ended_at: Instant | None


class PageSessions(Answer):
    """Page sessions, begun last first."""

    items: list[PageSession]
    next: Next


class AuditRecord(Answer):
    """One record of the trail."""

    stream: Stream
    seq: int
    event: AuditEvent
    at: Instant
    facts: dict[str, Any]


class AuditRecords(Answer):
    """Records of a stream, oldest first. `next` is always there: it goes on behind the last of them."""

    items: list[AuditRecord]
    next: Annotated[str, Field(description="The `cursor` to ask for what comes later.")]


class Broken(Answer):
    """The first bad record of a stream."""

    stream: Stream
    seq: int
    what: str


class Verification(Answer):
    """What a walk over the chains found."""

    intact: bool
    records: int
    streams: int
    broken: list[Broken]
