import re
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capabilities.portable import DESCRIPTION_BYTES, PORTABLE_BYTES, TOOL_NAME_MAX, portable_schema, tool_name
from capabilities.schemas.judge import judge_schema
from capabilities.schemas.refusal import SchemaRefused

CASES = Path(__file__).parents[2] / "cases"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
BRANCHING = {"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
GONE = {"$ref", "$dynamicRef", "$schema", "$id", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$comment",
        "oneOf", "not", "if", "then", "else"}  # fmt: skip


def case(name: str) -> Any:
    return orjson.loads((CASES / name).read_bytes())


def check_portable(schema: dict[str, Any]) -> None:
    """Assert all that clients rely on."""
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not BRANCHING & schema.keys()
    assert len(orjson.dumps(schema)) <= PORTABLE_BYTES
    pending: list[Any] = [schema]
    while pending:
        inner = pending.pop()
        if not isinstance(inner, dict):
            assert isinstance(inner, bool)
            continue
        rules = cast("dict[str, Any]", inner)
        assert not GONE & rules.keys()
        assert isinstance(rules.get("type", ""), str)
        assert len(rules.get("description", "").encode()) <= DESCRIPTION_BYTES
        assert set(rules.get("required", ())) <= rules.get("properties", {}).keys()
        for name, declared in rules.get("properties", {}).items():
            assert re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name)
            pending.append(declared)
        for keyword in ("anyOf", "allOf"):
            pending.extend(rules.get(keyword, ()))
        pending.extend(rules[keyword] for keyword in ("items", "additionalProperties") if keyword in rules)


def published(**keywords: Any) -> dict[str, Any]:
    schema = {"type": "object", **keywords}
    judge_schema(schema, max_bytes=65_536)
    answer = portable_schema(schema)
    check_portable(answer)
    return answer


def one(schema: Any, **root: Any) -> Any:
    return published(properties={"p": schema}, **root)["properties"]["p"]


def test_the_case_of_combinators_at_the_root_shows_the_fields_and_nothing_more_is_required() -> None:
    create, find, listing = (published(**c["inputSchema"]) for c in case("C01/input.json")["capabilities"])
    note = "Further rules join these properties; see gateway_describe."
    assert create == {
        "type": "object",
        "properties": {"mode": {"enum": ["draft", "final"]}, "approver": {"type": "string"}},
        "required": ["mode"],
        "description": note,
    }
    assert find == {
        "type": "object",
        "properties": {"id": {"type": "string"}, "slug": {"type": "string"}},
        "description": note,
    }
    assert listing == {"type": "object", "properties": {}}


def test_the_case_of_references_is_published_without_any() -> None:
    good = [c["inputSchema"] for c in case("C02/input.json")["capabilities"] if c["name"].startswith("ok.")]
    assert [published(**schema)["properties"] for schema in good] == [
        {"item": {"type": "string"}},
        {"from": {"type": "string", "format": "date"}, "to": {"type": "string", "format": "date"}},
    ]


def test_a_schema_within_itself_is_written_twice_then_cut() -> None:
    def node(kids: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": kids}},
            "required": ["v"],
        }

    assert published(**case("C48/K-tree.json"))["properties"]["root"] == node(node({"type": "object"}))
    assert published(properties={"up": {"$ref": "#"}})["properties"]["up"] == {
        "type": "object",
        "properties": {"up": {"type": "object"}},
    }


def test_fields_of_every_root_combinator_are_shown() -> None:
    answer = published(
        properties={"root": {"type": "string"}},
        required=["root"],
        allOf=[
            {"properties": {"all": {"type": "string"}}, "required": ["all"]},
            {"if": {"properties": {"asked": {}}}, "then": {"properties": {"then": {}}, "required": ["then"]}},
        ],
        oneOf=[
            {"properties": {"kind": {"const": "a"}, "root": {"const": 1}}, "required": ["kind"]},
            {"properties": {"kind": {"const": "b"}}, "$ref": "#/$defs/more"},
        ],
        dependentSchemas={"root": {"properties": {"dependent": {"type": "null"}}}},
        **{"$defs": {"more": {"properties": {"more": {"type": "boolean"}}, "required": ["more"]}}},
    )
    assert answer["properties"] == {
        "root": {"type": "string"},
        "all": {"type": "string"},
        "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]},
        "dependent": {"type": "null"},
        "then": {},
        "more": {"type": "boolean"},
    }
    assert answer["required"] == ["root", "all"]


