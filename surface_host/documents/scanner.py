"""Phases 0 and 1: bytes and objects become plain JSON, or the first fault is named.

The happy path is the native reader and one pass over what it read. Whatever it doubts, the exact scanner reads again,
by itself and without recursion; its word is final, so the native path need not know where a fault is, nor why.

What comes out holds dicts, lists, texts, booleans, None, ints within ±(2^53 - 1), and floats that are not whole.
"""

import json
from itertools import chain
from typing import Any, Final, NamedTuple, cast

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
    return _sized(_natively(text) or _written(read_text(text)), max_bytes)


def assert_safe_json(value: object, *, max_bytes: int = LIMITS["bytes"]) -> Scanned:
    """An independent copy of a value that is plain JSON (rules H1). No method of the value runs.

    Raises:
        Refused: the first fault of phase 1.
    """
    text = _ENCODER.encode(value) if _is_tree(value) and _is_vouched_for(value) else None
    return _sized((text and _natively(text)) or _written(read_value(value)), max_bytes)


def _written(value: Any) -> Scanned:
    return Scanned(value, canonical(value))


def _sized(scanned: Scanned, max_bytes: int) -> Scanned:
    if len(scanned.canonical) > max_bytes:
        raise refused(DocumentCode.TOO_LARGE, "", f"more than {max_bytes} bytes in canonical form")
    return scanned


# ---- the native path ---------------------------------------------------------------------------------------------


def _natively(text: str) -> Scanned | None:
    """What the native reader makes of a text; None where there is doubt."""
    try:
        value = _NATIVE.decode(text)
        _vouch(value)
        # Half of a surrogate pair shows when it is encoded.
        return _written(value)
    except (ValueError, RecursionError):
        return None


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


def _is_vouched_for(value: Any) -> bool:
    try:
        _vouch(value)
    except _Doubt:
        return False
    return True


def _vouch(value: Any) -> None:
    """Doubt a value that may break a limit of phase 1; halves of surrogate pairs are not looked for."""
    keys: set[str] = set()
    count = 0
    level: list[Any] = [value]
    for _ in range(_DEPTH + 2):
        count += len(level)
        containers = _containers_among(level)
        if not containers:
            break
        level = []
        for container in containers:
            if isinstance(container, dict):
                members = cast("dict[str, Any]", container)
                if len(members) > _KEYS:
                    raise _Doubt
                keys.update(members)
                level += members.values()
            else:
                if len(container) > _ITEMS:
                    raise _Doubt
                level += container
    else:
        raise _Doubt
    if count > _VALUES or not keys.isdisjoint(RESERVED_KEYS) or max(map(len, keys), default=0) > _SHORT:
        raise _Doubt


_SHORT: Final = _STRING // 2
"""Characters of a text that fits whatever it holds."""


def _containers_among(items: list[Any]) -> list[Any]:
    containers: list[Any] = []
    for item in items:
        kind = cast("object", type(item))
        if kind is str:
            if len(item) > _SHORT and units(item) > _STRING:
                raise _Doubt
        elif kind is dict or kind is list:
            containers.append(item)
        elif kind is int or kind is float:
            if not -_INTEGER <= item <= _INTEGER:
                raise _Doubt
        elif kind is not bool and item is not None:
            raise _Doubt
    return containers


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
