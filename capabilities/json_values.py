"""JSON values as trees: how deep, where, and which numbers both languages read alike. Never recursive."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, cast

SAFE_INTEGER_MAX: Final = 2**53 - 1
"""The largest integer both languages tell apart from its neighbours (RFC 8785 §3.2.2.3, RFC 7493 §2.2)."""

POINTER_MAX: Final = 256
"""Characters of a pointer in a message (rules A4)."""

_EXPONENT_FROM: Final = 1e21
"""From here on canonical JSON writes a number with an exponent; below, a whole one is written as integer."""

Path = tuple[str | int, ...]
"""The steps from the root of a value: keys of objects, indices of arrays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsafeNumber:
    """Where a number stands that JavaScript would change, and why."""

    pointer: str
    reason: Literal["unsafe_integer", "non_finite_number"]


class Found(NamedTuple):
    """A leaf and the pointer to it."""

    pointer: str
    leaf: Any


def find_unsafe_number(value: Any) -> UnsafeNumber | None:
    """Find the first number of a JSON value that does not survive the way to JavaScript and back.

    The value must be a tree: parsed text, or an object known to hold no cycle (`is_deeper_than`).
    """
    found = find_leaf(value, _is_unsafe_number)
    if found is None:
        return None
    return UnsafeNumber(
        pointer=found.pointer,
        reason="unsafe_integer" if is_unsafe_integer(found.leaf) else "non_finite_number",
    )


def is_unsafe_integer(leaf: Any) -> bool:
    """Whether canonical JSON would spell `leaf` as an integer beyond 2^53 - 1."""
    if type(leaf) is int:
        return not -SAFE_INTEGER_MAX <= leaf <= SAFE_INTEGER_MAX
    return type(leaf) is float and SAFE_INTEGER_MAX < abs(leaf) < _EXPONENT_FROM


def is_deeper_than(value: Any, max_depth: int) -> bool:
    """Whether an array or object lies deeper than `max_depth`, the root being 0. Ends for cyclic objects too."""
    level: list[Any] = [value]
    for _ in range(max_depth + 1):
        # Once per object: without it, lists that share their items would double at each level.
        containers: dict[int, Any] = {id(item): item for item in level if _is_container(item)}
        level = [child for container in containers.values() for _, child in _members(container)]
        if not level:
            return False
    return any(map(_is_container, level))


def find_leaf(value: Any, is_wanted: Callable[[Any], bool]) -> Found | None:
    """Find the first wanted thing, in document order, that is neither array nor object."""
    path: list[str | int] = []
    entered: list[Iterator[tuple[str | int, Any]]] = [iter([("", value)])]
    while entered:
        for step, item in entered[-1]:
            if _is_container(item):
                path.append(step)
                entered.append(_members(item))
                break
            if is_wanted(item):
                return Found(pointer_to([*path, step][1:]), item)
        else:
            entered.pop()
            del path[-1:]
    return None


def pointer_to(path: Iterable[str | int]) -> str:
    """RFC 6901 pointer to `path`, or to its nearest ancestor that fits `POINTER_MAX` characters."""
    pointer = ""
    for step in path:
        longer = f"{pointer}/{str(step).replace('~', '~0').replace('/', '~1')}"
        if len(longer) > POINTER_MAX:
            break
        pointer = longer
    return pointer


def _is_unsafe_number(leaf: Any) -> bool:
    return is_unsafe_integer(leaf) or (type(leaf) is float and not math.isfinite(leaf))


def _is_container(item: Any) -> bool:
    return isinstance(item, dict | list)


def _members(container: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(container, dict):
        return iter(cast("dict[str, Any]", container).items())
    return enumerate(cast("list[Any]", container))
