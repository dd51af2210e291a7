"""One outbox entry: a fact somebody outside is told of, written with the change it tells of (design §13). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.domain.errors import IllegalTransition

ERROR_MAX: Final = 200
"""Characters kept of what a consumer's refusal came to."""


class OutboxState(StrEnum):
    """Where an entry stands."""

    PENDING = "pending"
    SENT = "sent"
    DEAD = "dead"


class OutboxEvent(StrEnum):
    """What can happen to an entry."""

    DELIVER = "deliver"
    RETRY = "retry"
    GIVE_UP = "give_up"
    REQUEUE = "requeue"


_S, _E = OutboxState, OutboxEvent

TRANSITIONS: Final[Mapping[OutboxState, Mapping[OutboxEvent, OutboxState]]] = MappingProxyType(
    {
        _S.PENDING: {_E.DELIVER: _S.SENT, _E.RETRY: _S.PENDING, _E.GIVE_UP: _S.DEAD},
        _S.SENT: {},
        _S.DEAD: {_E.REQUEUE: _S.PENDING},
    }
)

UNDELIVERED: Final = frozenset({_S.PENDING, _S.DEAD})
"""What the consumer has not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEntry:
    """One row. Instants are milliseconds since the epoch; `data` is canonical JSON.

    `id` names the event for ever, on every repeat of its delivery. Entries of one `key` go in the order of their
    `number`, which the store gives; `app` is whose handler emitted it, None for the gateway's own events.
    `due_at` is when it may be tried next: None while an earlier entry of its key is pending, and once it ended.
    `holder` is who tries it until then. `attempts` counts those that were begun.
    """

    id: str
    key: str
    type: str
    app: str | None
    subject: str
    at: int
    data: str
    traceparent: str | None = None
    state: OutboxState = OutboxState.PENDING
    number: int = 0
    attempts: int = 0
    due_at: int | None = None
    holder: str | None = None
    ended_at: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often an entry is tried, and how long it rests between two tries: doubling from `first_ms` to `cap_ms`."""

    attempts: int
    first_ms: int
    cap_ms: int

    def pause_ms(self, attempts: int) -> int:
        """The rest after so many failed attempts, the first being 1."""
        # A shift by more than the cap has bits would build a number only to cut it off.
        doublings = min(attempts - 1, self.cap_ms.bit_length())
        return min(self.cap_ms, self.first_ms << doublings)

    def is_spent(self, attempts: int) -> bool:
        """Whether there is no further attempt after so many."""
        return attempts >= self.attempts


def step(
    entry: OutboxEntry, event: OutboxEvent, *, now: int, error: str | None = None, pause_ms: int = 0
) -> OutboxEntry:
    """Move `entry` by `event` at `now`; a retry comes after `pause_ms`, a requeued entry has all its attempts again.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[entry.state].get(event)
    if target is None:
        raise IllegalTransition(f"outbox entry in `{entry.state}` cannot `{event}`")
    error = None if error is None else error.replace("\0", "\N{REPLACEMENT CHARACTER}")[:ERROR_MAX]
    if event is OutboxEvent.REQUEUE:
        return replace(entry, state=target, attempts=0, due_at=now, ended_at=None)
    if target is OutboxState.PENDING:
        return replace(entry, state=target, due_at=now + pause_ms, holder=None, error=error)
    return replace(entry, state=target, due_at=None, holder=None, ended_at=now, error=error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undelivered:
    """Why an attempt failed, in words without what was sent, and how long the consumer wants to be left alone."""

    error: str
    pause_ms: int = 0


def failed(entry: OutboxEntry, why: Undelivered, patience: Patience, *, now: int) -> OutboxEntry:
    """What a failed attempt makes of `entry`: it rests, as long as the consumer asks up to the cap, or it is dead."""
    if patience.is_spent(entry.attempts):
        return step(entry, OutboxEvent.GIVE_UP, now=now, error=why.error)
    pause = max(patience.pause_ms(entry.attempts), min(why.pause_ms, patience.cap_ms))
    return step(entry, OutboxEvent.RETRY, now=now, error=why.error, pause_ms=pause)
