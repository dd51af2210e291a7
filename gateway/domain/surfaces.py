"""One surface that an agent shows on a page: a frame with a state, and no work of its own (seed 000 §4, rules G). Pure.

The agent's name of it is the agent's; the page knows it by the gateway's, which no runtime instance can have.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.domain.conversations import Talk
from gateway.domain.errors import IllegalTransition
from gateway.domain.instances import PAGE_GONE_MS

PREFIX: Final = "surf_"
"""Begins the gateway's name of every surface, and of nothing else that a page shows."""

CLOSE: Final = "close"
"""The event by which an agent hears that its surface is gone though it did not close it; no bundle can send it."""

SENT: Final = ""
"""In the place of a surface's id for a bundle its agent sent; a surface of an installed app always has one."""

MINUTE_MS: Final = 60_000


class SurfaceState(StrEnum):
    """Where a surface stands."""

    OPENING = "opening"
    OPEN = "open"
    CLOSED = "closed"


class SurfaceMove(StrEnum):
    """What can happen to a surface. What the person does in it are happenings."""

    MOUNT = "mount"
    CLOSE = "close"


class Gone(StrEnum):
    """Why a surface is gone that its agent did not close; the reason of its `close` event. A page adds its own words
    for a frame that could not be shown."""

    PERSON = "person"
    PAGE_GONE = "page_gone"
    APP_WITHDRAWN = "app_withdrawn"
    NOT_EXPOSED = "not_exposed"


_S, _M = SurfaceState, SurfaceMove

TRANSITIONS: Final[Mapping[SurfaceState, Mapping[SurfaceMove, SurfaceState]]] = MappingProxyType(
    {
        _S.OPENING: {_M.MOUNT: _S.OPEN, _M.CLOSE: _S.CLOSED},
        _S.OPEN: {_M.CLOSE: _S.CLOSED},
        _S.CLOSED: {},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One row. At most one is not closed for (agent, user, conversation, instance).

    `app`, `version` and `digest` are those of the installed app, or what the agent calls the bundle it sent and the
    integrity of that. `session` is the grant it was opened under and lives with; `instance` is the agent's name of it. `is_told` says that
    its events go to the log of the conversation instead of waiting to be asked for. `page_gone_at` is since when its
    page is away. `minute`, `events` and `bytes` are what came of it in that minute. Instants are milliseconds since the
    epoch.
    """

    id: str
    session: str
    agent: str
    user: str
    conversation: str
    instance: str
    app: str
    version: str
    digest: str
    surface: str
    title: str | None
    site: str
    page: str
    state: SurfaceState
    is_told: bool
    opened_at: int
    page_gone_at: int | None = None
    closed_at: int | None = None
    reason: str | None = None
    minute: int = 0
    events: int = 0
    bytes: int = 0

    @property
    def talk(self) -> Talk:
        """The conversation it belongs to."""
        return Talk(agent=self.agent, user=self.user, name=self.conversation)

    @property
    def is_sent(self) -> bool:
        """Whether its agent sent the bundle it shows."""
        return self.surface == SENT

    @property
    def is_live(self) -> bool:
        """Whether it is, or is about to be, on its page."""
        return self.state is not SurfaceState.CLOSED

    @property
    def due_at(self) -> int | None:
        """When it counts as closed because its page stayed away; None while its page is there."""
        return None if self.page_gone_at is None or not self.is_live else self.page_gone_at + PAGE_GONE_MS

    def with_event(self, size: int, now: int) -> "Surface":
        """The same after one more event of `size` bytes."""
        minute = now // MINUTE_MS
        if minute != self.minute:
            return replace(self, minute=minute, events=1, bytes=size)
        return replace(self, events=self.events + 1, bytes=self.bytes + size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """What a person did in a surface, kept until its agent asks. `data` is canonical JSON, `at` ms since the epoch.

    `seq` grows by one with each happening of an agent session, and none is ever given twice.
    """

    seq: int
    surface: str
    instance: str
    event: str
    data: str
    at: int


def step(surface: Surface, move: SurfaceMove, *, now: int, reason: str | None = None) -> Surface:
    """Move `surface` at `now`.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[surface.state].get(move)
    if target is None:
        raise IllegalTransition(f"surface in `{surface.state}` cannot `{move}`")
    if target is SurfaceState.CLOSED:
        return replace(surface, state=target, closed_at=now, reason=reason)
    return replace(surface, state=target)


def is_surface(name: str) -> bool:
    """Whether a page's name of what it shows is that of a surface."""
    return name.startswith(PREFIX)
