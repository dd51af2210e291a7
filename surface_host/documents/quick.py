"""Says of most parts of legal documents that their shape is right, without a pointer and in few steps.

It never vouches for what `shape` refuses; where it does not vouch, `shape` looks itself. Only speed hangs on it: a
document has up to 32,768 values and is judged on the gateway's loop.
"""

import re
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final, cast

from surface_host.documents.table import ID_PATTERN, LIMITS, REFUSED_IDS, Member

_ID: Final = re.compile(ID_PATTERN)
_REFUSED: Final = frozenset(REFUSED_IDS)
_SCALARS: Final[frozenset[type]] = frozenset({str, int, float, bool})
_SHORT: Final = LIMITS["scalar"] // 2
"""Characters of a scalar text that fits whatever it holds."""
_MAGNITUDE: Final = LIMITS["magnitude"]

_Vouch = Callable[[Any], bool]


def is_id(text: str) -> bool:
    """Whether the whole text is an id."""
    return _ID.fullmatch(text) is not None and text not in _REFUSED


class Plan:
    """What is known beforehand of the objects with these members."""

    __slots__ = ("_vouches", "names", "required")

    def __init__(self, members: Mapping[str, Member]) -> None:
        """Prepare for the members of one row of the table."""
        self.names: Final = frozenset(members)
        self.required: Final = frozenset(name for name, member in members.items() if member.required)
        self._vouches: Final[dict[str, _Vouch]] = {name: _vouch_for(member) for name, member in members.items()}

    def is_closed(self, value: Mapping[str, Any]) -> bool:
        """Whether the object has all keys it must have and no other than it may have."""
        return self.required <= value.keys() <= self.names

    def vouches_for(self, name: str, value: Any) -> bool:
        """Whether the value of a member surely is right."""
        return self._vouches[name](value)

    def vouches_for_object(self, value: Any) -> bool:
        """Whether a whole object surely is right."""
        if not isinstance(value, dict):
            return False
        members = cast("dict[str, Any]", value)
        if not self.is_closed(members):
            return False
        vouches = self._vouches
        for name, item in members.items():  # noqa: SIM110 - a generator costs as much as the rest of this
            if not vouches[name](item):
                return False
        return True


_PLANS: Final[dict[int, Plan]] = {}


def plan_of(members: Mapping[str, Member]) -> Plan:
    """The plan for members that stand in the table."""
    # By identity: mappings cannot be hashed, and those of the table live as long as the program.
    plan = _PLANS.get(id(members))
    if plan is None:
        plan = _PLANS[id(members)] = Plan(members)
    return plan


def _vouch_for(member: Member) -> _Vouch:
    least, most = member.least or 0, member.most or 0
    words = frozenset(member.words)
    match member.kind:
        case "text":
            # Units are at least as many as characters, and at most twice as many.
            return lambda value: type(value) is str and least <= len(value) <= most // 2
        case "id" | "field" | "action":
            return lambda value: type(value) is str and is_id(value)
        case "word":
            return lambda value: type(value) is str and value in words
        case "expr" | "scalar":
            return _is_short_scalar
        case _:
            return lambda _: False


def _is_short_scalar(value: Any) -> bool:
    kind = cast("object", type(value))
    if kind is str:
        return len(value) <= _SHORT
    if kind is int or kind is float:
        return -_MAGNITUDE <= value <= _MAGNITUDE
    return kind is bool


def are_plain_rows(rows: list[Any]) -> bool:
    """Whether all rows surely are objects of short texts, numbers in range and booleans."""
    if not {dict}.issuperset(map(type, rows)):
        return False
    cells: list[Any] = list(chain.from_iterable(row.values() for row in rows))
    if not _SCALARS.issuperset(map(type, cells)):
        return False
    texts = [cell for cell in cells if type(cell) is str]
    numbers = [cell for cell in cells if type(cell) is not str]
    return (
        max(map(len, texts), default=0) <= _SHORT
        and max(numbers, default=0) <= _MAGNITUDE
        and min(numbers, default=0) >= -_MAGNITUDE
    )
