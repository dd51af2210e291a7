import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.schemas.graph import MAX_APPLICATIONS, MAX_EXPANDED, MAX_SCHEMAS
from capabilities.schemas.judge import SCHEMA_DEPTH, judge_schema
from capabilities.schemas.refusal import SchemaFault, SchemaRefused

CASES = Path(__file__).parents[2] / "cases"
LIMIT = 65_536
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def fault(schema: Any, *, max_bytes: int = LIMIT) -> tuple[SchemaFault, str]:
    with pytest.raises(SchemaRefused) as caught:
        judge_schema(schema, max_bytes=max_bytes)
    assert caught.value.code == "schema_refused"
    assert caught.value.reason.startswith(caught.value.fault)
    str(caught.value).encode()
    return caught.value.fault, caught.value.pointer


def accepted(schema: Any) -> None:
    judge_schema(schema, max_bytes=LIMIT)


def obj(**keywords: Any) -> dict[str, Any]:
    return {"type": "object", **keywords}


def case(name: str) -> Any:
    return orjson.loads((CASES / name).read_bytes())


@pytest.mark.parametrize("index", range(3))
def test_the_case_of_combinators_at_the_root_is_accepted(index: int) -> None:
    accepted(case("C01/input.json")["capabilities"][index]["inputSchema"])


def test_the_case_of_references_keeps_the_good_and_names_the_bad() -> None:
    by_name = {c["name"]: c["inputSchema"] for c in case("C02/input.json")["capabilities"]}
    accepted(by_name["ok.draft07"])
    accepted(by_name["ok.into_props"])
    assert fault(by_name["bad.remote"]) == (SchemaFault.REMOTE_REF, "/properties/x/$ref")
    assert fault(by_name["bad.file"]) == (SchemaFault.REMOTE_REF, "/properties/x/$ref")
    assert fault(by_name["bad.dangling"]) == (SchemaFault.DANGLING_REF, "/properties/x/$ref")


def test_the_case_of_deep_circular_and_explosive_schemas() -> None:
    assert fault(case("C48/K-deep.json"))[0] is SchemaFault.TOO_DEEP
    assert fault(case("C48/K-cycle.json")) == (SchemaFault.CYCLE, "/$defs/A")
    assert fault(case("C48/K-bomb.json"))[0] is SchemaFault.TOO_COMPLEX
    accepted(case("C48/K-tree.json"))


def nested(levels: int) -> dict[str, Any]:
    schema = obj()
    for _ in range(levels):
        schema = obj(properties={"p": schema})
    return schema


def test_32_levels_pass_and_33_do_not() -> None:
    accepted(nested(SCHEMA_DEPTH))
    assert fault(nested(SCHEMA_DEPTH + 1))[0] is SchemaFault.TOO_DEEP
    assert fault(nested(200_000), max_bytes=2**30) == (SchemaFault.TOO_DEEP, "")


def test_size_is_that_of_the_compact_text() -> None:
    schema = obj(description="é" * 10)
    size = len(json.dumps(schema, separators=(",", ":"), ensure_ascii=False).encode())
    judge_schema(schema, max_bytes=size)
    assert fault(schema, max_bytes=size - 1) == (SchemaFault.TOO_LARGE, "")


def test_python_objects_that_hold_themselves_end() -> None:
    cycle = obj()
    cycle["properties"] = {"a": cycle, "b": cycle}
    assert fault(cycle)[0] in (SchemaFault.TOO_LARGE, SchemaFault.TOO_DEEP)
    shared: dict[str, list[Any]] = {}
    for _ in range(64):
        twice: list[Any] = [shared, shared]
        shared = {"anyOf": twice}
    assert fault(obj(not_=shared))[0] is SchemaFault.TOO_LARGE