@pytest.mark.parametrize(
    ("declared", "shown"),
    [
        ({"type": ["string", "null"], "maxLength": 3}, {"maxLength": 3, "anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": ["string"]}, {"type": "string"}),
        ({"type": ["string", "null"], "anyOf": [{"minLength": 1}]}, {"anyOf": [{"minLength": 1}]}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"anyOf": [{"type": "string"}, True]}, {}),
        ({"anyOf": [{"type": "string"}, False]}, {"anyOf": [{"type": "string"}]}),
        ({"not": {"type": "string"}, "type": "integer"}, {"type": "integer"}),
        ({"if": {}, "then": {"minimum": 1}, "title": "T", "$comment": "c"}, {"title": "T"}),
        ({"$ref": "#/$defs/text", "description": "mine"}, {"type": "string", "description": "mine"}),
        ({"$ref": "#/$defs/text", "type": "string", "maxLength": 2}, {"type": "string", "maxLength": 2, "allOf": [{"type": "string", "description": "ours"}]}),
        ({"prefixItems": [{"type": "string"}], "items": False}, {"items": {"type": "string"}}),
        ({"prefixItems": [{"type": "string"}]}, {}),
        ({"items": {"type": "string"}, "minItems": 1}, {"items": {"type": "string"}, "minItems": 1}),
        ({"pattern": "^[a-z]+\\.\\d{2}$"}, {"pattern": "^[a-z]+\\.\\d{2}$"}),
        ({"pattern": "(?i)x"}, {}),
        ({"pattern": "\\pL"}, {}),
        (True, {}),
        ({"properties": {"a": False, "b": True}, "required": ["a", "b"]}, {"properties": {"b": {}}, "required": ["b"]}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"a": {}}, "additionalProperties": False}),
        ({"patternProperties": {"^x": {}}, "additionalProperties": False}, {}),
        ({"additionalProperties": {"$ref": "#/$defs/text"}}, {"additionalProperties": {"type": "string", "description": "ours"}}),
    ],
)  # fmt: skip
def test_each_keyword_becomes_what_clients_take(declared: Any, shown: Any) -> None:
    assert one(declared, **{"$defs": {"text": {"type": "string", "description": "ours"}}}) == shown


def test_neighbours_of_a_draft_07_reference_are_not_published() -> None:
    schema = {"$ref": "#/definitions/t", "maxLength": 1, "description": "mine"}
    assert one(schema, definitions={"t": {"type": "string"}}, **{"$schema": DRAFT_7}) == {
        "type": "string",
        "description": "mine",
    }


def test_names_that_clients_refuse_are_counted_and_not_required() -> None:
    answer = published(
        properties={"ok.a-b_1": {}, "x" * 64: {}, "x" * 65: {}, "é": {}, "a b": {}, "": {}},
        required=["é", "ok.a-b_1"],
        description="Said.",
        additionalProperties=False,
    )
    assert answer == {
        "type": "object",
        "properties": {"ok.a-b_1": {}, "x" * 64: {}},
        "required": ["ok.a-b_1"],
        "description": "Said. Takes 4 more properties whose names cannot be listed here; see gateway_describe.",
    }
    inner = one({"properties": {"a b": {}}, "description": "é" * 1500})
    assert inner["description"].endswith(
        "… Takes 1 more properties whose names cannot be listed here; see gateway_describe."
    )


def test_a_description_is_cut_at_2_kib_between_characters() -> None:
    assert one({"description": "é" * 1024})["description"] == "é" * 1024
    cut = one({"description": "é" * 1025})["description"]
    assert cut == "é" * 1022 + "…"


def test_a_schema_too_large_to_show_is_shown_less_deep() -> None:
    level: dict[str, Any] = {"type": "string", "description": "d" * 60}
    for _ in range(4):
        level = {"type": "object", "properties": {f"p{i}": {"$ref": "#/$defs/x"} if i else level for i in range(6)}}
    wide = {"type": "object", "properties": {f"q{i}": {"type": "string"} for i in range(40)}}
    answer = published(**{**level, "$defs": {"x": wide}})
    assert set(answer["properties"]) == {f"p{i}" for i in range(6)}
    many = published(properties={f"p{i}": {"type": "string", "description": "d" * 8} for i in range(1200)})
    assert many["properties"] == {}
    assert "gateway_describe" in many["description"]


def test_a_long_chain_of_references_ends() -> None:
    defs: dict[str, Any] = {"a0": {}}
    for i in range(1, 400):
        defs[f"a{i}"] = {"properties": {"x": {"$ref": f"#/$defs/a{i - 1}"}}}
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"$ref": "#/$defs/a399"}}, "$defs": defs}
    check_portable(portable_schema(schema))


def test_what_nobody_judged_is_published_empty() -> None:
    for schema in (
        case("C48/K-deep.json"),
        {"$ref": "http://127.0.0.1/"},
        {"type": "object", "$ref": "x"},
    ):
        answer = portable_schema(schema)
        check_portable(answer)
        assert answer["properties"] == {}
    for schema in (case("C48/K-cycle.json"), {"type": "object", "allOf": [{"$ref": "#"}]}):
        check_portable(portable_schema(schema))


