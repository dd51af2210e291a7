"""What MCP clients see of a capability: a name they accept and a schema they can read.

Clients and the models behind them take less than JSON Schema says: no branching at the root, no references, no
names with dots. So they get a looser picture; the declared schema is in `gateway_describe` and judges the call.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import orjson

from capabilities.schemas.document import open_document
from capabilities.schemas.publish import DESCRIPTION_BYTES, Publisher, TooMuch
from capabilities.schemas.refusal import SchemaRefused

__all__ = ["DESCRIPTION_BYTES", "PORTABLE_BYTES", "TOOL_NAME_MAX", "portable_schema", "tool_name"]

PORTABLE_BYTES: Final = 32_768
"""The largest published schema, as compact JSON."""

TOOL_NAME_MAX: Final = 40
"""Characters; clients put their own prefix before it and stop at 64."""

_SCHEMAS: Final = 4_000
"""Schemas one pass may write."""

_DEPTHS: Final = (40, 16, 8, 4, 2, 1)
"""Schemas within schemas a pass writes; the next one is taken where a pass writes too much."""

_ACCEPTED_BYTES: Final = 2**20
_ACCEPTED_DEPTH: Final = 64

_UNREADABLE: Final = "See gateway_describe for the properties."

_CUT_TO: Final = 31
_DIGITS: Final = 8
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_]")
_LOOKS_CUT: Final = re.compile(r".*_[0-9A-Fa-f]{8}", re.DOTALL)


def portable_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Publish a schema that `judge_schema` accepted.

    The answer is `{"type": "object", "properties": …}` with no combinator at its root, no reference, no list of
    types; a schema within itself is written twice, then cut; properties outside `[A-Za-z0-9_.-]{1,64}` are left
    out and counted in a description; descriptions take at most 2 KiB, all of it at most `PORTABLE_BYTES`.
    Properties of the root's alternatives are shown at the root; nothing is required that was not. Never raises.
    """
    try:
        document = open_document(dict(schema), max_bytes=_ACCEPTED_BYTES, max_depth=_ACCEPTED_DEPTH)
        for depth in _DEPTHS:
            published = _published(Publisher(document, max_depth=depth, max_schemas=_SCHEMAS))
            if published is not None:
                return published
    except SchemaRefused:
        pass  # nobody judged it; the call is judged all the same
    return {"type": "object", "properties": {}, "description": _UNREADABLE}


def _published(publisher: Publisher) -> dict[str, Any] | None:
    try:
        published = publisher.root()
    except TooMuch:
        return None
    return published if len(orjson.dumps(published)) <= PORTABLE_BYTES else None


def tool_name(capability_id: str, site: str | None = None) -> str:
    """The MCP name of a capability, at most 40 of `[A-Za-z0-9_]` (design §11).

    `site` is given when the session reaches several. Two ids have one name only if 32 bits of SHA-256 collide.
    """
    whole = capability_id if site is None else f"{site}.{capability_id}"
    plain = whole.replace(".", "_")
    first, *others = whole.split(".")
    is_plain = len(others) == 1 and "_" not in first and _NOT_IN_NAMES.search(plain) is None
    if is_plain and len(plain) <= TOOL_NAME_MAX and not _LOOKS_CUT.fullmatch(plain):
        return plain
    cleaned = _NOT_IN_NAMES.sub("_", whole)[:_CUT_TO]
    return f"{cleaned}_{sha256(whole.encode()).hexdigest()[:_DIGITS]}"
