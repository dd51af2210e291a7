"""Phases 0 and 1: bytes and objects become plain JSON, or the first fault is named.

The happy path is the native reader and one pass over what it read. Whatever it doubts, the exact scanner reads again,
by itself and without recursion; its word is final, so the native path need not know where a fault is, nor why.

What comes out holds dicts, lists, texts, booleans, None, ints within ±(2^53 - 1), and floats that are not whole.
"""

import json
from itertools import chain
from typing import Any, Final, NamedTuple

from surface_host.documents.canonical import canonical
from surface_host.documents.codes import DocumentCode, refused
from surface_host.documents.exact import read_text, read_value
from surface_host.documents.pointers import units
from surface_host.documents.table import LIMITS, RESERVED_KEYS

_DEPTH: Final = LIMITS["depth"]
_VALUES: Final = LIMITS["values"]
_KEYS: Final = LIMITS["keys"]
_ITEMS: Final = LIMITS["items"]
_STRING: Final = LIMITS["string"]
_INTEGER: Final = LIMITS["integer"]


class _Doubt(ValueError):
    """The native path cannot vouch for this text."""


class Scanned(NamedTuple):
    """What was read: plain JSON, and its canonical form."""

    value: Any
    canonical: bytes


def scan(raw: bytes, *, max_bytes: int = LIMITS["bytes"]) -> Scanned:
    """Read one JSON text.

    Raises:
        Refused: the first fault of the phases 0 and 1.
    """
    if len(raw) > max_bytes:
        raise refused(DocumentCode.TOO_LARGE, "", f"more than {max_bytes} bytes")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise refused(DocumentCode.NOT_UTF8, "") from None
    try:
        value = _NATIVE.decode(text)
    except (ValueError, RecursionError):
        return _sized(read_text(text), max_bytes)
    return _sized(value if _is_fine(value) else read_text(text), max_bytes)


def assert_safe_json(value: object, *, max_bytes: int = LIMITS["bytes"]) -> Scanned:
    """An independent copy of a value that is plain JSON (rules H1). No method of the value runs.

    Raises:
        Refused: the first fault of phase 1.
    """
    copy = _NATIVE.decode(_ENCODER.encode(value)) if _is_tree(value) and _is_fine(value) else read_value(value)
    return _sized(copy, max_bytes)


def _sized(value: Any, max_bytes: int) -> Scanned:
    body = canonical(value)
    if len(body) > max_bytes:
        raise refused(DocumentCode.TOO_LARGE, "", f"more than {max_bytes} bytes in canonical form")
    return Scanned(value, body)


# ---- the native path ---------------------------------------------------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Doubt
    return made


def _fraction(digits: str) -> int | float:
    value = float(digits)
    if not value.is_integer():
        return value  # infinity too, which is doubted later
    return int(value)


def _constant(_: str) -> Any:
    raise _Doubt


_NATIVE: Final = json.JSONDecoder(object_pairs_hook=_object, parse_float=_fraction, parse_constant=_constant)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False)


_CONTAINERS: Final = frozenset({dict, list})
_NUMBERS: Final = frozenset({int, float})
_KINDS: Final[frozenset[type]] = frozenset({dict, list, str, int, float, bool, type(None)})


def _is_fine(value: Any) -> bool:
    """Whether a value keeps every limit of phase 1. It may say no to one that does."""
    keys: set[str] = set()
    texts: list[str] = []
    count = 0
    level: list[Any] = [value]
    for _ in range(_DEPTH + 2):
        count += len(level)
        if not _KINDS.issuperset(map(type, level)) or count > _VALUES:
            return False
        if not all(-_INTEGER <= number <= _INTEGER for number in level if type(number) in _NUMBERS):
            return False
        texts += [item for item in level if type(item) is str]
        objects: list[dict[str, Any]] = [item for item in level if type(item) is dict]
        arrays: list[list[Any]] = [item for item in level if type(item) is list]
        if not objects and not arrays:
            return _are_fine(keys, texts)
        if max(map(len, objects), default=0) > _KEYS or max(map(len, arrays), default=0) > _ITEMS:
            return False
        keys.update(*objects)
        level = [*chain.from_iterable(item.values() for item in objects), *chain.from_iterable(arrays)]
    return False


def _are_fine(keys: set[str], texts: list[str]) -> bool:
    if not keys.isdisjoint(RESERVED_KEYS):
        return False
    everything = "".join(chain(keys, texts))
    try:
        everything.encode()
    except UnicodeEncodeError:
        return False
    # A text of at most half the limit fits whatever it holds.
    return all(len(text) <= _STRING // 2 or units(text) <= _STRING for text in chain(keys, texts))


def _is_tree(value: object) -> bool:
    """Whether no container occurs twice and all keys are texts. Types are for `_is_fine` to judge."""
    seen: set[int] = set()
    level: list[Any] = [value]
    while level and len(seen) <= _VALUES:
        containers = [item for item in level if type(item) in _CONTAINERS]
        ids = set(map(id, containers))
        if len(ids) != len(containers) or not seen.isdisjoint(ids):
            return False
        seen |= ids
        objects: list[dict[Any, Any]] = [item for item in containers if type(item) is dict]
        if not {str}.issuperset(map(type, chain.from_iterable(objects))):
            return False
        arrays: list[list[Any]] = [item for item in containers if type(item) is list]
        level = [*chain.from_iterable(item.values() for item in objects), *chain.from_iterable(arrays)]
    return not level
