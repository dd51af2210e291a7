"""Writes what is made from the table of UI documents: the data the TypeScript half reads, and the JSON Schema.

`scripts/docs.py` calls both. The schema is for editors and models: what it refuses is refused by the gateway too, and
the gateway refuses more (references, types, domains, budgets, duplicate keys).
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final, cast

from surface_host.documents import table
from surface_host.documents.codes import DocumentCode
from surface_host.documents.table import Member

Schema = dict[str, Any]

_NOTE: Final = (
    "Written by scripts/docs.py from surface_host/documents/table.py, whose docstring is the norm; do not edit."
)

_TABLES: Final = (
    "PROTOCOL", "VERSIONS", "LIMITS", "RESERVED_KEYS", "REFUSED_IDS", "ID_PATTERN", "NAME_PATTERN", "DOCUMENT", "NODE",
    "FIELDS", "ACTIONS", "ACTIONS_SINCE", "EXPRESSIONS", "COMPONENTS", "INPUT_KINDS", "OPERATORS", "PATCH",
)  # fmt: skip


# ---- TypeScript ---------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """The value as JSON, without what is not set."""
    if is_dataclass(value):
        pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {name: _plain(item) for name, item in pairs if item is not None and item != ()}
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value)
        return {key: _plain(item) for key, item in items.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[Any, ...]", value)]
    return value.value if isinstance(value, Enum) else value


def typescript() -> str:
    """surface_host/src/documents/table.ts."""
    tables = ((name, _plain(getattr(table, name))) for name in _TABLES)
    codes = {code.value: {"phase": code.phase, "means": code.means} for code in DocumentCode}
    parts = [f"export const {name} = {_written(value)} as const;\n" for name, value in (*tables, ("CODES", codes))]
    return "\n".join([f"/** {_NOTE} */\n", *parts])


def _written(value: Any, indent: int = 0) -> str:
    """JSON, one line where it is short."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= 110 or not isinstance(value, dict):
        return line
    inner = " " * (indent + 2)
    items = cast("dict[str, Any]", value)
    rows = [f"{inner}{json.dumps(key)}: {_written(item, indent + 2)},\n" for key, item in items.items()]
    return "{\n" + "".join(rows) + " " * indent + "}"


# ---- JSON Schema --------------------------------------------------------------------------------------------------


def schema() -> str:
    """docs/spec/ui-document.schema.json: 2020-12, `if`/`then` by type and never a long `oneOf`."""
    return json.dumps(_document(), indent=2, sort_keys=True) + "\n"


def _document() -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "UI document",
        "description": _NOTE,
        **_closed(table.DOCUMENT),
        "$defs": {
            "id": {"type": "string", "pattern": f"^{table.ID_PATTERN}$", "not": {"enum": list(table.REFUSED_IDS)}},
            "expr": _expr(),
            "field": _by("type", {name: _closed(members) for name, members in table.FIELDS.items()}),
            "action": _by("type", {name: _closed(members) for name, members in table.ACTIONS.items()}),
            "node": _node(),
            **{f"props.{name}": _closed(part.props) for name, part in table.COMPONENTS.items()},
        },
    }


def _closed(members: Mapping[str, Member]) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": sorted(name for name, member in members.items() if member.required),
        "properties": {name: _member(member) for name, member in members.items()},
    }


def _by(discriminator: str, shapes: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "required": [discriminator],
        "properties": {discriminator: {"enum": sorted(shapes)}},
        "allOf": [
            {"if": {"required": [discriminator], "properties": {discriminator: {"const": name}}}, "then": shape}
            for name, shape in shapes.items()
        ],
    }


def _node() -> Schema:
    node = _closed(table.NODE)
    node["properties"] |= {"type": {"enum": sorted(table.COMPONENTS)}, "props": {"type": "object"}}
    node["allOf"] = [
        {"if": {"required": ["type"], "properties": {"type": {"const": name}}}, "then": _of_component(name)}
        for name in table.COMPONENTS
    ]
    return node


