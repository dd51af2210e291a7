"""One activation: the attempt to make a mini app ready for the calls that wait for it (seed 002 §4.3). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from capabilities.contract import Readiness
from gateway.domain.errors import IllegalTransition

ACTIVATION_MS: Final = 60_000
"""How long an attempt may take (design §17)."""


class ActivationState(StrEnum):
    """Where an attempt stands. What became of the app afterwards is its instance's state."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ActivationEvent(StrEnum):
    """What can happen to an attempt."""

    REACH = "reach"
    FAIL = "fail"
    CANCEL = "cancel"


class Goal(StrEnum):
    """What the attempt is after: the app can take calls, or the person also looks at it."""

    APP = "app"
    FOREGROUND = "foreground"


class FailureReason(StrEnum):
    """Why an attempt failed; told to agents with the code (rules F2)."""

    TIMEOUT = "timeout"
    FOREGROUND_REFUSED = "foreground_refused"
    PAGE_NOT_CONNECTED = "page_not_connected"
    APP_FAILED = "app_failed"
    APP_CLOSED = "app_closed"
    APP_WITHDRAWN = "app_withdrawn"
    NOBODY_WAITS = "nobody_waits"
    INTERRUPTED = "interrupted"


_S, _E = ActivationState, ActivationEvent

TRANSITIONS: Final[Mapping[ActivationState, Mapping[ActivationEvent, ActivationState]]] = MappingProxyType(
    {
        _S.STARTING: {_E.REACH: _S.READY, _E.FAIL: _S.FAILED, _E.CANCEL: _S.CANCELLED},
        _S.READY: {},
        _S.FAILED: {},
        _S.CANCELLED: {},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """One row. At most one is `starting` for (user, conversation, app).

    Instants are milliseconds since the epoch; `due_at` is when it fails for want of time.
    """

    id: str
    instance: str
    app: str
    user: str
    conversation: str
    goal: Goal
    state: ActivationState
    started_at: int
    due_at: int
    ended_at: int | None = None
    reason: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether calls may still join it."""
        return self.state is ActivationState.STARTING


def goal_of(readiness: Readiness) -> Goal | None:
    """What a call of this readiness waits for; None when it waits for nothing."""
    return _GOALS[readiness]


_GOALS: Final = {
    Readiness.APP_READY: Goal.APP,
    Readiness.FOREGROUND_REQUIRED: Goal.FOREGROUND,
    Readiness.ACTIVATION_NOT_REQUIRED: None,
}


def raised(activation: Activation, goal: Goal) -> Activation:
    """The same attempt, after the higher of its goal and `goal`."""
    return replace(activation, goal=goal) if goal is Goal.FOREGROUND else activation


def step(activation: Activation, event: ActivationEvent, *, now: int, reason: str | None = None) -> Activation:
    """Move `activation` by `event` at `now`.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[activation.state].get(event)
    if target is None:
        raise IllegalTransition(f"activation in `{activation.state}` cannot `{event}`")
    return replace(activation, state=target, ended_at=now, reason=reason)
