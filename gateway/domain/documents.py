"""One document that an agent shows to a person on a site: a generation with its newest snapshot (design §12, rules H5). Pure.

Whether a snapshot is legal, and what a frame does to it, is judged by `surface_host.documents`; here is what the
gateway keeps of it, and the actions people took in it. A document belongs to a person on a site, not to one page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from gateway.domain.calls import CallState
from gateway.domain.errors import IllegalTransition

PREFIX: Final = "gen_"
"""Begins the gateway's name of every generation, and of nothing else that calls are made from."""

CALLBACK: Final = "callback"
"""The event by which an agent hears what a document's action told it."""


class DocumentState(StrEnum):
    """Where a document stands. Only a complete one lets actions leave the page."""

    STREAMING = "streaming"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    CLOSED = "closed"


class DocumentMove(StrEnum):
    """What can happen to a document beside a new snapshot."""

    COMPLETE = "complete"
    CANCEL = "cancel"
    CLOSE = "close"


class Closed(StrEnum):
    """Why a document is gone, or given up."""

    PERSON = "person"
    REPLACED = "replaced"
    SESSION_ENDED = "session_ended"
    NOT_EXPOSED = "not_exposed"
    RESTART = "restart"
    """Nobody can go on with it; what is shown stays."""


_S, _M = DocumentState, DocumentMove

TRANSITIONS: Final[Mapping[DocumentState, Mapping[DocumentMove, DocumentState]]] = MappingProxyType(
    {
        _S.STREAMING: {_M.COMPLETE: _S.COMPLETE, _M.CANCEL: _S.CANCELLED, _M.CLOSE: _S.CLOSED},
        _S.COMPLETE: {_M.CLOSE: _S.CLOSED},
        _S.CANCELLED: {_M.CLOSE: _S.CLOSED},
        _S.CLOSED: {},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocument:
    """One row; its newest snapshot lies beside it, as canonical JSON, and is erased when it closes.

    `call` is the ledger's name of the call that opened it, `session` the grant it lives with. `epoch` is the run of the
    gateway it was opened in, `seq` the last frame that was taken, `frames` and `size` all snapshots so far, `options`
    what Selects offered so far (canonical JSON), `sha256` that of the newest snapshot. Instants are ms since the epoch.
    """

    id: str
    call: str
    session: str
    agent: str
    user: str
    conversation: str
    site: str
    kind: str
    state: DocumentState
    epoch: int
    seq: int
    revision: int
    frames: int
    size: int
    sha256: str
    options: str
    opened_at: int
    closed_at: int | None = None
    reason: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether it is shown."""
        return self.state is not DocumentState.CLOSED

    @property
    def ref(self) -> dict[str, Any]:
        """How a page and its agent name this very revision."""
        return {"call": self.call, "generation": self.id, "revision": self.revision}


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentAction:
    """What a person asked for in a document, with the call it became (rules H6).

    `entry` is the name in the invoke table, `input` the SHA-256 of all the page sent but the request's name.
    """

    call: str
    document: str
    session: str
    request: str
    action: str
    entry: str
    input: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a person asks for in a document, before it is a call: the fields of `DocumentAction` that say so."""

    request: str
    action: str
    entry: str
    input: str


class ActionState(StrEnum):
    """What a panel draws beside a document, from receipts alone (rules H8)."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"


ACTION_STATES: Final[Mapping[CallState, ActionState]] = MappingProxyType(
    {
        CallState.AWAITING_APPROVAL: ActionState.WAITING,
        CallState.WAITING_ACTIVATION: ActionState.WAITING,
        CallState.READY: ActionState.WAITING,
        CallState.DISPATCHED: ActionState.RUNNING,
        CallState.UNKNOWN: ActionState.UNKNOWN,
        CallState.SUCCEEDED: ActionState.DONE,
        CallState.FAILED: ActionState.FAILED,
        CallState.DENIED: ActionState.REFUSED,
        CallState.EXPIRED: ActionState.REFUSED,
        CallState.CANCELLED: ActionState.REFUSED,
    }
)


def step(document: ShownDocument, move: DocumentMove, *, now: int, reason: str | None = None) -> ShownDocument:
    """Move `document` at `now`.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[document.state].get(move)
    if target is None:
        raise IllegalTransition(f"document in `{document.state}` cannot `{move}`")
    closed_at = now if target is DocumentState.CLOSED else None
    return replace(document, state=target, reason=reason or document.reason, closed_at=closed_at)


def is_document(name: str) -> bool:
    """Whether a call was made in a document, by the name of the place it was made in."""
    return name.startswith(PREFIX)