def _of_component(name: str) -> Schema:
    properties: Schema = {"props": {"$ref": f"#/$defs/props.{name}"}}
    if not table.COMPONENTS[name].children:
        properties["children"] = False
    return {"properties": properties}


def _expr() -> Schema:
    """An object is read by whether it has `op`."""
    operators: list[Schema] = [
        {
            "if": {"properties": {"op": {"const": name}}},
            "then": {"properties": {"args": {"minItems": operator.least, "maxItems": operator.most}}},
        }
        for name, operator in table.OPERATORS.items()
    ]
    decimals = {
        "if": {"properties": {"op": {"const": "round"}}},
        "then": {"properties": {"args": {"prefixItems": [True, _integer(0, 6)]}}},
    }
    operation: Schema = {
        "additionalProperties": False,
        "required": ["args", "op"],
        "properties": {
            "op": {"enum": sorted(table.OPERATORS)},
            "args": {"type": "array", "items": {"$ref": "#/$defs/expr"}},
        },
        "allOf": [*operators, decimals],
    }
    reference: Schema = {
        "additionalProperties": False,
        "required": ["ref"],
        "properties": {"ref": {"$ref": "#/$defs/id"}},
    }
    scalar = _SCALAR
    return {
        "if": {"type": "object"},
        "then": {"if": {"required": ["op"]}, "then": operation, "else": reference},
        "else": scalar,
    }


_MAGNITUDE: Final = table.LIMITS["magnitude"]
_NUMBER: Final[Schema] = {"type": "number", "minimum": -_MAGNITUDE, "maximum": _MAGNITUDE}
_SCALAR: Final[Schema] = {
    "type": ["string", "number", "boolean"],
    "maxLength": table.LIMITS["scalar"],
    "minimum": -_MAGNITUDE,
    "maximum": _MAGNITUDE,
}


def _integer(least: int | None, most: int | None) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def _members_of(member: Member) -> Schema:
    assert member.members is not None
    return _closed(member.members)


def _map(member: Member) -> Schema:
    return {
        "type": "object",
        "maxProperties": member.most,
        "propertyNames": {"$ref": "#/$defs/id"},
        "additionalProperties": {"$ref": f"#/$defs/{member.of}"},
    }


def _rows(member: Member) -> Schema:
    row = {"type": "object", "additionalProperties": {"$ref": "#/$defs/expr"}}
    return {"type": "array", "minItems": member.least, "maxItems": member.most, "items": row}


def _member(member: Member) -> Schema:
    # Lengths count UTF-16 units, JSON Schema counts code points: never more, so `maxLength` refuses nothing legal.
    # A lower bound of 1 is the same in both.
    made: Mapping[str, Any] = {
        "text": lambda: {"type": "string", "minLength": member.least, "maxLength": member.most},
        "id": lambda: {"$ref": "#/$defs/id"},
        "field": lambda: {"$ref": "#/$defs/id"},
        "action": lambda: {"$ref": "#/$defs/id"},
        "name": lambda: {"type": "string", "pattern": f"^{table.NAME_PATTERN}$"},
        "word": lambda: {"enum": list(member.words)} if member.words else {"type": "string"},
        "flag": lambda: {"type": "boolean"},
        "integer": lambda: _integer(member.least, member.most),
        "number": lambda: _NUMBER,
        "positive": lambda: {"type": "number", "exclusiveMinimum": 0, "maximum": _MAGNITUDE},
        "scalar": lambda: _SCALAR,
        "expr": lambda: {"$ref": "#/$defs/expr"},
        "list": lambda: {
            "type": "array",
            "minItems": member.least,
            "maxItems": member.most,
            "items": _members_of(member),
        },
        "rows": lambda: _rows(member),
        "ids": lambda: {
            "type": "array",
            "minItems": member.least,
            "maxItems": member.most,
            "items": {"$ref": "#/$defs/id"},
        },
        "map": lambda: _map(member),
        "node": lambda: {"$ref": "#/$defs/node"},
        "nodes": lambda: {"type": "array", "items": {"$ref": "#/$defs/node"}},
        "props": lambda: {"type": "object"},
    }
    return made[member.kind]()
