from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.schemas.judge import judge_schema
from capabilities.schemas.refusal import SchemaRefused
from capabilities.validator import VALUE_DEPTH, Problem, compile_validator

CASES = Path(__file__).parents[2] / "cases"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def problem(schema: dict[str, Any], value: Any) -> tuple[str, str] | None:
    found = compile_validator({"type": "object", **schema}).first_error(value)
    return None if found is None else (found.pointer, found.reason)


def tree(levels: int, leaf: Any) -> dict[str, Any]:
    node: dict[str, Any] = {"v": leaf}
    for _ in range(levels - 1):
        node = {"v": 1, "kids": [{"v": 0}, node]}
    return {"root": node}


def test_a_tree_of_30_levels_passes_and_a_wrong_leaf_is_named() -> None:
    validator = compile_validator(orjson.loads((CASES / "C48" / "K-tree.json").read_bytes()))
    assert validator.first_error(tree(30, 1)) is None
    assert validator.first_error(tree(30, "wrong")) == Problem(
        kind="invalid", pointer="/root" + "/kids/1" * 29 + "/v", reason="is not of type `integer`"
    )


def test_5000_levels_are_refused_before_they_are_looked_at() -> None:
    value: Any = 1
    for _ in range(5000):
        value = {"a": value}
    found = compile_validator({"type": "object"}).first_error(value)
    assert found == Problem(kind="too_deep", pointer="", reason=f"nested deeper than {VALUE_DEPTH} levels")


def test_depth_64_is_looked_at_and_65_is_not() -> None:
    value: Any = {}
    for _ in range(64):
        value = {"a": value}
    validator = compile_validator({"type": "object"})
    assert validator.first_error(value) is None
    found = validator.first_error({"a": value})
    assert found is not None
    assert found.kind == "too_deep"


def test_the_case_of_cents_is_exact() -> None:
    schema = orjson.loads((CASES / "C11" / "input.json").read_bytes())["capability"]["inputSchema"]
    validator = compile_validator(schema)
    for cents in range(20_000):
        assert validator.first_error({"id": 1, "fee": cents / 100}) is None
    found = validator.first_error({"id": 1, "fee": 19.995})
    assert found == Problem(kind="invalid", pointer="/fee", reason="is not a multiple of `0.01`")


def test_the_case_of_either_or_rules_still_rules() -> None:
    create, find, _ = orjson.loads((CASES / "C01" / "input.json").read_bytes())["capabilities"]
    assert problem(create["inputSchema"], {"mode": "final"}) == ("", "`approver` is required")
    assert problem(create["inputSchema"], {"mode": "final", "approver": "a"}) is None
    assert problem(find["inputSchema"], {}) == (
        "",
        "fits none of the alternatives: `id` is required; or `slug` is required",
    )


BROKEN: list[tuple[dict[str, Any], Any, tuple[str, str]]] = [
    ({}, ["secret"], ("", "is not of type `object`")),
    ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": 7}, ("/a", "is not of type `null`, `string`")),
    ({"properties": {"a": {"enum": ["x", 1, None]}}}, {"a": "secret"}, ("/a", "is none of `x`, `1`, `null`")),
    ({"properties": {"a": {"const": "x"}}}, {"a": "secret"}, ("/a", "is not the one allowed value")),
    ({"properties": {"a": {"minimum": 1}}}, {"a": 0}, ("/a", "is less than `1`")),
    ({"properties": {"a": {"maxLength": 1}}}, {"a": "secret"}, ("/a", "is longer than 1 characters")),
    ({"properties": {"a": {"pattern": "^x$"}}}, {"a": "secret"}, ("/a", "does not match `^x$`")),
    ({"properties": {"a": False}}, {"a": 1}, ("/a", "is not allowed here")),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1, "b/c": 2}, ("/b~1c", "is not a declared property")),
    ({"patternProperties": {"^x": {}}, "additionalProperties": False}, {"x1": 1, "y": 2}, ("/y", "is not a declared property")),
    ({"patternProperties": {"^x": {"type": "null"}}}, {"x1": 1}, ("/x1", "is not of type `null`")),
    ({"properties": {"a": {}}, "additionalProperties": {"type": "null"}}, {"a": 1, "b": 2}, ("/b", "is not of type `null`")),
    ({"properties": {"a": {"prefixItems": [{}], "items": {"type": "null"}}}}, {"a": [1, None, 2]}, ("/a/2", "is not of type `null`")),
    ({"properties": {"a": {"uniqueItems": True}}}, {"a": [1, 1]}, ("/a", "holds an item twice")),
    ({"properties": {"a": {"contains": {"const": 7}}}}, {"a": [1]}, ("/a", "breaks the rule `contains`")),
    ({"propertyNames": {"maxLength": 2}}, {"secret": 1}, ("", "breaks the rule `propertyNames`")),
    ({"not": {"required": ["a"]}}, {"a": 1}, ("", "breaks the rule `not`")),
    ({"unevaluatedProperties": False}, {"a": 1}, ("", "breaks the rule `unevaluatedProperties`")),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ("", "`b` is required")),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, ("", "`b` is required")),
    ({"$schema": DRAFT_7, "dependencies": {"a": {"required": ["b"]}}}, {"a": 1}, ("", "`b` is required")),
    ({"$schema": DRAFT_7, "dependencies": {"a": ["b"]}}, {"a": 1}, ("", "breaks the rule `dependencies`")),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1, "b": 1}, ("", "fits more than one alternative of `oneOf`")),
    ({"properties": {"é x%": {"type": "null"}}}, {"é x%": 1}, ("/é x%", "is not of type `null`")),
    ({"allOf": [{}, {"properties": {"~": {"type": "null"}}}]}, {"~": 1}, ("/~0", "is not of type `null`")),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "expected"), BROKEN)
