"""Canonical JSON (RFC 8785) and digests over it. Two values with one text are one value to us."""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import orjson
import rfc8785

_SAFE_INTEGER_MAX: Final = 2**53 - 1

_MAX_DEPTH: Final = 200
"""Arrays and objects within each other: more than any document, far from the limit of the call stack."""

_TOO_DEEP: Final = f"nested deeper than {_MAX_DEPTH} levels"

Container = dict[Any, Any] | list[Any]


def canonical(value: Any) -> bytes:
    """Write `value` as RFC 8785 does: the same bytes for the same value in every language.

    Raises:
        ValueError: it has no canonical text: a number that is not finite, an integer beyond 2^53 - 1, half of
            a surrogate pair, a key that is no string, something that is not JSON, nesting beyond 200.
    """
    # INVARIANT: where `_sorts_natively` holds, both writers give the same bytes (property-tested).
    if value.__class__ is str or _sorts_natively(value):
        with suppress(orjson.JSONEncodeError):  # the careful writer says what is wrong
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    try:
        return rfc8785.dumps(value)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def canonical_own(value: dict[str, Any]) -> bytes:
    """`canonical` for an object we build ourselves: ASCII keys, no fractions.

    Raises:
        ValueError: an integer is beyond 2^53 - 1, or a text holds half of a surrogate pair.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)
    except orjson.JSONEncodeError:
        return canonical(value)


def sha256_hex(data: bytes) -> str:
    """SHA-256 of `data` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _sorts_natively(value: Any) -> bool:
    """Whether sorting keys by bytes is sorting by UTF-16, and no number needs ECMAScript's spelling."""
    level: list[Container] = [[value]]
    for _ in range(_MAX_DEPTH + 1):
        below: list[Container] = []
        for container in level:
            if isinstance(container, dict) and not _are_ascii(container):
                return False
            items = container.values() if isinstance(container, dict) else container
            for item in items:
                kind: object = item.__class__
                if kind is str or kind is bool or item is None:
                    continue
                if kind is dict or kind is list:
                    below.append(item)
                elif kind is not int or not -_SAFE_INTEGER_MAX <= item <= _SAFE_INTEGER_MAX:
                    return False
        if not below:
            return True
        level = below
    raise ValueError(_TOO_DEEP)


def _are_ascii(keys: Iterable[Any]) -> bool:
    try:
        return "".join(keys).isascii()
    except TypeError:
        return False
