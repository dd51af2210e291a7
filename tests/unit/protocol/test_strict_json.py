import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.canonical import canonical
from gateway.protocol.strict_json import (
    POINTER_MAX,
    SAFE_INTEGER_MAX,
    BadJson,
    UnsafeNumber,
    dumps,
    find_unsafe_number,
    is_deeper_than,
    parse,
)

CASES = Path(__file__).parents[2] / "cases"

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-SAFE_INTEGER_MAX, SAFE_INTEGER_MAX)
    | st.floats(-1e15, 1e15, allow_nan=False)
    | st.text()
)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5)
)


def refusal(text: bytes | str, **options: Any) -> tuple[str, str]:
    with pytest.raises(BadJson) as caught:
        parse(text, **options)
    str(caught.value).encode()
    return caught.value.code, caught.value.pointer


def nested(depth: int) -> bytes:
    return b"[" * (depth + 1) + b"]" * (depth + 1)


@given(values)
def test_what_json_writes_is_read_back(value: Any) -> None:
    assert parse(json.dumps(value)) == value
    assert parse(json.dumps(value, ensure_ascii=False).encode()) == value


@given(values)
def test_canonical_text_of_an_accepted_value_is_accepted(value: Any) -> None:
    assert parse(canonical(parse(json.dumps(value)))) == value


@given(st.text(alphabet='{}[]:,"\\ ua0123456789.eE+-truefalsn\n', max_size=40))
def test_nothing_is_accepted_that_the_standard_reader_reads_otherwise(text: str) -> None:
    try:
        value = parse(text)
    except BadJson:
        return

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    assert json.loads(text, object_pairs_hook=once) == value


@given(values, st.sampled_from(['"k"', '"\\u006b"']), st.integers(0, 3))
def test_a_repeated_key_is_found_at_any_depth_and_however_it_is_spelled(
    value: Any, spelling: str, depth: int
) -> None:
    inner = json.dumps(value)
    text = '{"a:b\\\\":' * depth + f'{{"k": {inner}, {spelling}: {inner}}}' + "}" * depth
    assert refusal(text) == ("bad_json", "/a:b\\" * depth + "/k")


def test_the_case_of_two_capabilities_in_one_body_is_refused() -> None:
    assert refusal((CASES / "C07" / "input-duplicate.json").read_bytes()) == ("bad_json", "/capability")


def test_the_case_of_half_a_pair_in_a_key_is_refused() -> None:
    assert refusal((CASES / "C07" / "input-surrogate.json").read_bytes()) == ("bad_json", "")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"\xef\xbb\xbf{}",
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\\ud800"',
        b'{"\\udc00": 1}',
        b'"\\ud800\\ud800"',
        "\ud800",
        '"\udc00"',
        b"NaN",
        b"Infinity",
        b"[-Infinity]",
        b"1e400",
        b"-1e400",
        b"9" * 5000,
        b"01",
        b"1.",
        b'{"a":1,}',
        b"[1] 2",
        b"'a'",
        b'"\n"',
        b'{"a":1, // b\n"c":2}',
    ],
)
def test_what_is_not_json_is_bad_json(text: bytes | str) -> None:
    assert refusal(text) == ("bad_json", "")


@pytest.mark.parametrize("integer", [SAFE_INTEGER_MAX, -SAFE_INTEGER_MAX])
def test_the_last_safe_integer_passes(integer: int) -> None:
    assert parse(str(integer)) == integer


@pytest.mark.parametrize(
    "number",
    [
        "9007199254740992",
        "-9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "725653563933458433",
        "18446744073709551615",
        "18446744073709551616",
        "1e20",
        "9" * 22,
        "-" + "9" * 22,
        "9" * 300,
    ],
)
def test_an_integer_that_would_be_rounded_is_refused_where_it_stands(number: str) -> None:
    text = f'{{"a": [1.5, {{"b:": {number}}}]}}'
    assert refusal(text) == ("unsafe_integer", "/a/1/b:")


@pytest.mark.parametrize("number", ["6.02e23", "1e21", "-1.5e300", "1E+21", "1e0000000000000000000000021", "5e-324"])
def test_a_far_number_that_is_no_integer_in_text_passes(number: str) -> None:
    assert parse(f'["9999999999999999999999", {number}]') == ["9" * 22, float(number)]