@pytest.mark.parametrize(
    "schema",
    [True, [], None, "x", {}, {"type": "string"}, {"type": ["object", "null"]}, {"properties": {}}],
)
def test_a_root_that_is_not_for_objects_is_refused(schema: Any) -> None:
    assert fault(schema) == (SchemaFault.NOT_AN_OBJECT, "")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (obj(properties={"a": {1: 2}}), (SchemaFault.NOT_JSON, "")),
        (obj(default=object()), (SchemaFault.NOT_JSON, "")),
        (obj(title="\ud800"), (SchemaFault.NOT_JSON, "")),
        (obj(properties={"a": {"maximum": 2**53}}), (SchemaFault.UNSAFE_NUMBER, "/properties/a/maximum")),
        (obj(default=float("nan")), (SchemaFault.UNSAFE_NUMBER, "/default")),
        (obj(**{"$schema": "https://example.org/mine"}), (SchemaFault.UNSUPPORTED, "/$schema")),
        (obj(**{"$schema": "http://json-schema.org/draft-04/schema#"}), (SchemaFault.UNSUPPORTED, "/$schema")),
        (obj(**{"$schema": 7}), (SchemaFault.UNSUPPORTED, "/$schema")),
        (obj(not_={}, **{"not": {"$schema": DRAFT_7}}), (SchemaFault.UNSUPPORTED, "/not/$schema")),
        (obj(properties={"a": {"$id": "https://b.example/"}}), (SchemaFault.REMOTE_REF, "/properties/a/$id")),
        (obj(**{"$ref": "other.json"}), (SchemaFault.REMOTE_REF, "/$ref")),
        (obj(**{"$ref": 7}), (SchemaFault.REMOTE_REF, "/$ref")),
        (obj(**{"$id": "https://a.example/s", "$ref": "https://a.example/s#/$defs/a"}), (SchemaFault.REMOTE_REF, "/$ref")),
        (obj(properties={"a": {"$ref": DRAFT_7}}), (SchemaFault.REMOTE_REF, "/properties/a/$ref")),
        (obj(**{"$dynamicRef": "https://x.example/#n"}), (SchemaFault.REMOTE_REF, "/$dynamicRef")),
        (obj(**{"$dynamicRef": "#n"}), (SchemaFault.DANGLING_REF, "/$dynamicRef")),
        (obj(**{"$ref": "#gone"}), (SchemaFault.DANGLING_REF, "/$ref")),
        (obj(**{"$ref": "#/required/0", "required": ["a"]}), (SchemaFault.DANGLING_REF, "/$ref")),
        (obj(**{"$ref": "#/allOf/9", "allOf": [{}]}), (SchemaFault.DANGLING_REF, "/$ref")),
        (obj(**{"$recursiveRef": "#"}), (SchemaFault.UNSUPPORTED, "/$recursiveRef")),
        (obj(**{"$schema": DRAFT_7, "$dynamicRef": "#"}), (SchemaFault.UNSUPPORTED, "/$dynamicRef")),
        (obj(**{"$ref": "#"}), (SchemaFault.CYCLE, "")),
        (obj(**{"not": {"$ref": "#"}}), (SchemaFault.CYCLE, "")),
        (obj(**{"$dynamicAnchor": "n", "if": {"$dynamicRef": "#n"}}), (SchemaFault.CYCLE, "")),
        (obj(dependentSchemas={"a": {"$ref": "#"}}), (SchemaFault.CYCLE, "")),
        (obj(**{"$schema": DRAFT_7, "dependencies": {"a": {"$ref": "#"}}}), (SchemaFault.CYCLE, "")),
        (obj(**{"$defs": {"unused": {"$ref": "#/$defs/unused"}}}), (SchemaFault.CYCLE, "/$defs/unused")),
        (obj(properties={"a": {"$ref": "#/x/y"}}, x={"y": {"$ref": "http://h.example/"}}), (SchemaFault.REMOTE_REF, "/x/y/$ref")),
        (obj(properties={"a": {"$ref": "#/x/y"}}, x={"y": {"$id": "http://h.example/"}}), (SchemaFault.UNSUPPORTED, "/x/y")),
        (obj(properties={"a": {"type": "strin"}}), (SchemaFault.BAD_SCHEMA, "/properties/a/type")),
        (obj(properties=[]), (SchemaFault.BAD_SCHEMA, "/properties")),
        (obj(allOf=[7]), (SchemaFault.BAD_SCHEMA, "/allOf/0")),
        (obj(required=[1]), (SchemaFault.BAD_SCHEMA, "/required/0")),
        (obj(**{"$defs": {"a": {"$anchor": "n"}, "b": {"$anchor": "n"}}}), (SchemaFault.BAD_SCHEMA, "/$defs/b/$anchor")),
        (obj(properties={"a": {"pattern": "(?=x)"}}), (SchemaFault.BAD_PATTERN, "/properties/a/pattern")),
        (obj(properties={"a": {"pattern": "(x)\\1"}}), (SchemaFault.BAD_PATTERN, "/properties/a/pattern")),
        (obj(properties={"a": {"pattern": "("}}), (SchemaFault.BAD_PATTERN, "/properties/a/pattern")),
        (obj(properties={"a": {"pattern": "(\\w{99}){99}{99}"}}), (SchemaFault.BAD_PATTERN, "/properties/a/pattern")),
        (obj(patternProperties={"(?!x)": {}}), (SchemaFault.BAD_PATTERN, "/patternProperties/(?!x)")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(schema: Any, expected: tuple[SchemaFault, str]) -> None:
    assert fault(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        obj(properties={"child": {"$ref": "#"}}),
        obj(properties={"a": {"$ref": "#n"}}, **{"$defs": {"x": {"$anchor": "n"}}}),
        obj(properties={"a": {"$ref": "#/$defs/a%20b~1c"}}, **{"$defs": {"a b/c": True}}),
        obj(properties={"a": {"$ref": "#/properties/b/anyOf/1"}, "b": {"anyOf": [{}, {}]}}),
        obj(properties={"a": {"$ref": "#n"}}, definitions={"x": {"$id": "#n"}}, **{"$schema": DRAFT_7}),
        obj(**{"$id": "https://a.example/s", "$schema": "https://json-schema.org/draft/2020-12/schema"}),
        obj(properties={"$ref": {"type": "string"}, "$id": {"type": "string"}, "$schema": {"type": "string"}}),
        obj(default={"$ref": "http://127.0.0.1/"}, examples=[{"$schema": 7}], const={"$id": 1}),
        obj(properties={"a": {"maximum": 2**53 - 1, "multipleOf": 0.01}}),
        obj(**{"$dynamicAnchor": "n", "properties": {"a": {"$dynamicRef": "#n"}}}),
    ],
)
def test_honest_schemas_are_accepted(schema: Any) -> None:
    accepted(schema)