def test_the_rule_is_named_and_the_value_is_not(
    schema: dict[str, Any], value: Any, expected: tuple[str, str]
) -> None:
    assert problem(schema, value) == expected


def test_neighbours_of_a_reference_count_as_the_dialect_says() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/n", "maximum": 1}}, "$defs": {"n": {"type": "integer"}}}
    assert problem(schema, {"a": 2}) == ("/a", "is more than `1`")
    assert problem({"$schema": DRAFT_7, **schema}, {"a": 2}) is None
    assert problem({"$schema": DRAFT_7, **schema}, {"a": "x"}) == ("/a", "is not of type `integer`")


def test_formats_are_checked_where_the_dialect_checks_them() -> None:
    schema = {"properties": {"day": {"format": "date"}}}
    assert problem(schema, {"day": "secret"}) is None
    assert problem({"$schema": DRAFT_7, **schema}, {"day": "secret"}) == ("/day", "is not in the format `date`")


def filters(alternatives: int) -> dict[str, Any]:
    one: dict[str, Any] = {"$ref": "#/$defs/filter"}
    shapes = [
        {
            "type": "object",
            "properties": {"args": {"type": "array", "items": one}, "op": {"const": f"op{i}"}},
            "required": ["op", "args"],
        }
        for i in range(alternatives)
    ]
    return {"properties": {"where": one}, "$defs": {"filter": {"anyOf": [*shapes, {"type": "integer"}]}}}


@pytest.mark.timeout(10)
def test_a_wrong_leaf_in_deep_alternatives_is_answered_at_once() -> None:
    value: Any = "secret"
    for _ in range(28):
        value = {"op": "op3", "args": [value]}
    found = problem(filters(12), {"where": value})
    assert found is not None
    assert found[0].startswith("/where/args/0/args/0")
    assert "secret" not in found[1]


def test_the_alternative_that_was_meant_is_explained() -> None:
    value = {"where": {"op": "op1", "args": [{"op": "op0", "args": [1, True]}]}}
    assert problem(filters(2), value) == (
        "/where/args/0/args/1",
        "fits none of the alternatives: "
        + "; or ".join(f"is not of type `{t}`" for t in ("object", "object", "integer")),
    )


def test_a_pointer_stays_short_and_a_reason_too() -> None:
    long = "k" * 300
    found = problem({"properties": {"a": {"additionalProperties": False}}}, {"a": {long: 1}})
    assert found == ("/a", "is not a declared property")
    found = problem({"properties": {"a": {"enum": [long, long + "x"]}}}, {"a": 1})
    assert found is not None
    assert len(found[1]) == 300


def test_what_is_not_json_is_a_problem_and_not_an_exception() -> None:
    for value in ({"a": {1, 2}}, {1: 2}, {"a": object()}):
        found = compile_validator({"type": "object", "properties": {"a": {"type": "null"}}}).first_error(value)
        assert found is not None
        assert found.kind in ("not_json", "invalid")


def test_nothing_is_fetched() -> None:
    with pytest.raises(SchemaRefused):
        compile_validator({"type": "object", "$ref": "http://127.0.0.1:18099/probe.json"})
    with pytest.raises(SchemaRefused):
        compile_validator({"type": "object", "$schema": "file:///etc/hostname"})


names = st.sampled_from(["a", "b", "c"])
leaf_schemas = st.sampled_from(
    [True, False, {}, {"type": "string"}, {"type": "integer"}, {"const": 1}, {"enum": ["x", None]}, {"minimum": 2},
     {"required": ["a"]}, {"maxProperties": 1}, {"$ref": "#/$defs/d"}, {"additionalProperties": False}]
)  # fmt: skip
schemas = st.recursive(
    leaf_schemas,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"properties": st.dictionaries(names, inner, max_size=3)}),
        st.fixed_dictionaries({"items": inner}),
        st.fixed_dictionaries({"prefixItems": st.lists(inner, min_size=1, max_size=2), "items": inner}),
        st.fixed_dictionaries({"additionalProperties": inner, "patternProperties": st.dictionaries(names, inner)}),
        *(st.fixed_dictionaries({k: st.lists(inner, min_size=1, max_size=3)}) for k in ("allOf", "anyOf", "oneOf")),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"dependentSchemas": st.dictionaries(names, inner, max_size=2)}),
    ),
    max_leaves=12,
)  # fmt: skip
values = st.recursive(
    st.sampled_from([None, True, 1, 2, 1.5, "x", "secret-value"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(schemas, schemas, st.dictionaries(names, values, max_size=3), st.booleans())
def test_the_verdict_is_the_librarys_and_the_pointer_names_a_part(
    inner: Any, defined: Any, value: dict[str, Any], older: bool
) -> None:
    schema = {"type": "object", "allOf": [inner], "$defs": {"d": defined}}
    if older:
        schema["$schema"] = DRAFT_7
    try:
        judge_schema(schema, max_bytes=65_536)
    except SchemaRefused:
        return
    found = compile_validator(schema).first_error(value)
    assert (found is None) == jsonschema_rs.is_valid(schema, value)
    if found is not None:
        assert found.kind == "invalid"
        assert "secret-value" not in found.reason
        part: Any = value
        for step in found.pointer.split("/")[1:]:
            part = part[int(step) if type(part) is list else step]
