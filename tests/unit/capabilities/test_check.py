from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from capabilities.check import DECLARATION_BYTES, RESERVED_SEGMENTS, Refusal, judge_descriptor
from capabilities.contract import Descriptor
from capabilities.registry import BUILTINS

CASES = Path(__file__).parents[2] / "cases"
GOOD = Descriptor(id="todo.add", input_schema={"type": "object"}, output_schema={"type": "object"})


def verdict(page: bool = True, **changes: Any) -> tuple[str, str] | None:
    refusal = judge_descriptor(replace(GOOD, **changes), page=page, app_segments={"pomodoro"})
    return None if refusal is None else (refusal.code, refusal.pointer)


def test_a_good_declaration_is_taken() -> None:
    assert verdict() is None


@pytest.mark.parametrize(
    "bad",
    [
        "", "todo", "Todo.add", "todo.", "todo..add", "a.b.c.d.e", "todo.add\n", "notes/read", "search", "笔记.读取",
        "été.lire", "constructor", "__proto__", "todo.*", "todo." + "x" * 124,
    ],
)  # fmt: skip
def test_an_id_outside_the_grammar_is_invalid(bad: str) -> None:
    assert verdict(id=bad) == ("id_invalid", "/id")


def test_an_id_of_128_characters_is_taken() -> None:
    assert verdict(id="todo." + "x" * 123) is None


@pytest.mark.parametrize("first", [*sorted(RESERVED_SEGMENTS), "pomodoro"])
def test_a_reserved_id_is_for_no_page(first: str) -> None:
    assert verdict(id=f"{first}.add") == ("id_reserved", "/id")
    assert verdict(id=f"{first}.add", page=False) is None
    assert verdict(id=f"{first}x.add") is None


@pytest.mark.parametrize(
    ("keyword", "last", "first_bad"),
    [
        ("title", "é" * 120, "é" * 121),
        ("description", "d" * 4096, "d" * 4097),
        ("timeout_ms", 1000, 999),
        ("timeout_ms", 600_000, 600_001),
    ],
)
def test_words_and_times_have_their_limits(keyword: str, last: Any, first_bad: Any) -> None:
    assert verdict(**{keyword: last}) is None
    assert verdict(**{keyword: first_bad}) == ("bad_request", f"/{keyword}")


def test_a_schema_is_refused_with_its_place_and_its_fault() -> None:
    remote = {"type": "object", "properties": {"x": {"$ref": "file:///etc/hostname"}}}
    assert verdict(input_schema=remote) == ("schema_refused", "/input_schema/properties/x/$ref")
    assert judge_descriptor(replace(GOOD, output_schema=remote), page=False) == Refusal(
        code="schema_refused",
        pointer="/output_schema/properties/x/$ref",
        reason="remote_ref: only `#…` references are followed",
    )
    assert verdict(output_schema={"type": "array"}) == ("schema_refused", "/output_schema")


def test_a_long_place_is_cut_at_a_step() -> None:
    name = "k" * 225
    schema = {"type": "object", "properties": {name: {"minimum": "1"}}}
    assert verdict(input_schema=schema) == ("schema_refused", f"/input_schema/properties/{name}")


@pytest.mark.parametrize(
    ("file", "fault"),
    [("K-deep", "schema_too_deep"), ("K-cycle", "schema_cycle"), ("K-bomb", "schema_too_complex")],
)
def test_the_case_of_deep_circular_and_explosive_schemas(file: str, fault: str) -> None:
    schema = orjson.loads((CASES / "C48" / f"{file}.json").read_bytes())
    refusal = judge_descriptor(replace(GOOD, input_schema=schema), page=False)
    assert refusal is not None
    assert (refusal.code, refusal.reason.partition(":")[0]) == ("schema_refused", fault)


def test_a_declaration_of_a_page_is_at_most_16_kib() -> None:
    def declared(size: int) -> Any:
        return {"type": "object", "description": "d" * size}

    words = len(orjson.dumps({"id": "todo.add", "title": "", "description": "", "contract_version": "1"}))
    frame = len(b',"input_schema":') + len(orjson.dumps(declared(0)))
    fits = DECLARATION_BYTES - words - frame
    no_output = replace(GOOD, output_schema=None)
    assert judge_descriptor(replace(no_output, input_schema=declared(fits)), page=True) is None
    refusal = judge_descriptor(replace(no_output, input_schema=declared(fits + 1)), page=True)
    assert refusal == Refusal(code="bad_request", pointer="", reason="more than 16384 bytes")
    assert judge_descriptor(replace(no_output, input_schema=declared(60_000)), page=False) is None
    refusal = judge_descriptor(replace(no_output, input_schema=declared(66_000)), page=False)
    assert refusal is not None
    assert refusal.reason.startswith("schema_too_large")


@pytest.mark.parametrize("builtin", BUILTINS.values(), ids=BUILTINS.keys())
def test_our_own_declarations_pass(builtin: Any) -> None:
    assert judge_descriptor(builtin.descriptor, page=False) is None