names = st.sampled_from(["a", "b", "ä"])
leaf_schemas = st.sampled_from(
    [True, False, {}, {"type": "string"}, {"type": ["integer", "null"]}, {"const": 1}, {"enum": ["x", None]},
     {"required": ["a"]}, {"maxProperties": 1}, {"$ref": "#/$defs/d"}, {"$ref": "#/properties/p/properties/a"},
     {"additionalProperties": False}, {"$ref": "#/$defs/d", "type": "object"}]
)  # fmt: skip
schemas = st.recursive(
    leaf_schemas,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"properties": st.dictionaries(names, inner, max_size=3)}),
        st.fixed_dictionaries(
            {"properties": st.dictionaries(names, inner, max_size=3), "additionalProperties": inner},
            optional={"required": st.lists(names, max_size=2, unique=True), "$ref": st.just("#/$defs/d")},
        ),
        st.fixed_dictionaries({"items": inner}),
        st.fixed_dictionaries({"prefixItems": st.lists(inner, min_size=1, max_size=2), "items": inner}),
        st.fixed_dictionaries({"additionalProperties": inner, "patternProperties": st.dictionaries(names, inner)}),
        *(st.fixed_dictionaries({k: st.lists(inner, min_size=1, max_size=3)}) for k in ("allOf", "anyOf", "oneOf")),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=12,
)
values = st.recursive(
    st.sampled_from([None, True, 1, 2, "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=500, deadline=None)
@given(schemas, schemas, st.lists(values, min_size=5, max_size=5), st.booleans())
def test_what_a_property_accepts_its_published_form_accepts(
    inner: Any, defined: Any, candidates: list[Any], older: bool
) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"p": inner},
        "required": ["p"],
        "$defs": {"d": defined},
    }
    if older:
        schema["$schema"] = DRAFT_7
    try:
        judge_schema(schema, max_bytes=65_536)
    except SchemaRefused:
        return
    answer = portable_schema(schema)
    check_portable(answer)
    for value in candidates:
        if jsonschema_rs.is_valid(schema, {"p": value}):
            assert jsonschema_rs.is_valid(answer, {"p": value})


@settings(max_examples=300, deadline=None)
@given(schemas, schemas)
def test_any_accepted_root_is_published_and_requires_nothing_new(inner: Any, defined: Any) -> None:
    schema: dict[str, Any] = {"type": "object", "allOf": [inner], "anyOf": [inner, {}], "$defs": {"d": defined}}
    try:
        judge_schema(schema, max_bytes=65_536)
    except SchemaRefused:
        return
    answer = portable_schema(schema)
    check_portable(answer)
    for name in answer.get("required", ()):
        others = {other: None for other in ("a", "b", "ä") if other != name}
        assert not jsonschema_rs.is_valid(schema, others)


@pytest.mark.parametrize(
    ("capability", "name"),
    [
        ("notes.read", "notes_read"),
        ("notes.readAll", "notes_readAll"),
        ("notes.read_all", "notes_read_all"),
        ("ui.structured_ui", "ui_structured_ui"),
        ("my_notes.read", "my_notes_read_dd2b38fc"),
        ("a.b.c", "a_b_c_845e3044"),
        ("todo.add_deadbeef", "todo_add_deadbeef_48ef6365"),
        ("todo.add_deadbee", "todo_add_deadbee"),
        ("todo." + "x" * 35, "todo_" + "x" * 35),
    ],
)
def test_a_name_is_the_id_where_that_cannot_be_mistaken(capability: str, name: str) -> None:
    assert tool_name(capability) == name


def test_a_name_over_40_characters_is_cut_and_marked() -> None:
    name = tool_name("todo." + "x" * 36)
    assert re.fullmatch("todo_x{26}_[0-9a-f]{8}", name)
    assert len(name) == TOOL_NAME_MAX


def test_the_case_of_long_and_look_alike_ids_gives_each_its_own_name() -> None:
    stem = "enterprise.database_management_synchronise_all_customer_records_between_regions"
    ids = ["notes.read", "notes.read_", "notes_.read", "n.otes_read", "n_otes.read", "no.tes.read", "notes.Read",
           "nOtes.read", f"{stem}_daily", f"{stem}_hourly"]  # fmt: skip
    assert len({tool_name(i) for i in ids}) == len(ids)


def test_a_session_of_several_sites_names_the_site() -> None:
    assert tool_name("todo.add", "crm") != tool_name("todo.add", "crm-2")
    assert re.fullmatch("crm_2_todo_add_[0-9a-f]{8}", tool_name("todo.add", "crm-2"))


segment = st.from_regex(r"[a-z][A-Za-z0-9_]{0,12}", fullmatch=True) | st.sampled_from(
    ["a", "b", "a_b", "b_c", "c", "b_deadbeef", "b_01234567", "a_", "b_845e3044"]
)
ids = st.lists(segment, min_size=2, max_size=4).map(".".join)


@settings(max_examples=500)
@given(ids, ids, st.none() | st.sampled_from(["crm", "a", "a_b"]))
def test_two_ids_never_share_a_name(first: str, second: str, site: str | None) -> None:
    names = tool_name(first, site), tool_name(second, site)
    assert (names[0] == names[1]) == (first == second)
    for name in names:
        assert re.fullmatch(rf"[A-Za-z][A-Za-z0-9_]{{0,{TOOL_NAME_MAX - 1}}}", name)


@settings(max_examples=500)
@given(st.sets(ids, min_size=2, max_size=60))
def test_an_inventory_has_as_many_names_as_ids(inventory: set[str]) -> None:
    assert len({tool_name(i) for i in inventory}) == len(inventory)
