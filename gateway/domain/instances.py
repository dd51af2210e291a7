"""One running mini app: where it is shown, and whether the person looks at it (seed 002 §5). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.domain.activations import Goal
from gateway.domain.errors import IllegalTransition

PAGE_GONE_MS: Final = 60_000
"""How long a page may be gone before its mini apps count as closed (rules F8)."""


UNOWNED: Final = "grants_ended"
"""Why one without a frame is closed when nobody is left who may use it."""


class InstanceState(StrEnum):
    """Where an instance stands."""

    STARTING = "starting"
    RUNNING = "running"
    CLOSED = "closed"


class InstanceEvent(StrEnum):
    """What can happen to an instance. What the person does with its frame are host intents."""

    OPEN = "open"
    CLOSE = "close"


_S, _E = InstanceState, InstanceEvent

TRANSITIONS: Final[Mapping[InstanceState, Mapping[InstanceEvent, InstanceState]]] = MappingProxyType(
    {
        _S.STARTING: {_E.OPEN: _S.RUNNING, _E.CLOSE: _S.CLOSED},
        _S.RUNNING: {_E.CLOSE: _S.CLOSED},
        _S.CLOSED: {},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One row. At most one is not closed for (user, conversation, app); its id never leaves to agents (rules B4).

    `digest` is the package it runs; `site` and `page` say where its frame is, both None for one without a frame.
    `page_gone_at` is since when its page is away. Instants are milliseconds since the epoch.
    """

    id: str
    app: str
    digest: str
    user: str
    conversation: str
    app_session: str
    state: InstanceState
    opened_at: int
    site: str | None = None
    page: str | None = None
    is_foreground: bool = False
    page_gone_at: int | None = None
    closed_at: int | None = None
    reason: str | None = None

    @property
    def is_live(self) -> bool:
        """Whether it is, or is about to be, there."""
        return self.state is not InstanceState.CLOSED

    @property
    def due_at(self) -> int | None:
        """When it counts as closed because its page stayed away; None while its page is there."""
        return None if self.page_gone_at is None or not self.is_live else self.page_gone_at + PAGE_GONE_MS

    def has_reached(self, goal: Goal) -> bool:
        """Whether a call that waits for `goal` may run."""
        return self.state is InstanceState.RUNNING and (goal is Goal.APP or self.is_foreground)


def step(instance: Instance, event: InstanceEvent, *, now: int, reason: str | None = None) -> Instance:
    """Move `instance` by `event` at `now`.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[instance.state].get(event)
    if target is None:
        raise IllegalTransition(f"instance in `{instance.state}` cannot `{event}`")
    if target is InstanceState.CLOSED:
        return replace(instance, state=target, is_foreground=False, closed_at=now, reason=reason)
    return replace(instance, state=target)
