"""What session data may be, at the edge."""

from typing import Any

import pytest

from gateway.domain.session_data import SESSION_DATA_BYTES, SESSION_DATA_DEPTH, Unfit, judged


def of_bytes(count: int) -> dict[str, Any]:
    """An object of exactly so many bytes of canonical text."""
    return {"t": "x" * (count - len('{"t":""}'))}


def of_depth(depth: int) -> dict[str, Any]:
    """An object whose deepest object lies at `depth`, the root being 0."""
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"d": value}
    return value


def reason(value: object) -> str | None:
    found = judged(value)
    return found.reason if isinstance(found, Unfit) else None


def test_its_text_is_canonical() -> None:
    assert judged({"b": 1.0, "a": "ä"}) == '{"a":"ä","b":1}'


@pytest.mark.parametrize("value", [None, [], "{}", 1, True])
def test_only_an_object_is_kept(value: object) -> None:
    assert reason(value) == "not_an_object"


def test_the_largest_object_is_kept_and_one_byte_more_is_not() -> None:
    assert reason(of_bytes(SESSION_DATA_BYTES)) is None
    assert reason(of_bytes(SESSION_DATA_BYTES + 1)) == "too_large"
    # Bytes count, not characters.
    assert reason({"t": "ä" * (SESSION_DATA_BYTES // 2)}) == "too_large"


def test_the_deepest_object_is_kept_and_one_level_more_is_not() -> None:
    assert SESSION_DATA_DEPTH == 64
    assert reason(of_depth(64)) is None
    assert reason(of_depth(65)) == "too_deep"


@pytest.mark.parametrize("number", [2**53, -(2**53), float("inf"), float("nan")])
def test_a_number_javascript_would_change_is_not_kept(number: float) -> None:
    found = judged({"deep": [{"n": number}]})
    assert isinstance(found, Unfit)
    assert found.reason == "unsafe_integer"
    assert "`/deep/0/n`" in found.message
    assert str(number) not in found.message


def test_a_cycle_and_half_a_surrogate_pair_are_not_json() -> None:
    ring: dict[str, Any] = {}
    ring["self"] = ring
    assert reason(ring) == "too_deep"
    assert reason({"t": "\ud800"}) == "bad_json"
