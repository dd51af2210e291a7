"""One pass of writing a schema in the subset every client takes. `capabilities.portable` decides how deep.

INVARIANT: whatever the declared schema accepts inside a property, the published one accepts. So rules are left
out, never sharpened: `oneOf` over loosened alternatives would refuse what fits two, hence it becomes `anyOf`;
`not` and `if` over loosened schemas would refuse more, hence they go.
"""

import re
from collections import deque
from typing import Any, Final, NamedTuple, cast

from capabilities.json_values import Path
from capabilities.schemas.document import SchemaDocument, references

DESCRIPTION_BYTES: Final = 2_048
"""UTF-8 bytes of a description; clients cut longer ones."""

PROPERTY_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""Names the APIs of models take for properties."""

_SECOND_LEVEL: Final = 2
"""How often a schema may stand within itself."""

_VARIANTS_SHOWN: Final = 8
"""Alternative declarations of one root property that are listed."""

_KEPT: Final = frozenset(
    {
        "enum", "const", "default", "examples", "format", "deprecated", "readOnly", "writeOnly",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip
"""Keywords copied as they are."""

_NOTES: Final = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"})
"""Keywords that refuse nothing."""

_PLAIN_PATTERN: Final = re.compile(
    r"(?:[^\\(\[]|\\[dDwWsSbB.*+?^$()\[\]{}|/\\-]|\((?!\?)|\(\?:|\[\^?(?:[^\\\[\]&]|\\[dDwWsS.\\/\]^-])+\])*"
)
"""Patterns that mean the same to the native engine and to ECMAScript."""


class TooMuch(Exception):
    """The pass would write more schemas than allowed."""


class _Part(NamedTuple):
    """A schema applied to the arguments as a whole; `always`, or only in one alternative."""

    path: Path
    always: bool


class Publisher:
    """One pass over one document, at most `max_depth` schemas deep and `max_schemas` in number."""

    def __init__(self, document: SchemaDocument, *, max_depth: int, max_schemas: int) -> None:
        """Start a pass."""
        self._document = document
        self._max_depth = max_depth
        self._left = max_schemas

    def root(self) -> dict[str, Any]:
        """Write the whole: an object with properties and nothing that branches.

        Raises:
            TooMuch: the limit of schemas is reached.
        """
        parts = self._parts()
        declared, required = self._declared(parts)
        whole = self._document.root
        published: dict[str, Any] = {"type": "object", **_notes(whole)}
        properties = {name: self._variants(paths) for name, paths in declared.items() if _is_portable(name)}
        for name in filter(_is_portable, required):
            properties.setdefault(name, {})
        published["properties"] = properties
        if names := [name for name in required if name in properties]:
            published["required"] = names
        hidden = sum(not _is_portable(name) for name in {**declared, **dict.fromkeys(required)})
        if len(parts) == 1:
            published |= self._rest_of_object(whole, ((),), hidden)
        _add_note(published, hidden, further=len(parts) > 1)
        return published

    def _parts(self) -> list[_Part]:
        """All schemas applied to the whole, the root first; `not` and `if` only ask."""
        parts: dict[_Part, None] = {}
        pending = deque([_Part((), always=True)])
        while pending:
            part = pending.popleft()
            if part in parts:
                continue
            parts[part] = None
            rules = self._document.rules(part.path)
            if isinstance(rules, bool):
                continue
            pending.extend(
                _Part(self._document.resolve(reference, part.path), part.always) for _, reference in references(rules)
            )
            pending.extend(_Part((*part.path, "allOf", i), part.always) for i in range(len(rules.get("allOf", ()))))
            for keyword in ("anyOf", "oneOf"):
                pending.extend(_Part((*part.path, keyword, i), False) for i in range(len(rules.get(keyword, ()))))
            pending.extend(_Part((*part.path, keyword), False) for keyword in ("then", "else") if keyword in rules)
            for keyword in ("dependentSchemas", "dependencies"):
                pending.extend(
                    _Part((*part.path, keyword, name), False)
                    for name, inner in rules.get(keyword, {}).items()
                    if isinstance(inner, dict)
                )
        return list(parts)

    def _declared(self, parts: list[_Part]) -> tuple[dict[str, list[Path]], list[str]]:
        always: dict[str, list[Path]] = {}
        sometimes: dict[str, list[Path]] = {}
        required: dict[str, None] = {}
        for part in parts:
            rules = self._document.rules(part.path)
            if isinstance(rules, bool):
                continue
            for name in rules.get("properties", ()):
                paths = always if part.always else sometimes
                paths.setdefault(name, []).append((*part.path, "properties", name))
            if part.always:
                required |= dict.fromkeys(rules.get("required", ()))
        # What always holds says enough; only without it the alternatives are listed.
        first = {name: paths[:1] for name, paths in always.items()}
        return {**first, **{name: paths for name, paths in sometimes.items() if name not in first}}, list(required)

    def _variants(self, paths: list[Path]) -> dict[str, Any]:
        variants: list[dict[str, Any]] = []
        for path in paths:
            variant = self._write(path, ((),))
            if variant is not None and variant not in variants:
                variants.append(variant)
        if len(variants) == 1:
            return variants[0]
        if not variants or {} in variants or len(variants) > _VARIANTS_SHOWN:
            return {}
        return {"anyOf": variants}

    def _write(self, path: Path, within: tuple[Path, ...]) -> dict[str, Any] | None:
        """Write one schema; None stands for one that accepts nothing."""
        self._left -= 1
        if self._left < 0:
            raise TooMuch
        rules = self._document.rules(path)
        if isinstance(rules, bool):
            return {} if rules else None
        if within.count(path) >= _SECOND_LEVEL or len(within) > self._max_depth:
            return _cut(rules)
        within = (*within, path)
        named = [self._document.resolve(reference, path) for _, reference in references(rules)]
        own = self._own(rules, path, within)
        return _joined([self._write(target, within) for target in named], own)

    def _own(self, rules: dict[str, Any], path: Path, within: tuple[Path, ...]) -> dict[str, Any]:
        own = _notes(rules) | {keyword: rules[keyword] for keyword in rules if keyword in _KEPT}
        pattern = rules.get("pattern")
        if isinstance(pattern, str) and _PLAIN_PATTERN.fullmatch(pattern):
            own["pattern"] = pattern
        own |= self._combined(rules, path, within)
        own |= _type(rules, own)
        own |= self._items(rules, path, within)
        hidden = sum(not _is_portable(name) for name in rules.get("properties", ()))
        own |= self._object(rules, path, within, hidden)
        _add_note(own, hidden, further=False)
        return own

    def _combined(self, rules: dict[str, Any], path: Path, within: tuple[Path, ...]) -> dict[str, Any]:
        combined: dict[str, Any] = {}
        for keyword in ("anyOf", "oneOf"):
            written = [self._write((*path, keyword, i), within) for i in range(len(rules.get(keyword, ())))]
            branches = [branch for branch in written if branch is not None]
            if branches and {} not in branches and "anyOf" not in combined:
                combined["anyOf"] = branches
        written = [self._write((*path, "allOf", i), within) for i in range(len(rules.get("allOf", ())))]
        if branches := [branch for branch in written if branch]:
            combined["allOf"] = branches
        return combined

    def _object(self, rules: dict[str, Any], path: Path, within: tuple[Path, ...], hidden: int) -> dict[str, Any]:
        declared: dict[str, Any] = rules.get("properties", {})
        written = {name: self._write((*path, "properties", name), within) for name in declared if _is_portable(name)}
        properties = {name: schema for name, schema in written.items() if schema is not None}
        names = [name for name in rules.get("required", ()) if name in properties]
        published: dict[str, Any] = {"properties": properties} if properties else {}
        if names:
            published["required"] = names
        return published | self._rest_of_object(rules, within, hidden)

    def _rest_of_object(self, rules: dict[str, Any], within: tuple[Path, ...], hidden: int) -> dict[str, Any]:
        """What may be said of other properties, if all that are declared are shown."""
        if hidden or rules.get("patternProperties") or "additionalProperties" not in rules:
            return {}
        if rules["additionalProperties"] is False:
            return {"additionalProperties": False}
        rest = self._write((*within[-1], "additionalProperties"), within)
        return {"additionalProperties": rest} if rest else {}

    def _items(self, rules: dict[str, Any], path: Path, within: tuple[Path, ...]) -> dict[str, Any]:
        in_order = "items" if isinstance(rules.get("items"), list) else "prefixItems"
        rest = "additionalItems" if in_order == "items" else "items"
        places: list[Path] = [(*path, in_order, index) for index in range(len(rules.get(in_order, ())))]
        if rest not in rules:
            return {}
        written = [self._write(place, within) for place in [*places, (*path, rest)]]
        kinds = [kind for kind in written if kind is not None]
        if not kinds or {} in kinds:
            return {}
        distinct = [kind for index, kind in enumerate(kinds) if kind not in kinds[:index]]
        return {"items": distinct[0] if len(distinct) == 1 else {"anyOf": distinct}}


def _is_portable(name: str) -> bool:
    return PROPERTY_NAME.fullmatch(name) is not None


def _joined(targets: list[dict[str, Any] | None], own: dict[str, Any]) -> dict[str, Any] | None:
    """What a schema and those it refers to say together."""
    if None in targets:
        return None
    named = [target for target in targets if target]
    if len(named) == 1 and (_NOTES.issuperset(own) or own.keys().isdisjoint(named[0].keys() - _NOTES)):
        return named[0] | own
    if not named:
        return own
    return own | {"allOf": [*own.get("allOf", []), *named]}


def _type(rules: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    kind = rules.get("type")
    if isinstance(kind, str):
        return {"type": kind}
    if isinstance(kind, list):
        kinds = cast("list[str]", kind)
        if len(kinds) == 1:
            return {"type": kinds[0]}
        if "anyOf" not in own:
            return {"anyOf": [{"type": name} for name in kinds]}
    return {}


def _cut(rules: dict[str, Any]) -> dict[str, Any]:
    kind = rules.get("type")
    return {"type": kind} if isinstance(kind, str) else {}


def _notes(rules: dict[str, Any]) -> dict[str, Any]:
    return {
        keyword: _text(rules[keyword]) if keyword in ("title", "description") else rules[keyword]
        for keyword in rules
        if keyword in _NOTES
    }


def _text(text: str) -> str:
    data = text.encode()
    return text if len(data) <= DESCRIPTION_BYTES else data[: DESCRIPTION_BYTES - 3].decode(errors="ignore") + "…"


def _add_note(published: dict[str, Any], hidden: int, *, further: bool) -> None:
    notes: list[str] = []
    if hidden:
        notes.append(f"Takes {hidden} more properties whose names cannot be listed here; see gateway_describe.")
    if further:
        notes.append("Further rules join these properties; see gateway_describe.")
    if notes:
        note = " ".join(notes)
        said = published.get("description", "")
        room = DESCRIPTION_BYTES - len(note.encode()) - 4
        if len(said.encode()) > room:
            said = said.encode()[:room].decode(errors="ignore") + "…"
        published["description"] = f"{said} {note}".strip()
