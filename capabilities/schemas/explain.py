"""Where a value breaks an accepted schema, and which rule.

The native library can say this too, but its account of nested alternatives grows with every level: seconds for
ten levels of five. Its yes or no is always fast, so this walks down with yes or no, within a budget of steps.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

import jsonschema_rs

from capabilities.json_values import Path
from capabilities.schemas.document import SchemaDocument, references
from capabilities.schemas.native import Parts, compile_native
from capabilities.schemas.words import words_of

STEPS: Final = 200
"""Schemas looked at for one explanation; then it names the place reached."""

_ALTERNATIVES_WITHIN: Final = 8
"""How many alternatives within alternatives are explained."""

_ALTERNATIVES_SHOWN: Final = 4

_OWN_RULES: Final = frozenset(
    {
        "type", "enum", "const", "required", "dependentRequired", "format",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength", "maxLength", "pattern", "contentEncoding", "contentMediaType",
        "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip
"""Rules that look into no other schema."""

_LAST_RULES: Final = (
    "not",
    "contains",
    "propertyNames",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "items",
    "additionalItems",
)
"""Rules that are named only, in the order they are suspected when nothing else is broken."""

_VAGUE: Final = "does not fit the declared schema"


class Broken(NamedTuple):
    """The steps to a part of the value, and what is wrong with it."""

    path: Path
    reason: str


class _Place(NamedTuple):
    """A schema and the part of the value it is applied to."""

    schema: Path
    value: Any
    path: Path


class Explainer:
    """Explains refusals of one schema; made when the first value is refused."""

    def __init__(self, document: SchemaDocument) -> None:
        """Take an accepted schema."""
        self._document = document
        self._parts = Parts(document.root, document.dialect)

    def explain(self, value: Any) -> Broken:
        """Say what is wrong with a value the schema refuses."""
        return _Walk(self._document, self._parts).explain(_Place((), value, ()), within=0)


class _Walk:
    """One explanation: the budget is its only state."""

    def __init__(self, document: SchemaDocument, parts: Parts) -> None:
        self._document = document
        self._parts = parts
        self._steps = STEPS

    def explain(self, place: _Place, *, within: int) -> Broken:
        while self._steps > 0:
            self._steps -= 1
            rules = self._document.rules(place.schema)
            if isinstance(rules, bool):
                return Broken(place.path, "is not allowed here")
            broken = self._own_rule(rules, place)
            if broken is not None:
                return broken
            inner = next((p for p in _applied(self._document, rules, place, self._fits) if not self._fits(p)), None)
            if inner is None:
                return self._alternatives(rules, place, within)
            place = inner
        return Broken(place.path, _VAGUE)

    def _fits(self, place: _Place) -> bool:
        return self._parts.accepts(place.schema, place.value)

    def _own_rule(self, rules: dict[str, Any], place: _Place) -> Broken | None:
        own: dict[str, Any] = {keyword: rules[keyword] for keyword in rules if keyword in _OWN_RULES}
        if rules.get("additionalProperties") is False:
            own |= {"additionalProperties": False}
            for keyword in ("properties", "patternProperties"):
                own[keyword] = dict.fromkeys(rules.get(keyword, ()), True)
        if not own:
            return None
        own["$schema"] = self._document.dialect
        error = next(compile_native(own).iter_errors(place.value), None)
        if error is None:
            return None
        match error.kind:
            case jsonschema_rs.ValidationErrorKind.AdditionalProperties(unexpected):
                return Broken((*place.path, unexpected[0]), words_of(error))
            case _:
                return Broken(place.path, words_of(error))

    def _alternatives(self, rules: dict[str, Any], place: _Place, within: int) -> Broken:
        for keyword in ("anyOf", "oneOf"):
            places = [
                place._replace(schema=(*place.schema, keyword, index)) for index in range(len(rules.get(keyword, ())))
            ]
            fitting = sum(map(self._fits, places))
            if places and fitting == 0:
                return self._none_fits(places, place.path, within)
            if keyword == "oneOf" and fitting > 1:
                return Broken(place.path, "fits more than one alternative of `oneOf`")
        suspect = next((keyword for keyword in _LAST_RULES if keyword in rules), None)
        return Broken(place.path, f"breaks the rule `{suspect}`" if suspect else _VAGUE)

    def _none_fits(self, places: list[_Place], path: Path, within: int) -> Broken:
        if within >= _ALTERNATIVES_WITHIN:
            return Broken(path, "fits none of the alternatives")
        branches = [self.explain(place, within=within + 1) for place in places]
        furthest = max(len(branch.path) for branch in branches)
        best = [branch for branch in branches if len(branch.path) == furthest]
        # The alternative that got furthest is the one that was meant, if there is one.
        if len(best) == 1:
            return best[0]
        if furthest > len(path) or len(branches) > _ALTERNATIVES_SHOWN:
            return Broken(path, f"fits none of the {len(branches)} alternatives")
        return Broken(path, "fits none of the alternatives: " + "; or ".join(b.reason for b in branches))


def _applied(document: SchemaDocument, rules: dict[str, Any], place: _Place, fits: Any) -> Iterator[_Place]:
    """Every schema that must hold because `rules` do, with what it is applied to."""

    def inside(*steps: str | int) -> _Place:
        return place._replace(schema=place.schema + steps)

    for keyword, reference in references(rules):
        yield place._replace(schema=document.resolve(reference, (*place.schema, keyword)))
    for index in range(len(rules.get("allOf", ()))):
        yield inside("allOf", index)
    if "if" in rules:
        branch = "then" if fits(inside("if")) else "else"
        if branch in rules:
            yield inside(branch)
    if isinstance(place.value, dict):
        yield from _of_object(rules, place)
    elif isinstance(place.value, list):
        yield from _of_array(rules, place)


def _of_object(rules: dict[str, Any], place: _Place) -> Iterator[_Place]:
    value = cast("dict[str, Any]", place.value)
    for keyword in ("dependentSchemas", "dependencies"):
        for name, inner in rules.get(keyword, {}).items():
            if name in value and isinstance(inner, dict | bool):
                yield place._replace(schema=(*place.schema, keyword, name))
    properties: dict[str, Any] = rules.get("properties", {})
    # What tells alternatives apart comes first, so that a wrong branch is left early.
    for name in sorted(properties, key=lambda name: not _is_discriminator(properties[name])):
        if name in value:
            yield _Place((*place.schema, "properties", name), value[name], (*place.path, name))
    patterns: dict[str, Any] = rules.get("patternProperties", {})
    for name, item in value.items():
        matching = [pattern for pattern in patterns if _compiled_pattern(pattern).is_valid(name)]
        for pattern in matching:
            yield _Place((*place.schema, "patternProperties", pattern), item, (*place.path, name))
        if "additionalProperties" in rules and name not in properties and not matching:
            yield _Place((*place.schema, "additionalProperties"), item, (*place.path, name))


def _of_array(rules: dict[str, Any], place: _Place) -> Iterator[_Place]:
    value = cast("list[Any]", place.value)
    in_order = "items" if isinstance(rules.get("items"), list) else "prefixItems"
    rest = "additionalItems" if in_order == "items" else "items"
    count = len(rules.get(in_order, ()))
    for index, item in enumerate(value):
        if index < count:
            yield _Place((*place.schema, in_order, index), item, (*place.path, index))
        elif rest in rules:
            yield _Place((*place.schema, rest), item, (*place.path, index))


def _is_discriminator(schema: Any) -> bool:
    return isinstance(schema, dict) and ("const" in schema or "enum" in schema)


@lru_cache(maxsize=256)
def _compiled_pattern(pattern: str) -> jsonschema_rs.Validator:
    return compile_native({"pattern": pattern})
