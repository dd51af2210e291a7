"""The one reader of JSON text from outside: MCP and Surface bodies, page frames, results.

It accepts what means the same in Python and in JavaScript and refuses the rest: a repeated key, half of a
surrogate pair, a number one of the two would round. It knows nothing of what the value is for.

A first pass in native code builds the value; a second, over the value, proves what the first does not check.
Finding out *where* text is wrong is slow and happens only once it is known to be wrong.
"""

import json
import re
from typing import Any, Final, Literal, NamedTuple

import orjson

from capabilities.json_values import (
    POINTER_MAX,
    SAFE_INTEGER_MAX,
    UnsafeNumber,
    find_leaf,
    find_unsafe_number,
    is_deeper_than,
    is_unsafe_integer,
)

__all__ = [
    "MAX_DEPTH",
    "POINTER_MAX",
    "SAFE_INTEGER_MAX",
    "BadJson",
    "BadJsonCode",
    "UnsafeNumber",
    "dumps",
    "find_unsafe_number",
    "is_deeper_than",
    "parse",
]

BadJsonCode = Literal["bad_json", "unsafe_integer", "too_deep", "body_too_large"]

MAX_DEPTH: Final = 64
"""Deepest array or object unless the caller says otherwise. The root is depth 0 (seed 003): `[[]]` is 1."""

_NATIVE_DIGITS: Final = 20
"""No integer of more digits fits 64 bits; the native reader turns it into a float."""

_WIDE_INTEGER: Final = re.compile(rb"(?<![0-9.eE+\-])-?[0-9]{22,}+(?![.eE])")
"""An integer of 1e21 or more, in text without its strings."""

_Container = dict[str, Any] | list[Any]


class BadJson(ValueError):
    """Text that is not JSON both halves read alike.

    Attributes:
        code: the wire code.
        pointer: RFC 6901 pointer to the place, or to its nearest ancestor that fits `POINTER_MAX`; empty for
            the whole text and where the place is not known.
        reason: lower-case words, never a value of the text.
    """

    def __init__(self, code: BadJsonCode, pointer: str, reason: str) -> None:
        """Make the refusal; its message holds all three."""
        super().__init__(f"{code} at `{pointer}`: {reason}")
        self.code: Final = code
        self.pointer: Final = pointer
        self.reason: Final = reason


def parse(
    text: bytes | str,
    *,
    max_depth: int = MAX_DEPTH,
    max_bytes: int | None = None,
    big_integers: bool = False,
) -> Any:
    """Read one JSON value.

    A number is judged as canonical JSON would spell it: `9007199254740993.0` and `1e20` are refused like the
    integers they are, `6.02e23` passes. So what passes once passes again in canonical form.

    Args:
        text: UTF-8 without a byte order mark.
        max_depth: of arrays and objects, the root being 0; at most 1,023.
        max_bytes: of the UTF-8 text.
        big_integers: let integers of up to 64 bits through, exact, because the text holds an id that must be
            echoed digit for digit. Judge the other parts with `find_unsafe_number`.

    Raises:
        BadJson: the text is refused.
    """
    data = _encoded(text)
    if max_bytes is not None and len(data) > max_bytes:
        raise BadJson("body_too_large", "", f"more than {max_bytes} bytes")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _refusal(error) from None
    keys, far = _survey(value, max_depth)
    # Colons inside strings are rare; where there is none, counting them all is enough.
    if keys != data.count(b":") and keys != _without_strings(data).count(b":"):
        raise BadJson("bad_json", _find_reread(data, _RepeatedKey), "a key occurs twice in one object")
    if far:
        _judge_far_numbers(value, far, data, big_integers=big_integers)
    return value


def dumps(value: Any) -> bytes:
    """Write JSON as UTF-8: compact, in insertion order. A number that is not finite becomes `null`.

    Raises:
        TypeError: a value or key is not JSON, holds half of a surrogate pair, or needs more than 64 bits.
    """
    return orjson.dumps(value)


def _encoded(text: bytes | str) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise BadJson("bad_json", "", f"half of a surrogate pair at character {error.start}") from None


def _refusal(error: orjson.JSONDecodeError) -> BadJson:
    # The native reader stops at 1,024 on its own, before it builds anything.
    code: BadJsonCode = "too_deep" if error.msg.startswith("depth limit exceeded") else "bad_json"
    return BadJson(code, "", f"{error.msg.partition(':')[0].lower()} at character {error.pos}")


class _Survey(NamedTuple):
    keys: int
    far: list[int | float]


def _survey(value: Any, max_depth: int) -> _Survey:
    """Count the keys of all objects and collect the numbers that need a second look."""
    # One loop over all values, level by level: this is the hot part of every request.
    keys = 0
    far: list[int | float] = []
    level: list[_Container] = [[value]]
    for _ in range(max_depth + 2):
        below: list[_Container] = []
        for container in level:
            if isinstance(container, dict):
                keys += len(container)
            items = container.values() if isinstance(container, dict) else container
            for item in items:
                kind: object = item.__class__
                if kind is str:
                    continue
                if kind is dict or kind is list:
                    below.append(item)
                elif (kind is int or kind is float) and not -SAFE_INTEGER_MAX <= item <= SAFE_INTEGER_MAX:
                    far.append(item)
        if not below:
            return _Survey(keys, far)
        level = below
    raise BadJson("too_deep", "", f"nested deeper than {max_depth} levels")


def _without_strings(data: bytes) -> bytes:
    # Valid JSON has backslashes in strings only. Without escaped backslashes, then escaped quotes, the odd
    # pieces between quotes are the insides of strings.
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(data.split(b'"')[::2])


def _judge_far_numbers(value: Any, far: list[int | float], data: bytes, *, big_integers: bool) -> None:
    def is_refused(leaf: Any) -> bool:
        return is_unsafe_integer(leaf) and not (big_integers and type(leaf) is int)

    if any(map(is_refused, far)):
        found = find_leaf(value, is_refused)
        raise BadJson("unsafe_integer", found.pointer if found else "", "an integer beyond 2^53 - 1")
    if _WIDE_INTEGER.search(_without_strings(data)):
        raise BadJson("unsafe_integer", _find_reread(data, _WideInteger), "an integer beyond 2^53 - 1")


class _RepeatedKey:
    """Stands for the value of a key that occurs twice."""


class _WideInteger:
    """Stands for an integer the native reader cannot hold."""


def _find_reread(data: bytes, kind: type[_RepeatedKey] | type[_WideInteger]) -> str:
    """Where a thing stands that the native reader hides."""

    def make_object(pairs: list[tuple[str, Any]]) -> Any:
        made: dict[str, Any] = {}
        for key, item in pairs:
            if key in made:
                return {key: _RepeatedKey()}
            made[key] = item
        return made

    def make_integer(digits: str) -> Any:
        return _WideInteger() if len(digits.lstrip("-")) > _NATIVE_DIGITS else int(digits)

    try:
        reread = json.loads(data, object_pairs_hook=make_object, parse_int=make_integer)
    except RecursionError:  # the native reader goes deeper; a dropped value may
        return ""
    found = find_leaf(reread, lambda leaf: isinstance(leaf, kind))
    return found.pointer if found else ""