def test_a_recursive_filter_of_alternatives_is_accepted() -> None:
    one: dict[str, Any] = {"$ref": "#/$defs/filter"}
    alternatives = [
        {"properties": {"op": {"const": op}, "args": {"type": "array", "items": one}}, "required": ["op"]}
        for op in ("and", "or", "not", "any", "none")
    ]
    accepted(obj(properties={"where": one}, **{"$defs": {"filter": {"anyOf": [*alternatives, {"type": "string"}]}}}))


def test_the_limits_of_work_hold_at_their_edges() -> None:
    accepted(obj(allOf=[{}] * (MAX_APPLICATIONS - 1)))
    assert fault(obj(allOf=[{}] * MAX_APPLICATIONS))[0] is SchemaFault.TOO_COMPLEX
    accepted(obj(properties={f"p{i}": {} for i in range(MAX_SCHEMAS - 1)}))
    assert fault(obj(properties={f"p{i}": {} for i in range(MAX_SCHEMAS)}))[0] is SchemaFault.TOO_COMPLEX


def test_references_that_write_out_too_much_are_refused() -> None:
    def uses(count: int) -> dict[str, Any]:
        shared = obj(properties={f"q{i}": {} for i in range(98)})
        return obj(
            properties={f"p{i}": {"$ref": "#/$defs/shared"} for i in range(count)}, **{"$defs": {"shared": shared}}
        )

    fits = MAX_EXPANDED // 100 - 1
    accepted(uses(fits))
    assert fault(uses(fits + 1))[0] is SchemaFault.TOO_COMPLEX


def test_repetition_hidden_below_properties_is_counted() -> None:
    schema: dict[str, Any] = {}
    for _ in range(10):
        schema = {"allOf": [{"properties": {"x": schema}}, {"properties": {"x": schema}}]}
    assert fault(obj(properties={"x": schema}), max_bytes=10**6)[0] in (SchemaFault.TOO_COMPLEX, SchemaFault.TOO_DEEP)


words = st.sampled_from(
    ["type", "properties", "a", "$ref", "$defs", "allOf", "anyOf", "not", "items", "if", "$id", "$anchor", "$dynamicRef",
     "required", "enum", "pattern", "additionalProperties", "dependentSchemas", "patternProperties", "minimum"]
)  # fmt: skip
texts = st.sampled_from(
    ["object", "string", "#", "#/$defs/a", "#a", "#/properties/a", "http://127.0.0.1/", "^a+$", "a"]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words | texts, inner, max_size=4),
    max_leaves=25,
)


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(words, anything, max_size=6))
def test_whatever_comes_is_accepted_or_refused(schema: dict[str, Any]) -> None:
    schema["type"] = "object"
    with suppress(SchemaRefused):
        judge_schema(schema, max_bytes=LIMIT)
