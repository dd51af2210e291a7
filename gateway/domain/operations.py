"""One operation: durable business work with a deadline and one terminal state (seed 002 §5, rules F4). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.domain.errors import IllegalTransition


class OperationState(StrEnum):
    """Where an operation stands. `unknown` is for work that a handler held when it was lost."""

    RUNNING = "running"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    UNKNOWN = "unknown"

    @property
    def is_terminal(self) -> bool:
        """Whether no event can move it any more."""
        return not TRANSITIONS[self]


class OperationEvent(StrEnum):
    """What can happen to an operation."""

    COMPLETE = "complete"
    INTERRUPT = "interrupt"
    FAIL = "fail"
    CANCEL = "cancel"
    EXPIRE = "expire"
    LOSE = "lose"


class Carrier(StrEnum):
    """Who does the work: the runtime's own row, which outlives a restart, or a handler, which does not (rules B5)."""

    RUNTIME = "runtime"
    HANDLER = "handler"


_S, _E = OperationState, OperationEvent

TRANSITIONS: Final[Mapping[OperationState, Mapping[OperationEvent, OperationState]]] = MappingProxyType(
    {
        _S.RUNNING: {
            _E.COMPLETE: _S.COMPLETED,
            _E.INTERRUPT: _S.INTERRUPTED,
            _E.FAIL: _S.FAILED,
            _E.CANCEL: _S.CANCELLED,
            _E.EXPIRE: _S.EXPIRED,
            _E.LOSE: _S.UNKNOWN,
        },
        _S.UNKNOWN: {_E.COMPLETE: _S.COMPLETED, _E.FAIL: _S.FAILED},
        _S.COMPLETED: {},
        _S.INTERRUPTED: {},
        _S.FAILED: {},
        _S.CANCELLED: {},
        _S.EXPIRED: {},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One row, made in the transaction that dispatches its call. Its id never leaves to agents (rules B4).

    Instants are milliseconds since the epoch. For a `runtime` operation `deadline` is when it is complete,
    for one of a handler when its time is up. `cause` says what ended it (`deadline`, `left_workspace`, …).
    `answers` are the declared results by the state it ends in, as canonical JSON: the promise it was begun under.
    """

    id: str
    call: str
    app: str
    user: str
    conversation: str
    carrier: Carrier
    state: OperationState
    started_at: int
    deadline: int
    app_session: str | None = None
    ended_at: int | None = None
    cause: str | None = None
    answers: str | None = None

    @property
    def due_at(self) -> int | None:
        """When time alone ends it: the work of a handler is timed by its call."""
        is_timed = self.state is OperationState.RUNNING and self.carrier is Carrier.RUNTIME
        return self.deadline if is_timed else None


def step(operation: Operation, event: OperationEvent, *, now: int, cause: str | None = None) -> Operation:
    """Move `operation` by `event` at `now`.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[operation.state].get(event)
    if target is None:
        raise IllegalTransition(f"operation in `{operation.state}` cannot `{event}`")
    ended_at = None if target is OperationState.UNKNOWN else now
    return replace(operation, state=target, ended_at=ended_at, cause=cause)
