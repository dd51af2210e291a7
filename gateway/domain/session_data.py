"""Session data: one JSON object a mini app keeps for one app session. It is opaque and decides nothing. Pure.

Nobody but the app reads meaning into it: it ends no call, moves no operation and grants no capability (seed 002 §8.5).
"""

from dataclasses import dataclass
from typing import Any, Final

from capabilities.json_values import find_unsafe_number, is_deeper_than
from gateway.domain.canonical import canonical

SESSION_DATA_BYTES: Final = 256 * 1024
"""Largest canonical text."""
SESSION_DATA_DEPTH: Final = 64
"""Deepest array or object, the root being 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionData:
    """What `app` keeps for `app_session`, as canonical JSON. `revision` counts its writes from 1; 0: never written."""

    app: str
    app_session: str
    revision: int
    data: str
    at: int


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a value is not kept: a word for programs and a sentence without the value (rules A4)."""

    reason: str
    message: str


def judged(value: Any) -> str | Unfit:
    """The canonical text of `value`, or why it cannot be session data."""
    if not isinstance(value, dict):
        return Unfit("not_an_object", "session data is a JSON object")
    if is_deeper_than(value, SESSION_DATA_DEPTH):
        return Unfit("too_deep", f"session data is nested deeper than {SESSION_DATA_DEPTH} levels")
    unsafe = find_unsafe_number(value)
    if unsafe is not None:
        return Unfit(
            "unsafe_integer", f"session data holds a number at `{unsafe.pointer}` that JavaScript would change"
        )
    try:
        text = canonical(value)
    except ValueError as error:
        return Unfit("bad_json", f"session data is not JSON: {error}")
    if len(text) > SESSION_DATA_BYTES:
        return Unfit("too_large", f"session data has {len(text)} bytes; {SESSION_DATA_BYTES} are the most")
    return text.decode()