@pytest.mark.parametrize("integer", [9007199254740993, -(2**63), 2**64 - 1])
def test_an_id_of_64_bits_is_kept_digit_for_digit_when_asked(integer: int) -> None:
    assert dumps(parse(f'{{"id":{integer}}}', big_integers=True)) == b'{"id":%d}' % integer


@pytest.mark.parametrize("number", ["18446744073709551616", "9007199254740993.0", "9" * 30])
def test_a_number_that_cannot_be_kept_is_refused_even_then(number: str) -> None:
    assert refusal(f'{{"id":{number}}}', big_integers=True) == ("unsafe_integer", "/id")


def test_depth_64_passes_and_65_does_not() -> None:
    assert parse(nested(64)) is not None
    assert parse(b'{"a":' * 64 + b"[1]" + b"}" * 64) is not None
    assert refusal(nested(65)) == ("too_deep", "")
    assert refusal(b'{"a":' * 65 + b"[1]" + b"}" * 65) == ("too_deep", "")


def test_depth_is_the_callers() -> None:
    assert parse(b"7", max_depth=0) == 7
    assert parse(b"[1]", max_depth=0) == [1]
    assert refusal(b"[[]]", max_depth=0) == ("too_deep", "")


@pytest.mark.parametrize("text", [nested(5000), b"[" * 5000, b'{"a":' * 5000, nested(1023)])
def test_a_bottomless_text_is_refused_without_recursion(text: bytes) -> None:
    assert refusal(text) == ("too_deep", "")


def test_a_repeated_key_hidden_by_a_deep_value_is_refused() -> None:
    assert refusal(b'{"a":' + nested(1000) + b',"a":1}')[0] == "bad_json"


def test_a_body_of_exactly_the_limit_passes() -> None:
    assert parse("[1]", max_bytes=3) == [1]
    assert refusal("[1] ", max_bytes=3) == ("body_too_large", "")
    assert refusal('"é"', max_bytes=3) == ("body_too_large", "")


def test_a_pointer_is_cut_at_a_step_and_escaped() -> None:
    assert refusal(b'{"a/b~c": 1e20}') == ("unsafe_integer", "/a~1b~0c")
    long = "k" * (POINTER_MAX - 3)
    assert refusal(json.dumps({"a": {long: 2**60}})) == ("unsafe_integer", f"/a/{long}"[:POINTER_MAX])
    assert refusal(json.dumps({"a": {long + "k": 2**60}})) == ("unsafe_integer", "/a")


def test_a_reason_holds_no_value_of_the_text() -> None:
    for text in (b'{"k":"secret","k":"secret"}', b'["secret",]', b'"secret', b'["secret",99999999999999999]'):
        with pytest.raises(BadJson) as caught:
            parse(text)
        assert "secret" not in str(caught.value)
        assert "9999" not in str(caught.value)


def test_unsafe_numbers_of_a_value_are_found_in_order() -> None:
    assert find_unsafe_number({"a": [1, {"b": float("nan")}], "c": 2**53}) == UnsafeNumber(
        pointer="/a/1/b", reason="non_finite_number"
    )
    assert find_unsafe_number([True, 2**53]) == UnsafeNumber(pointer="/1", reason="unsafe_integer")
    assert find_unsafe_number(1e20) == UnsafeNumber(pointer="", reason="unsafe_integer")
    assert find_unsafe_number({"a": [2**53 - 1, 0.1, 1e21, "9" * 30, None]}) is None


def test_depth_of_a_value_is_that_of_its_text_and_ends_for_cycles() -> None:
    deep = parse(nested(64))
    assert not is_deeper_than(deep, 64)
    assert is_deeper_than(deep, 63)
    assert not is_deeper_than(7, 0)
    cycle: list[Any] = []
    cycle.extend([cycle, cycle])
    assert is_deeper_than(cycle, 10_000)


def test_what_cannot_be_written_is_a_type_error() -> None:
    assert dumps({"b": 1, "a": "é"}) == '{"b":1,"a":"é"}'.encode()
    for value in (2**64, "\ud800", {1: 2}, object()):
        with pytest.raises(TypeError):
            dumps(value)


def test_the_native_reader_still_says_so_when_text_is_too_deep() -> None:
    # `parse` tells the two refusals apart by these words.
    with pytest.raises(orjson.JSONDecodeError, match=r"^depth limit exceeded"):
        orjson.loads(nested(1024))
