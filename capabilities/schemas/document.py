"""A schema as a document: a private tree, its dialect, and what its references name. No reference leaves it."""

from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import unquote

import orjson

from capabilities.json_values import Path, find_unsafe_number, is_deeper_than, pointer_to
from capabilities.schemas.keywords import DRAFT_7, DRAFT_2020_12, REFERENCES, Subschema, subschemas
from capabilities.schemas.refusal import SchemaFault, SchemaRefused

_LEVELS_PER_SCHEMA: Final = 3
"""JSON levels a schema may take per level of schemas: keyword, name or index, and some for `enum` values."""

_DIALECTS: Final = frozenset({DRAFT_7, DRAFT_2020_12})

_ONLY_NEWER: Final = frozenset(
    {
        "prefixItems", "unevaluatedItems", "unevaluatedProperties", "dependentSchemas", "dependentRequired",
        "minContains", "maxContains",
    }
)  # fmt: skip
_ONLY_OLDER: Final = frozenset({"additionalItems"})
_BESIDE_REFERENCES: Final = frozenset({"$ref", "title", "description"})
"""In draft-07 a reference switches its neighbours off; words for people do no harm."""


@dataclass(frozen=True, slots=True)
class SchemaDocument:
    """A schema without shared parts, cycles or foreign types.

    Attributes:
        root: the tree; nobody changes it.
        dialect: one of `DRAFT_7`, `DRAFT_2020_12`.
        anchors: plain names of places, without `#`.
        places: the paths of all schemas that stand where keywords put schemas. A reference may name others.
    """

    root: dict[str, Any]
    dialect: str
    anchors: dict[str, Path]
    places: frozenset[Path]

    def resolve(self, reference: Any, at: Path) -> Path:
        """Find what a reference written at `at` names.

        Raises:
            SchemaRefused: it leaves the document, or names nothing that can be a schema.
        """
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SchemaRefused(SchemaFault.REMOTE_REF, pointer_to(at), "only `#…` references are followed")
        fragment = unquote(reference[1:])
        path = self._pointed(fragment) if fragment[:1] in ("", "/") else self.anchors.get(fragment)
        if path is None:
            raise SchemaRefused(SchemaFault.DANGLING_REF, pointer_to(at), "the reference names nothing")
        return path

    def at(self, path: Path) -> Any:
        """The schema at a path that exists."""
        found: Any = self.root
        for step in path:
            found = found[step]
        return found

    def rules(self, path: Path) -> dict[str, Any] | bool:
        """The keywords at a path that count in this dialect, or the whole verdict.

        The judge reads both dialects' keywords; whoever explains or publishes must not invent rules.
        """
        schema = self.at(path)
        if not isinstance(schema, dict):
            return bool(schema)
        rules = cast("dict[str, Any]", schema)
        if self.dialect != DRAFT_7:
            return {keyword: rules[keyword] for keyword in rules if keyword not in _ONLY_OLDER}
        if "$ref" in rules:
            return {keyword: rules[keyword] for keyword in rules if keyword in _BESIDE_REFERENCES}
        return {keyword: rules[keyword] for keyword in rules if keyword not in _ONLY_NEWER}

    def _pointed(self, fragment: str) -> Path | None:
        found: Any = self.root
        path: list[str | int] = []
        for token in fragment.split("/")[1:]:
            step: str | int = token.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = cast("dict[str, Any]", found).get(str(step))
            elif isinstance(found, list) and token.isdecimal() and token.isascii() and len(token) < 9:
                step = int(token)
                items = cast("list[Any]", found)
                found = items[step] if step < len(items) else None
            else:
                return None
            path.append(step)
        return tuple(path) if isinstance(found, dict | bool) else None


def open_document(schema: Any, *, max_bytes: int, max_depth: int) -> SchemaDocument:
    """Copy `schema` into a tree and read its names. Ends for cyclic and self-sharing objects.

    Raises:
        SchemaRefused: it is no JSON object, too large, too deep, of another dialect, or renames itself.
    """
    root = _copied(schema, max_bytes, max_depth)
    if root.get("type") != "object":
        raise SchemaRefused(SchemaFault.NOT_AN_OBJECT, "", 'the root needs `"type": "object"`')
    dialect = _dialect(root)
    anchors: dict[str, Path] = {}
    places: set[Path] = set()
    pending: list[tuple[int, Path, Any]] = [(0, (), root)]
    while pending:
        depth, path, inner = pending.pop()
        places.add(path)
        if not isinstance(inner, dict):
            continue
        if depth > max_depth:
            raise SchemaRefused(SchemaFault.TOO_DEEP, pointer_to(path), f"deeper than {max_depth} schemas")
        _read_names(cast("dict[str, Any]", inner), path, dialect, anchors)
        pending.extend((depth + 1, path + s.path, s.schema) for s in _inside(inner))
    return SchemaDocument(root, dialect, anchors, frozenset(places))


