"""`surface_host.genui` by the vectors that the browser's half runs too, and by what no vector thought of."""

import json
import re
from collections import UserDict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from surface_host.genui import Dropped, is_ui_schema, sanitize_genui_props

VECTORS: Final = Path(__file__).parents[2] / "vectors" / "genui"
PROPS: Final = ("addresses", "numbers", "kinds", "shapes")


def _cycle() -> dict[str, Any]:
    value: dict[str, Any] = {"a": 1}
    value["self"] = value
    return value


def _array_cycle() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def _twice() -> dict[str, Any]:
    shared = {"n": 1}
    return {"a": shared, "b": shared}


MADE: Final[dict[str, Any]] = {
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "-infinity": lambda: float("-inf"),
    "function": lambda: _cycle,
    "symbol": object,
    "undefined": lambda: ...,
    "date": partial(datetime.fromtimestamp, 0, UTC),
    "map": UserDict,
    "set": set,
    "regexp": lambda: re.compile("a"),
    "bytes": lambda: b"a",
    "instance": object,
    "proto": lambda: {"__proto__": {"polluted": True}, "a": 3},
    "cycle": _cycle,
    "array-cycle": _array_cycle,
    "twice": _twice,
}
"""What JSON cannot say, by the name it has in the vectors."""


def made(value: Any) -> Any:
    """A value of a vector, with what JSON cannot say in its place."""
    match value:
        case {"$": str(name)}:
            kind, _, count = name.partition(":")
            return [0] * int(count) if kind == "many" else MADE[name]()
        case dict():
            return {key: made(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case list():
            return [made(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def vectors(*names: str) -> list[Any]:
    found = [(name, vector) for name in names for vector in json.loads((VECTORS / f"{name}.json").read_text())]
    return [pytest.param(vector, id=f"{name}: {vector['name'][:60]!r}") for name, vector in found]


@pytest.mark.parametrize("vector", vectors("schemas"))
def test_a_schema_is_judged_as_the_vector_says(vector: dict[str, Any]) -> None:
    assert is_ui_schema(made(vector["value"])) is vector["legal"]


@pytest.mark.parametrize("vector", vectors(*PROPS))
def test_props_are_sanitised_as_the_vector_says(vector: dict[str, Any]) -> None:
    dropped: list[Dropped] = []
    kept = sanitize_genui_props(made(vector["props"]), dropped.append)
    assert json.dumps(kept) == json.dumps(made(vector["kept"]))
    assert dropped == [Dropped(found["code"], found["pointer"]) for found in vector["dropped"]]


def test_there_are_enough_vectors() -> None:
    assert len(vectors("schemas", *PROPS)) >= 120


def test_a_number_no_double_can_hold_is_dropped() -> None:
    """Only Python has such integers."""
    assert sanitize_genui_props({"x": 10**400, "y": -(10**400)}) == {}


def test_keys_that_are_no_texts_are_dropped() -> None:
    dropped: list[Dropped] = []
    assert sanitize_genui_props({1: "a", "b": {None: 1}}, dropped.append) == {"b": {}}
    assert dropped == [Dropped("genui.kind", ""), Dropped("genui.kind", "/b")]


ANYTHING: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.just(object()),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.tuples(inner)
        | st.frozensets(st.none())
    ),
    max_leaves=30,
)


@given(ANYTHING)
@example(_cycle())
def test_nothing_makes_it_raise_and_what_is_kept_is_json(value: Any) -> None:
    assert is_ui_schema(value) in (True, False)
    kept = sanitize_genui_props({"x": value})
    text = json.dumps(kept, allow_nan=False)
    assert sanitize_genui_props(json.loads(text)) == kept, "sanitised props are left as they are"


@given(ANYTHING)
def test_what_is_given_is_not_changed(value: Any) -> None:
    before = repr(value)
    sanitize_genui_props(value)
    assert repr(value) == before


@given(st.from_regex(r"\A-?[0-9]{1,30}(\.[0-9]{1,30})?\Z"))
def test_a_narrowed_number_is_the_number_that_was_written(text: str) -> None:
    kept = sanitize_genui_props({"x": text})["x"]
    assert kept == text or float(text) == kept
    assert isinstance(kept, str) or not float(kept).is_integer() or abs(kept) < 2**53
