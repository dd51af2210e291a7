"""Declared schemas: always a verdict; and what is accepted judges, explains and is published whatever comes."""

# Examples are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capabilities.check import DECLARATION_BYTES, judge_descriptor
from capabilities.contract import Descriptor
from capabilities.json_values import is_deeper_than
from capabilities.portable import PORTABLE_BYTES, portable_schema
from capabilities.schemas.judge import judge_schema
from capabilities.schemas.refusal import SchemaRefused
from capabilities.validator import VALUE_DEPTH, Problem, compile_validator
from gateway.protocol.page_frames import read_declaration
from tests.fuzz.rig import deep, examples, odd, texts

names = st.sampled_from(["a", "b", "~", "/", "%", "é", "", "$ref", "__proto__", "a" * 300])
patterns = st.sampled_from(
    [
        "a*",
        "(a+)+$",
        "(?=a)",
        r"(a)\1",
        "[",
        "a{1,99999}",
        "(a{1,999}){1,999}",
        r"\p{L}+",
        r"\d",
        "(?i)x",
        "",
        "\ud800",
    ]
)
refs = st.sampled_from(
    [
        *[
            "#",
            "#/$defs/a",
            "#/$defs/b",
            "#/properties/a",
            "#a",
            "#/%zz",
            "#/~2",
            "#/$defs/%61",
            "http://x.test/y",
            "",
            "a",
        ],
        *["#/" + "a/" * 400, "#/required", "#\ud800"],
    ]
)
odd_counts = st.sampled_from([0, 1, 2, -1, 1.5, 2**53, 1e300, None, "1"])
odd_types = st.sampled_from(
    ["object", "array", "string", "integer", "number", "null", "boolean", "any", ["string", "null"], [], 1]
)


def schemas_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=3)
    maps = st.dictionaries(names, inner, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": odd_types,
            "properties": maps,
            "$defs": maps,
            "definitions": maps,
            "patternProperties": st.dictionaries(patterns, inner, max_size=2),
            "additionalProperties": inner,
            "propertyNames": inner,
            "items": inner | lists,
            "prefixItems": lists,
            "contains": inner,
            "allOf": lists,
            "anyOf": lists,
            "oneOf": lists,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "dependentSchemas": maps,
            "dependencies": maps,
            "unevaluatedProperties": inner,
            "$ref": refs,
            "$dynamicRef": refs,
            "$anchor": st.sampled_from(["a", "b", 1]),
            "$dynamicAnchor": st.just("a"),
            "$id": st.sampled_from(["http://x.test/s", "#a", 7]),
            "$schema": st.sampled_from(
                ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", "x", 1]
            ),
            "pattern": patterns,
            "format": st.sampled_from(["date", "regex", "uri", "no-such", 1]),
            "enum": st.lists(odd, max_size=3),
            "const": odd,
            "required": st.lists(names, max_size=3),
            "minimum": odd_counts,
            "multipleOf": odd_counts | st.just(1e-300),
            "maxLength": odd_counts,
            "minItems": odd_counts,
            "uniqueItems": st.booleans(),
            "title": texts,
            "description": texts,
        },
    )


leaf = st.booleans() | st.just({}) | st.builds(dict, type=odd_types) | st.builds(lambda ref: {"$ref": ref}, refs)
some_schema = st.recursive(leaf | odd, schemas_of, max_leaves=8)
sane = st.recursive(leaf, schemas_of, max_leaves=6)
roots = st.one_of(
    some_schema,
    st.builds(lambda found: {**found, "type": "object"} if isinstance(found, dict) else found, sane),
    # What is alone between keywords is what is left when most of a schema has been refused.
    st.builds(lambda found: {"type": "object", "properties": {"a": found}, "$defs": {"a": found}}, sane),
    st.builds(lambda found: {"type": "object", "allOf": [found], "$defs": {"b": found}}, sane),
)


def accepted(schema: Any) -> bool:
    try:
        judge_schema(schema, max_bytes=DECLARATION_BYTES)
    except SchemaRefused as refused:
        assert len(refused.pointer) <= 256  # noqa: PT017 - the refusal is one of two good ends
        return False
    return True


@examples(150)
@given(roots, st.lists(odd | st.dictionaries(names, odd, max_size=3), min_size=1, max_size=4))
def test_a_schema_gets_a_verdict_and_an_accepted_one_judges_any_arguments(
    schema: Any, given_values: list[Any]
) -> None:
    if not accepted(schema):
        return
    validator = compile_validator(schema)
    for value in given_values:
        problem = validator.first_error(value)
        assert problem is None or (isinstance(problem, Problem) and len(problem.pointer) <= 256)
        assert not (problem is None and is_deeper_than(value, VALUE_DEPTH))
    published = portable_schema(schema)
    assert published["type"] == "object"
    assert len(json.dumps(published, ensure_ascii=False, separators=(",", ":")).encode()) <= PORTABLE_BYTES


@examples(100)
@given(roots, roots | st.none())
def test_a_page_that_registers_it_is_told_yes_or_no(first: Any, second: Any) -> None:
    declared = read_declaration(
        {"id": "todo.add", "description": "Adds", "input_schema": first, "output_schema": second}
    )
    if isinstance(declared, Descriptor):
        refusal = judge_descriptor(declared, page=True)
        assert refusal is None or len(refusal.pointer) <= 256


WRAPPED: dict[str, Callable[[Any], Any]] = {
    **{keyword: lambda inner: {"a": inner} for keyword in ("properties", "$defs", "dependentSchemas")},
    **{keyword: lambda inner: [inner] for keyword in ("allOf", "prefixItems", "enum")},
    **{keyword: lambda inner: inner for keyword in ("items", "not", "additionalProperties", "if", "const")},
}
"""How each keyword that nests holds what is in it."""


@pytest.mark.parametrize("depth", [1, 31, 32, 33, 100, 1_000])
@pytest.mark.parametrize("keyword", WRAPPED)
def test_every_keyword_that_nests_has_an_end(keyword: str, depth: int) -> None:
    inner: Any = {"type": "string"}
    for _ in range(depth):
        inner = {keyword: WRAPPED[keyword](inner)}
    schema = {"type": "object", **inner}
    is_taken = accepted(schema)
    assert is_taken or depth > 1
    assert not (is_taken and depth >= 100)
    if is_taken:
        for value in ({"a": 1}, {"a": deep(60, key="a")}, {"a": deep(60)}):
            compile_validator(schema).first_error(value)
        assert portable_schema(schema)["type"] == "object"