def _inside(schema: Any) -> list[Subschema]:
    return list(subschemas(cast("dict[str, Any]", schema)))[::-1]


def _copied(schema: Any, max_bytes: int, max_depth: int) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise SchemaRefused(SchemaFault.NOT_AN_OBJECT, "", "a schema with properties is an object")
    if _has_more_nodes(schema, max_bytes):
        raise SchemaRefused(SchemaFault.TOO_LARGE, "", f"more than {max_bytes} bytes")
    if is_deeper_than(schema, _LEVELS_PER_SCHEMA * max_depth):
        raise SchemaRefused(SchemaFault.TOO_DEEP, "", f"deeper than {max_depth} schemas")
    number = find_unsafe_number(schema)
    if number is not None:
        raise SchemaRefused(SchemaFault.UNSAFE_NUMBER, number.pointer, number.reason)
    try:
        text = orjson.dumps(schema)
    except TypeError:
        raise SchemaRefused(SchemaFault.NOT_JSON, "", "something in it is not JSON") from None
    if len(text) > max_bytes:
        raise SchemaRefused(SchemaFault.TOO_LARGE, "", f"more than {max_bytes} bytes")
    return orjson.loads(text)


def _has_more_nodes(schema: Any, limit: int) -> bool:
    # Every value takes a byte of text at least, so counting first bounds all that follows.
    count = 0
    pending: list[Any] = [schema]
    while pending:
        item = pending.pop()
        count += 1
        if count > limit:
            return True
        if isinstance(item, dict):
            pending.extend(cast("dict[str, Any]", item).values())
        elif isinstance(item, list):
            pending.extend(cast("list[Any]", item))
        if len(pending) > limit:
            return True
    return False


def _dialect(root: dict[str, Any]) -> str:
    declared = root.get("$schema", DRAFT_2020_12)
    dialect = declared.removesuffix("#") if isinstance(declared, str) else ""
    if dialect not in _DIALECTS:
        raise SchemaRefused(SchemaFault.UNSUPPORTED, "/$schema", "only draft-07 and 2020-12 are read")
    return dialect


def _read_names(schema: dict[str, Any], path: Path, dialect: str, anchors: dict[str, Path]) -> None:
    if path and "$schema" in schema:
        raise SchemaRefused(SchemaFault.UNSUPPORTED, pointer_to((*path, "$schema")), "only the root names a dialect")
    newer = dialect == DRAFT_2020_12
    ignored = ("$recursiveRef", "$recursiveAnchor") if newer else ("$recursiveRef", "$dynamicRef", "$anchor")
    for keyword in ignored:
        if keyword in schema:
            # The check would skip it in silence, and a skipped rule is a hole.
            raise SchemaRefused(SchemaFault.UNSUPPORTED, pointer_to((*path, keyword)), "this dialect ignores it")
    own_id = schema.get("$id")
    if isinstance(own_id, str) and own_id.startswith("#") and not newer:
        _name(own_id[1:], path, (*path, "$id"), anchors)
    elif path and own_id is not None:
        raise SchemaRefused(SchemaFault.REMOTE_REF, pointer_to((*path, "$id")), "only the root may have an `$id`")
    for keyword in ("$anchor", "$dynamicAnchor"):
        if newer and keyword in schema:
            _name(schema[keyword], path, (*path, keyword), anchors)


def _name(anchor: Any, path: Path, at: Path, anchors: dict[str, Path]) -> None:
    if not isinstance(anchor, str) or anchors.setdefault(anchor, path) != path:
        raise SchemaRefused(SchemaFault.BAD_SCHEMA, pointer_to(at), "the name is no text or is used twice")


def references(schema: dict[str, Any]) -> list[tuple[str, Any]]:
    """The references one schema makes: keyword and what it says."""
    return [(keyword, schema[keyword]) for keyword in REFERENCES if keyword in schema]
