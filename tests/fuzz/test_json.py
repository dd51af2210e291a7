"""The strict reader of JSON and the canonical writer, against plain readings of the same rules."""

# Examples are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import json
import math
from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.canonical import canonical
from gateway.protocol.strict_json import MAX_DEPTH, SAFE_INTEGER_MAX, BadJson, find_unsafe_number, parse
from tests.fuzz.rig import deep, examples, mutated, odd, values

REFUSED = object()

tokens = st.sampled_from(
    [
        *[
            *"{}[],:",
            '"a"',
            '"b"',
            '"\\u0061"',
            '"\\ud800"',
            '"\\ud83d\\ude00"',
            '"{:,"',
            '"\\\\"',
            '"\\""',
            "1",
            "-0",
        ],
        *["01", "1.0", "1e2", "1e999", "-", "9007199254740993", "9007199254740993.0", "1e20", "1e21", "1" * 25],
        *["true", "null", "NaN", "Infinity", " ", "\n", "\t", "\x0b", "\ufeff", "'a'", "//", "\x00"],
    ]
)
soup = st.lists(tokens, max_size=14).map(lambda parts: "".join(parts).encode())
written = values.map(lambda value: json.dumps(value).encode())
json_texts = st.one_of(soup, st.binary(max_size=24), written, written.flatmap(mutated))


def plain_reading(text: bytes) -> Any:
    """The rules in few words and the standard library's reader; `REFUSED` for text that breaks one."""

    def constant(_: str) -> Any:
        raise ValueError

    def pairs(given: list[tuple[str, Any]]) -> Any:
        if len(dict(given)) != len(given):
            raise ValueError
        return dict(given)

    try:
        value = json.loads(text.decode(), parse_constant=constant, object_pairs_hook=pairs)
        judge(value, 0)
    except (ValueError, RecursionError):
        return REFUSED
    return value


def judge(value: Any, depth: int) -> None:
    match value:
        case str():
            value.encode()
        case float():
            # As ECMAScript writes a number: one below 1e21 without a fraction is written as an integer.
            if not math.isfinite(value) or (value.is_integer() and SAFE_INTEGER_MAX < abs(value) < 1e21):
                raise ValueError
        case bool() | None:
            pass
        case int():
            if abs(value) > SAFE_INTEGER_MAX:
                raise ValueError
        case _:
            if depth > MAX_DEPTH:
                raise ValueError
            for key in value if isinstance(value, dict) else ():
                judge(key, depth)
            for item in value.values() if isinstance(value, dict) else value:
                judge(item, depth + 1)


def reading(text: bytes) -> Any:
    try:
        return parse(text)
    except BadJson as bad:
        assert len(bad.pointer) <= 256  # noqa: PT017 - the refusal is one of two good ends
        return REFUSED


@examples(400)
@given(json_texts)
def test_what_is_read_is_what_a_plain_reading_of_the_rules_gives(text: bytes) -> None:
    assert repr(reading(text)) == repr(plain_reading(text))


@pytest.mark.parametrize("depth", [64, 65, 1_023, 1_024, 100_000])
@pytest.mark.parametrize(
    ("open_", "close"), [("[", "]"), ('{"a":', "}"), ('{"a":1,"a":', "}"), ("[9007199254740993,", "]")]
)
def test_a_nesting_bomb_is_refused_and_nothing_else(depth: int, open_: str, close: str) -> None:
    for tail in (close * depth, ""):
        with pytest.raises(BadJson):
            parse(f"{open_ * depth}1{tail}" if depth > 65 else f"{open_ * 66}1{tail}")


@examples(150)
@given(odd)
def test_canonical_text_is_refused_or_read_back_as_the_same_value(value: Any) -> None:
    text = None
    with suppress(ValueError):
        text = canonical(value)
    # Whether a number is safe to carry is asked by whoever takes a value in.
    if text is not None and find_unsafe_number(value) is None:
        assert canonical(orjson.loads(text)) == text
        with suppress(BadJson):
            assert canonical(parse(text)) == text


@examples(150)
@given(json_texts)
def test_what_passes_the_reader_has_canonical_text_that_passes_again(text: bytes) -> None:
    value = reading(text)
    if value is not REFUSED:
        assert canonical(parse(canonical(value))) == canonical(value)


def test_the_deepest_accepted_value_is_written() -> None:
    assert parse(canonical(deep(MAX_DEPTH))) == deep(MAX_DEPTH)
