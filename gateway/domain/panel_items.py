"""One standard component that an agent shows in the panel of a page: drawn by trusted code, answered once (seed 000). Pure.

The agent's name of it is the agent's; the page knows it by the gateway's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, cast

import orjson

from gateway.domain.conversations import Talk
from gateway.domain.errors import IllegalTransition

PREFIX: Final = "item_"
"""Begins the gateway's name of every panel item, and of nothing else that a page shows."""

LIVE_MAX: Final = 32
"""Items of one conversation that are shown at a time."""

ANSWER: Final = "answer"
"""The event by which an agent hears what the person answered."""


class ItemKind(StrEnum):
    """The standard components; the id of its capability is `ui.` and the word."""

    TEXT = "text"
    MARKDOWN = "markdown"
    STATUS = "status"
    PROGRESS = "progress"
    ERROR = "error"
    CHOICE = "choice"
    CONFIRM = "confirm"
    INPUT = "input"


class ItemState(StrEnum):
    """Where an item stands."""

    SHOWN = "shown"
    ANSWERED = "answered"
    CLOSED = "closed"


class ItemMove(StrEnum):
    """What can happen to an item. One that asks nothing is never answered."""

    ANSWER = "answer"
    CLOSE = "close"


class ItemGone(StrEnum):
    """Why an item is gone that its agent did not close; the reason of its `close` event."""

    PERSON = "person"
    NOT_EXPOSED = "not_exposed"


_S, _M = ItemState, ItemMove

TRANSITIONS: Final[Mapping[ItemState, Mapping[ItemMove, ItemState]]] = MappingProxyType(
    {_S.SHOWN: {_M.ANSWER: _S.ANSWERED, _M.CLOSE: _S.CLOSED}, _S.ANSWERED: {}, _S.CLOSED: {}}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelItem:
    """One row. At most one is shown for (agent, user, conversation, instance).

    `content` is what it was shown with, as canonical JSON, erased when it ends. `session` is the grant it lives with;
    `instance` is the agent's name of it. `page` is where it is shown: when that is gone it moves to a page of the same
    user on the same `site`. `is_told` says that its events go to the log of the conversation. Instants are ms.
    """

    id: str
    session: str
    agent: str
    user: str
    conversation: str
    instance: str
    kind: ItemKind
    content: str
    site: str
    page: str
    state: ItemState
    is_told: bool
    shown_at: int
    ended_at: int | None = None
    reason: str | None = None

    @property
    def talk(self) -> Talk:
        """The conversation it belongs to."""
        return Talk(agent=self.agent, user=self.user, name=self.conversation)

    @property
    def is_live(self) -> bool:
        """Whether it is to be seen."""
        return self.state is ItemState.SHOWN


def step(item: PanelItem, move: ItemMove, *, now: int, reason: str | None = None) -> PanelItem:
    """Move `item` at `now`; what it was shown with is gone with that.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[item.state].get(move)
    if target is None:
        raise IllegalTransition(f"panel item in `{item.state}` cannot `{move}`")
    return replace(item, state=target, content="{}", ended_at=now, reason=reason)


def content_fault(kind: ItemKind, content: Mapping[str, Any]) -> str | None:
    """What of a content is wrong that no schema says: a word with the place, never a value; None if nothing is."""
    if kind is ItemKind.PROGRESS and content.get("value", 0) > content.get("max", 1):
        return "at `/value`: more than `max`"
    if kind is not ItemKind.CHOICE:
        return None
    options: list[dict[str, Any]] = content["options"]
    if len({option["value"] for option in options}) < len(options):
        return "at `/options`: two options have the same value"
    least, most = bounds_of(content)
    return None if least <= most <= len(options) else "at `/min`: fewer options than may be picked"


def bounds_of(content: Mapping[str, Any]) -> tuple[int, int]:
    """The least and the most options of a choice that may be picked."""
    if not content.get("multiple", False):
        return 1, 1
    return content.get("min", 0), content.get("max", len(content["options"]))


def answer_of(item: PanelItem, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the agent is told of `given`, which a page says is the person's answer; None if it is no answer to this."""
    judge = _JUDGES.get(item.kind)
    return None if judge is None else judge(orjson.loads(item.content), given)


def _choice(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any] | None:
    values: Any = given.get("values")
    if set(given) != {"values"} or not isinstance(values, list):
        return None
    picked = cast("list[Any]", values)
    least, most = bounds_of(content)
    offered = [option["value"] for option in content["options"]]
    if not least <= len(picked) <= most:
        return None
    # In the order they were offered in, each once; what was not offered is not among them.
    kept = [value for value in offered if value in picked]
    return {"values": kept} if len(kept) == len(picked) else None


def _confirm(_: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any] | None:
    confirmed = given.get("confirmed")
    return {"confirmed": confirmed} if set(given) == {"confirmed"} and isinstance(confirmed, bool) else None


def _input(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any] | None:
    value = given.get("value")
    kind = content.get("kind", "text")
    if set(given) != {"value"}:
        return None
    if kind == "number":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return {"value": value} if is_number else None
    if not isinstance(value, str) or len(value) > content.get("max_length", INPUT_MAX):
        return None
    if (content.get("required", False) and not value.strip()) or not _fits(kind, value):
        return None
    return {"value": value}


def _fits(kind: str, value: str) -> bool:
    if kind == "date":
        return not value or _is_date(value)
    return kind == "multiline" or "\n" not in value


def _is_date(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


INPUT_MAX: Final = 4_096
"""Characters of an answer where the agent did not say fewer."""

_JUDGES: Final[Mapping[ItemKind, Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any] | None]]] = {
    ItemKind.CHOICE: _choice,
    ItemKind.CONFIRM: _confirm,
    ItemKind.INPUT: _input,
}
"""The components that ask; the others only tell."""
