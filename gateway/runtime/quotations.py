"""What a page says of a failure, without what it quotes of the arguments (rules A4).

A handler that puts its arguments into an error would otherwise write them into the ledger, where they outlive the
call, and into an answer. Of arguments only memory held, or that are erased, nothing can be looked for; then nothing
of what was said is kept.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

import orjson

WORD: Final = "[withheld]"
"""Stands where a value stood."""

WITHHELD: Final = "what the page said is withheld: the arguments of this call are secret or erased"

VALUE_MIN: Final = 4
"""Shorter values are in every sentence."""

PART_MIN: Final = 8
"""Length from which a part of a value with a digit in it, as keys and tokens have, is looked for by itself."""

VALUES_MAX: Final = 500
"""Arguments with more to look for are not looked for: nothing said is kept."""

_PARTS: Final = re.compile(r"[\w.+~-]+")


def discreet(said: str, arguments: str | None) -> str:
    """`said` without the values in `arguments` (canonical text), whole or as JSON writes them; None: not known."""
    if not said:
        return said
    values = None if arguments is None else _values(arguments)
    if values is None:
        return WITHHELD
    for value in values:
        said = said.replace(value, WORD)
    for value in values:
        said = _without_beginning(said, value)
    return said


def _values(arguments: str) -> list[str] | None:
    """What to look for, the longest first; None where it is too much."""
    found: set[str] = set()
    for text in _texts(orjson.loads(arguments)):
        if len(text) < VALUE_MIN:
            continue
        found |= {text, orjson.dumps(text).decode()[1:-1]}
        found |= {part for part in _PARTS.findall(text) if len(part) >= PART_MIN and re.search(r"\d", part)}
        if len(found) > VALUES_MAX:
            return None
    return sorted(found, key=len, reverse=True)


def _texts(value: Any) -> Iterator[str]:
    pending: list[Any] = [value]
    while pending:
        node = pending.pop()
        match node:
            case str():
                yield node
            case dict():
                pending.extend(cast("dict[str, Any]", node).values())
            case list():
                pending.extend(cast("list[Any]", node))
            case int() | float() if not isinstance(node, bool):
                yield orjson.dumps(node).decode()
            case _:
                pass


def _without_beginning(said: str, value: str) -> str:
    """Without the first part of a value at the end, where a text was cut inside it."""
    for size in range(min(len(value), len(said)), VALUE_MIN - 1, -1):
        if said.endswith(value[:size]):
            return said[: len(said) - size] + WORD
    return said
