"""The audit record and its hash chain. Metadata and digests only: never arguments, results or tokens."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.domain.canonical import canonical_own

GENESIS: Final = bytes(32)
"""What the first record of a stream is chained to."""


class Stream(StrEnum):
    """Chains that stay apart: one per entry, one for administration, one for identity."""

    AGENT_TOOL = "agent_tool"
    UI_ACTION = "ui_action"
    HOST_INTENT = "host_intent"
    ADMIN = "admin"
    IDENTITY = "identity"


class AuditEvent(StrEnum):
    """`subject.past_participle`; the reference page lists each with its fields."""

    CALL_REFUSED = "call.refused"
    CALL_ADMITTED = "call.admitted"
    CALL_REPLAYED = "call.replayed"
    CALL_DISPATCHED = "call.dispatched"
    CALL_ENDED = "call.ended"
    CALL_LOST = "call.lost"
    CALL_ORPHANED = "call.orphaned"
    CALL_REARMED = "call.rearmed"
    CALL_CANCEL_REQUESTED = "call.cancel_requested"
    CALL_RESULT_DROPPED = "call.result_dropped"
    CALL_RECONCILED = "call.reconciled"
    APPROVAL_OPENED = "approval.opened"
    APPROVAL_DECIDED = "approval.decided"
    APPROVAL_REFUSED = "approval.refused"
    APPROVAL_EXPIRED = "approval.expired"
    APPROVAL_WITHDRAWN = "approval.withdrawn"
    APPROVAL_CONSUMED = "approval.consumed"
    APPROVAL_LAPSED = "approval.lapsed"
    DENIAL_LIFTED = "denial.lifted"
    ACTIVATION_STARTED = "activation.started"
    ACTIVATION_REACHED = "activation.reached"
    ACTIVATION_FAILED = "activation.failed"
    ACTIVATION_CANCELLED = "activation.cancelled"
    INSTANCE_OPENED = "instance.opened"
    INSTANCE_CLOSED = "instance.closed"
    OPERATION_STARTED = "operation.started"
    OPERATION_ENDED = "operation.ended"
    SURFACE_OPENED = "surface.opened"
    SURFACE_CLOSED = "surface.closed"
    ITEM_SHOWN = "item.shown"
    ITEM_ANSWERED = "item.answered"
    ITEM_CLOSED = "item.closed"
    GENUI_DROPPED = "genui.dropped"
    DOCUMENT_OPENED = "document.opened"
    DOCUMENT_CHANGED = "document.changed"
    DOCUMENT_CLOSED = "document.closed"
    INTENT_REPORTED = "intent.reported"
    INTENT_REFUSED = "intent.refused"
    CONTEXT_DESCRIBED = "context.described"
    PAGE_CONNECTED = "page.connected"
    PAGE_REPLACED = "page.replaced"
    PAGE_REFUSED = "page.refused"
    PAGE_SLOWED = "page.slowed"
    PAGE_PINNED = "page.pinned"
    PAGE_UNPINNED = "page.unpinned"
    CAPABILITY_REFUSED = "capability.refused"
    FRAME_REFUSED = "frame.refused"
    TICKET_MINTED = "ticket.minted"
    TICKET_REFUSED = "ticket.refused"
    ACCESS_REFUSED = "access.refused"
    ACCESS_REFUSALS_COUNTED = "access.refusals_counted"
    SESSION_ADDED = "session.added"
    SESSION_REVOKED = "session.revoked"
    KEY_ADDED = "key.added"
    KEY_REVOKED = "key.revoked"
    ADMIN_TOKEN_ADDED = "admin_token.added"  # noqa: S105 - the word of an event, not a secret
    ADMIN_TOKEN_REVOKED = "admin_token.revoked"  # noqa: S105 - the word of an event, not a secret
    ADMIN_REFUSED = "admin.refused"
    HANDLER_REFUSED = "handler.refused"
    OUTBOX_GIVEN_UP = "outbox.given_up"
    OUTBOX_REQUEUED = "outbox.requeued"
    OUTBOX_EMISSION_REFUSED = "outbox.emission_refused"
    APP_INSTALLED = "app.installed"
    APP_ENABLED = "app.enabled"
    APP_DISABLED = "app.disabled"
    APP_UPGRADED = "app.upgraded"
    APP_ROLLED_BACK = "app.rolled_back"
    APP_REMOVED = "app.removed"
    APP_REFUSED = "app.refused"
    APP_FOUND_BROKEN = "app.found_broken"
    RETENTION_APPLIED = "retention.applied"
    CONFIGURATION_LOADED = "configuration.loaded"
    CONFIGURATION_REFUSED = "configuration.refused"
    GATEWAY_STARTED = "gateway.started"
    GATEWAY_BACKED_UP = "gateway.backed_up"
    GATEWAY_RESTORED = "gateway.restored"
    GATEWAY_STOPPED = "gateway.stopped"
    STORE_MIGRATED = "store.migrated"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One thing that happened. `facts` hold small JSON scalars and lists of them; `at` is ms since the epoch."""

    stream: Stream
    event: AuditEvent
    at: int
    facts: dict[str, str | int | bool | list[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainedRecord:
    """A stored record: its place in the stream, the canonical text, and the chain value after it."""

    stream: Stream
    seq: int
    body: bytes
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a stream stood at `at` (ms since the epoch): its newest record and the chain value after it."""

    stream: Stream
    seq: int
    hash: bytes
    at: int


def body_of(record: AuditRecord, seq: int) -> bytes:
    """The canonical text that is chained: stream, seq, event, at and facts together."""
    return canonical_own(
        {
            "stream": record.stream.value,
            "seq": seq,
            "event": record.event.value,
            "at": record.at,
            "facts": {key: value for key, value in record.facts.items() if value is not None},
        }
    )


def chain(previous: bytes, body: bytes) -> bytes:
    """`h_n = SHA-256(h_{n-1} ‖ body)`."""
    return hashlib.sha256(previous + body).digest()
