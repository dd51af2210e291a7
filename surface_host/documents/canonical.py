"""Canonical JSON (RFC 8785) of values the scanner let through, and its SHA-256."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from surface_host.documents.numbers import text_of

_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_SMALL_NUMBER: Final = re.compile(r"[0-9]e-")
_WIDE: Final = re.compile("[\U00010000-\U0010ffff]")


def canonical(value: Any) -> bytes:
    """The canonical form of plain JSON: dicts, lists, text, bool, None, and finite numbers.

    Raises:
        UnicodeEncodeError: a text holds half of a surrogate pair.
    """
    text = _ENCODER.encode(value)
    if _is_spelled_otherwise(text, value):
        text = "".join(_pieces(value))
    return text.encode()


def sha256_of(body: bytes) -> str:
    """The digest in lower-case hex."""
    return hashlib.sha256(body).hexdigest()


def _is_spelled_otherwise(text: str, value: Any) -> bool:
    """Whether Python's spelling may differ: of small numbers, and the order of keys beyond U+FFFF."""
    if "e-" in text and _SMALL_NUMBER.search(text):
        return True
    return not text.isascii() and _WIDE.search(text) is not None and _has_wide_key(value)


def _has_wide_key(value: Any) -> bool:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return bool(_WIDE.search("".join(members))) or any(map(_has_wide_key, members.values()))
    return isinstance(value, list) and any(map(_has_wide_key, cast("list[Any]", value)))


def _pieces(value: Any) -> list[str]:
    pieces: list[str] = []
    _write(value, pieces)
    return pieces


def _write(value: Any, pieces: list[str]) -> None:
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        opening = "{"
        for key in sorted(members, key=_utf16):
            pieces.append(f"{opening}{_ENCODER.encode(key)}:")
            _write(members[key], pieces)
            opening = ","
        pieces.append("{}" if opening == "{" else "}")
    elif isinstance(value, list | tuple):
        opening = "["
        for item in cast("list[Any]", value):
            pieces.append(opening)
            _write(item, pieces)
            opening = ","
        pieces.append("[]" if opening == "[" else "]")
    elif isinstance(value, float):
        pieces.append(text_of(value))
    else:
        pieces.append(_ENCODER.encode(value))


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")
