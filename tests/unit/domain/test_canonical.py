from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.canonical import canonical, canonical_own, sha256_hex

SAFE = 2**53 - 1

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
keys = st.text(st.characters(max_codepoint=127)) | st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=30,
)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.text(),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner),
    max_leaves=30,
)


@given(values)
def test_it_writes_what_rfc_8785_says(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(st.dictionaries(st.text(st.characters(max_codepoint=127)), plain))
def test_what_is_our_own_is_written_alike_without_a_look_at_every_value(value: dict[str, Any]) -> None:
    assert canonical_own(value) == canonical(value)


@pytest.mark.parametrize("value", ["\ud800", 2**53, -(2**53), [2**60]])
def test_what_is_our_own_and_has_no_canonical_text_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"UTF-8|integer"):
        canonical_own({"site": value})


@given(plain)
def test_the_fast_path_writes_what_rfc_8785_says(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(st.lists(plain | st.floats(-1e15, 1e15)))
def test_it_is_a_fixed_point(value: Any) -> None:
    assert canonical(orjson.loads(canonical(value))) == canonical(value)


def test_keys_are_sorted_by_utf_16_and_numbers_spelled_as_in_ecmascript() -> None:
    value = {
        "\U00010000": 1.0,
        "\ue000": 1e21,
        "b": [1e-7, -0.0, 333333333.33333329],
        "a": "\x7f\u2028\x0f\n/",
    }
    assert canonical(value) == (
        '{"a":"\x7f\u2028\\u000f\\n/","b":[1e-7,0,333333333.3333333],"\U00010000":1,"\ue000":1e+21}'.encode()
    )


@pytest.mark.parametrize("integer", [SAFE, -SAFE])
def test_the_last_safe_integer_is_written(integer: int) -> None:
    assert canonical([integer]) == b"[%d]" % integer


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        SAFE + 1,
        -SAFE - 1,
        float("nan"),
        float("inf"),
        "\ud800",
        {"\ud800": 1},
        {1: 2},
        object(),
        {"a": b""},
        nested(200),
    ],
)
def test_what_has_no_canonical_text_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the kind is the contract, its words are two libraries'
        canonical(value)


def test_199_levels_are_written_by_both_paths() -> None:
    assert canonical(nested(199)) == b"[" * 200 + b"]" * 200
    assert canonical([1.5, nested(198)]).endswith(b"]" * 200)


def test_a_cyclic_object_is_refused() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(ValueError, match="nested deeper"):
        canonical(cycle)
    with pytest.raises(ValueError, match="nested deeper"):
        canonical([1.5, cycle])


def test_a_digest_is_64_lower_case_digits() -> None:
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
