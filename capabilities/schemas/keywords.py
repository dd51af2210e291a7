"""Where a schema holds other schemas, and what each is applied to.

The two dialects are read as one: a keyword only the other knows is walked too, which errs on the safe side.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, NamedTuple, cast

from capabilities.json_values import Path

DRAFT_7: Final = "http://json-schema.org/draft-07/schema"
DRAFT_2020_12: Final = "https://json-schema.org/draft/2020-12/schema"

REFERENCES: Final = ("$ref", "$dynamicRef")

_HERE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
_BELOW: Final = frozenset(
    {
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "unevaluatedProperties",
        "items",
        "prefixItems",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "contentSchema",
    }
)
_HELD: Final = frozenset({"$defs", "definitions"})
_MAPS: Final = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"}
)

_OTHER: Final = frozenset(
    {
        "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$comment",
        "type", "enum", "const", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType",
        "minItems", "maxItems", "uniqueItems", "minContains", "maxContains",
        "minProperties", "maxProperties", "required", "dependentRequired",
    }
)  # fmt: skip


class Applied(Enum):
    """To what a subschema is applied."""

    HERE = "the same value"
    BELOW = "a part of the value"
    HELD = "nothing, until a reference names it"


class Subschema(NamedTuple):
    """One schema inside another; `member` is the property it speaks of, if it is exactly one."""

    applied: Applied
    path: Path
    schema: Any
    member: str | None = None


def subschemas(schema: dict[str, Any]) -> Iterator[Subschema]:
    """All schemas one step inside `schema`, in document order, with the steps to each."""
    for keyword, value in schema.items():
        applied = _applied(keyword)
        if applied is None:
            continue
        for path, inner in _of_keyword(keyword, value):
            member = str(path[-1]) if keyword == "properties" else None
            yield Subschema(applied, path, inner, member)


def _applied(keyword: str) -> Applied | None:
    if keyword in _HERE:
        return Applied.HERE
    if keyword in _BELOW:
        return Applied.BELOW
    return Applied.HELD if keyword in _HELD else None


def _of_keyword(keyword: str, value: Any) -> Iterator[tuple[Path, Any]]:
    if keyword in _MAPS:
        if isinstance(value, dict):
            for name, inner in cast("dict[str, Any]", value).items():
                if isinstance(inner, dict | bool):
                    yield (keyword, name), inner
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield (keyword, index), inner
    else:
        yield (keyword,), value


def first_unknown_keyword(schema: Any) -> Path | None:
    """Where in an accepted schema a keyword stands that neither dialect has."""
    pending: list[tuple[Path, Any]] = [((), schema)]
    while pending:
        path, inner = pending.pop()
        if not isinstance(inner, dict):
            continue
        members = cast("dict[str, Any]", inner)
        for keyword in members:
            if keyword not in _OTHER and _applied(keyword) is None:
                return (*path, keyword)
        pending.extend((path + found.path, found.schema) for found in subschemas(members))
    return None
