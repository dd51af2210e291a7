"""One app session: the ordered, visible record around one instance of a mini app (seed 002 §5, rules F7). Pure."""

from dataclasses import dataclass, replace
from enum import StrEnum


class EntryKind(StrEnum):
    """What the record holds: calls, their answers, and what the person did in the app."""

    CALL_STARTED = "call_started"
    CALL_ENDED = "call_ended"
    UI_ACTION = "ui_action"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSession:
    """One row. Begins with its instance and ends with it; instants are milliseconds since the epoch."""

    id: str
    app: str
    user: str
    conversation: str
    opened_at: int
    ended_at: int | None = None

    def ended(self, now: int) -> "AppSession":
        """The same, over at `now`."""
        return replace(self, ended_at=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppEntry:
    """One line of the record: which call or action, and how it ended. `seq` counts from 1 in its app session."""

    seq: int
    kind: EntryKind
    ref: str
    capability: str
    state: str | None
    at: int
