"""Numbers, evaluations, states, patches and streams for both halves. Doubles are written as 16 hex digits, big endian."""

import copy
import hashlib
import json
import struct
from collections.abc import Iterator
from fractions import Fraction
from math import floor
from typing import Any, Final

import rfc8785
from document_cases import ACTIONS_OF, STATE, Vector, component, document, full, leaf, op, repeat, text

# ---- numbers -----------------------------------------------------------------------------------------------------


def hex_of(value: float) -> str:
    """A double as 16 hex digits."""
    return struct.pack(">d", value).hex()


def _spelled(value: float) -> str:
    """ECMAScript's spelling, by the other implementation of RFC 8785."""
    return rfc8785.dumps(value).decode()


def _bits() -> Iterator[float]:
    """Doubles without a pattern, from a linear congruence, so that every run writes the same."""
    state = 20_260_601
    while True:
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        value: float = struct.unpack(">d", state.to_bytes(8, "big"))[0]
        if value - value == 0:
            yield value


_TEXTS: Final = (
    0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 123.456, 1e15, -1e15, 999999999999999.9, 1e20, 1e21, 1.5e21, 123456789012345680000.0,
    1e-6, 1.5e-6, 1e-7, 1.5e-7, -1e-7, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1 / 3, 2 / 3, 0.1 + 0.2,
    9007199254740991.0, 9007199254740993.0, 1e16, 4.35, 0.000001, 100.0, 1e2, 1200.0, 0.00001234, 1e300, 1e-300,
)  # fmt: skip


def texts() -> Iterator[Vector]:
    """Numbers and how they are spelled."""
    bits = _bits()
    for value in (*_TEXTS, *(next(bits) for _ in range(40)), *(number / 7 for number in range(-10, 30))):
        yield {"number": hex_of(value), "text": _spelled(value)}
    yield {"number": hex_of(-0.0), "text": "0"}


_ROUNDED: Final = (
    0.5, -0.5, 1.5, 2.5, -2.5, 1.005, 2.675, 0.125, 0.375, 1.45, 8.345, 0.0000005, -0.4, -0.0000004, 123456.7895, 1e15,
    999999999999999.5, 4503599627370497.5, 0.49999999999999994, 5e-324, 0.045, 1.0000005,
)  # fmt: skip


def rounds() -> Iterator[Vector]:
    """Numbers rounded to 0, 1, 2 and 6 places, by exact fractions."""
    for value in _ROUNDED:
        for places in (0, 1, 2, 6):
            yield {"number": hex_of(value), "places": places, "result": hex_of(_half_away(value, places))}


def _half_away(value: float, places: int) -> float:
    scaled = abs(Fraction(value)) * 10**places
    whole = floor(scaled + Fraction(1, 2))
    made = float(Fraction(whole, 10**places))
    return -made if value < 0 and made else made


def powers() -> Iterator[Vector]:
    """Powers: each product is one rounded double, so the steps are written out here."""
    bases = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 10.0, 1.05, 1.0041666666666667, 0.9999, 3.0, 1e-10, -0.1, 1.0000001)
    for base in bases:
        for exponent in (0, 1, 2, 3, 7, 10, 49, 50, 360, 1023, 1024, -1, -2, -360):
            yield _power(base, exponent)
    for base, exponent in ((2.0, 0.5), (0.0, 0.5), (1e15, 0.5), (2.25, 0.5), (5e-324, 0.5)):
        yield {"base": hex_of(base), "exponent": hex_of(exponent), "result": hex_of(base**0.5)}
    for base, exponent in ((-1.0, 0.5), (2.0, 1.5), (2.0, 1025.0), (2.0, -1025.0), (0.0, -1.0), (2.0, 0.25)):
        yield {"base": hex_of(base), "exponent": hex_of(exponent), "code": "document.invalid_power"}


def _power(base: float, exponent: int) -> Vector:
    question = {"base": hex_of(base), "exponent": hex_of(float(exponent))}
    result = 1.0
    for bit in f"{abs(exponent):b}":
        for factor in (result, base)[: 1 + int(bit)]:
            result *= factor
            if abs(result) > 1e15:
                return {**question, "code": "document.value_range"}
    if exponent < 0:
        if result == 0:
            return {**question, "code": "document.invalid_power"}
        result = 1 / result
        if abs(result) > 1e15:
            return {**question, "code": "document.value_range"}
    return {**question, "result": hex_of(result + 0.0)}


def grids() -> Iterator[Vector]:
    """Values and whether they are on a grid."""
    for value, step, base, on in (
        (0.3, 0.1, 0.0, True), (0.7, 0.1, 0.0, True), (19.99, 0.01, 0.0, True), (1.1, 0.1, 0.3, True),
        (0.35, 0.1, 0.0, False), (5.0, 2.0, 1.0, True), (6.0, 2.0, 1.0, False), (-0.3, 0.1, 0.0, True),
        (-1.5, 0.5, -10.0, True), (1e15, 1.0, 0.0, True), (1e15, 0.1, 0.0, True), (1e15, 3.0, 0.0, True),
        (1e15, 1e-300, 0.0, True), (0.0, 1e15, 0.0, True), (1.0, 1e15, 0.0, True), (1e7, 1e15, 0.0, False), (1.0000000001, 1.0, 0.0, True),
        (1.000000002, 1.0, 0.0, False), (1000000.0005, 1.0, 0.0, True), (1000000.002, 1.0, 0.0, False),
        (1 / 3, 1 / 3, 0.0, True), (100.1, 0.1, 0.1, True), (0.5, 1.0, 0.0, False), (2.0**-40, 1.0, 0.0, True),
    ):  # fmt: skip
        yield {"value": hex_of(value), "step": hex_of(step), "base": hex_of(base), "on": on}


# ---- evaluation --------------------------------------------------------------------------------------------------


def evaluations() -> Iterator[Vector]:
    """Expressions on a state: `expression` is a derived value `d` beside others, `expect` its value or failure."""
    one: dict[str, Any] = {"x": 3, "zero": 0, "t": True, "s": "é😀"}
    third = 1 / 3
    values: dict[str, tuple[Any, Any]] = {
        "a number": (7, 7.0),
        "a text": ("x", "x"),
        "a boolean": (True, True),
        "a field": ({"ref": "x"}, 3.0),
        "if true": (op("if", {"ref": "t"}, 1, 2), 1.0),
        "if false": (op("if", op("not", {"ref": "t"}), 1, 2), 2.0),
        "and": (op("and", True, True, False), False),
        "and of all": (op("and", True, True), True),
        "or": (op("or", False, True), True),
        "or of none": (op("or", False, False), False),
        "not": (op("not", False), True),
        "eq of numbers": (op("eq", 0.1, op("sub", 0.3, 0.2)), False),
        "eq of zeros": (op("eq", 0, op("mul", -1, 0)), True),
        "eq of texts": (op("eq", "é", "e\u0301"), False),
        "lt": (op("lt", 1, 2), True),
        "lt of equals": (op("lt", 2, 2), False),
        "lte of equals": (op("lte", 2, 2), True),
        "gt": (op("gt", {"ref": "x"}, 2), True),
        "gte of equals": (op("gte", 2, 2), True),
        "add from the left": (op("add", 0.1, 0.2, 0.3), 0.1 + 0.2 + 0.3),
        "add in the other order": (op("add", 0.3, 0.2, 0.1), 0.3 + 0.2 + 0.1),
        "add to the limit": (op("add", 999999999999999, 1), 1e15),
        "sub": (op("sub", 0.3, 0.1), 0.3 - 0.1),
        "mul": (op("mul", 1.1, 1.1, 1.1), 1.1 * 1.1 * 1.1),
        "mul to minus zero": (op("mul", -1, 0), 0.0),
        "div": (op("div", 1, 3), third),
        "div of minus zero": (op("div", 0, -5), 0.0),
        "div too small": (op("div", 1e-300, 1e15), 1e-300 / 1e15),
        "pow": (op("pow", 2, 10), 1024.0),
        "pow of a negative exponent": (op("pow", 2, -2), 0.25),
        "square root": (op("pow", 2, 0.5), 2**0.5),
        "min": (op("min", 3, 1, 2), 1.0),
        "max": (op("max", 3, 1, 2), 3.0),
        "round": (op("round", 2.5), 3.0),
        "round to places": (op("round", 1.005, 2), 1.0),
        "round to zero": (op("round", -0.4), 0.0),
        "concat": (op("concat", "a", 1, True), "a1true"),
        "concat of numbers": (op("concat", 1e-7, " ", 0.1, " ", op("mul", 1e15, -1)), "1e-7 0.1 -1000000000000000"),
        "concat of a large product": (op("concat", op("pow", 10, 15), ""), "1000000000000000"),
        "concat of a pair": (op("concat", {"ref": "s"}, False), "é😀false"),
        "concat to the limit": (op("concat", "x" * 4_094, "😀"), "x" * 4_094 + "😀"),
        "a branch not taken fails": (op("if", True, 1, op("div", 1, {"ref": "zero"})), 1.0),
        "or stops at true": (op("or", True, op("eq", op("div", 1, 0), 1)), True),
        "and stops at false": (op("and", False, op("eq", op("div", 1, 0), 1)), False),
        "another derived value": (op("add", {"ref": "e"}, {"ref": "e"}), 8.0),
        "one that does not need the failing one": (op("if", False, {"ref": "broken"}, 5), 5.0),
    }
    for name, (expression, value) in values.items():
        yield {"id": name, **_asked(one, expression), "expect": _value(value)}
    at = "/derived/d"
    failures: dict[str, tuple[Any, str, str]] = {
        "div by zero": (op("div", 1, {"ref": "zero"}), "division_by_zero", ""),
        "div by minus zero": (op("div", 1, op("mul", -1, 0)), "division_by_zero", ""),
        "zero by zero": (op("div", 0, 0), "division_by_zero", ""),
        "add beyond the limit": (op("add", 1e15, 1), "value_range", ""),
        "beyond the limit on the way": (op("add", 1e15, 1, -1), "value_range", ""),
        "sub beyond the limit": (op("sub", -1e15, 1), "value_range", ""),
        "mul beyond the limit": (op("mul", 1e8, 1e8), "value_range", ""),
        "div beyond the limit": (op("div", 1e15, 0.5), "value_range", ""),
        "pow beyond the limit": (op("pow", 10, 16), "value_range", ""),
        "no root": (op("pow", -1, 0.5), "invalid_power", ""),
        "no such exponent": (op("pow", 4, 1.5), "invalid_power", ""),
        "zero to minus one": (op("pow", 0, -1), "invalid_power", ""),
        "too long": (op("concat", "x" * 4_095, "😀"), "text_too_long", ""),
        "the first argument that fails": (
            op("add", op("div", 1, 0), op("pow", -1, 0.5)),
            "division_by_zero",
            "/args/0",
        ),
        "all arguments before the fold": (op("add", 1e15, 1, op("div", 1, 0)), "division_by_zero", "/args/2"),
        "a condition": (op("if", op("eq", op("div", 1, 0), 1), 1, 2), "division_by_zero", "/args/0/args/0"),
        "a branch that is taken": (op("if", True, op("div", 1, 0), 2), "division_by_zero", "/args/1"),
        "and before the first false": (
            op("and", op("eq", op("div", 1, 0), 1), False),
            "division_by_zero",
            "/args/0/args/0",
        ),
    }
    for name, (expression, code, where) in failures.items():
        yield {"id": name, **_asked(one, expression), "expect": {"code": f"document.{code}", "pointer": at + where}}
    broken = {"code": "document.division_by_zero", "pointer": "/derived/broken/args/0"}
    yield {"id": "a derived value that failed", **_asked(one, op("add", 1, {"ref": "broken"})), "expect": broken}


def _asked(state: dict[str, Any], expression: Any) -> Vector:
    return {
        "state": state,
        "derived": {
            "d": expression,
            "e": op("add", {"ref": "x"}, 1),
            "broken": op("add", op("div", 1, {"ref": "zero"}), 1),
        },
    }


def _value(value: Any) -> Vector:
    return {"number": hex_of(value)} if isinstance(value, float) else {"value": value}


# ---- state -------------------------------------------------------------------------------------------------------

_DEFAULTS: Final = {name: field["default"] for name, field in STATE.items()}


def states() -> Iterator[Vector]:
    """Steps on the state of a document; each gives the whole state, or a refusal after which it is as before."""
    chosen = component("Select")
    chosen["actions"]["broken"] = {"type": "set", "field": "any", "value": op("div", 1, {"ref": "amount"})}
    chosen["actions"]["some"] = {"type": "reset", "fields": ["amount"]}
    raw = text(chosen)
    moved = {**_DEFAULTS, "amount": 0.5}
    yield _sequence(
        "writes",
        raw,
        _step("update", {"changes": {"amount": 0.5}}, moved),
        _step("update", {"changes": {"amount": 0.3}}, "out_of_domain", "/amount"),
        _step("update", {"changes": {"amount": 10.5}}, "out_of_domain", "/amount"),
        _step("update", {"changes": {"amount": "1"}}, "type_mismatch", "/amount"),
        _step("update", {"changes": {"agreed": 1}}, "type_mismatch", "/agreed"),
        _step("update", {"changes": {"amount": None}}, "type_mismatch", "/amount"),
        _step("update", {"changes": {"name": "c"}}, "out_of_domain", "/name"),
        _step("update", {"changes": {"name": "b", "nobody": 1}}, "unknown_field", "/nobody"),
        _step("update", {"changes": {"nobody": 1, "name": "c"}}, "unknown_field", "/nobody"),
        _step("update", {"changes": {"any": True, "amount": 0.3}}, "out_of_domain", "/amount"),
        _step("update", {"changes": {"name": "b", "free": "x" * 4_096}}, {**moved, "name": "b", "free": "x" * 4_096}),
        _step("update", {"changes": {"free": "x" * 4_097}}, "out_of_domain", "/free"),
        _step("update", {"changes": {}}, {**moved, "name": "b", "free": "x" * 4_096}),
    )
    yield _sequence(
        "actions",
        raw,
        _step("run", {"action": "double"}, {**_DEFAULTS, "amount": 4}),
        _step("run", {"action": "double"}, {**_DEFAULTS, "amount": 8}),
        _step("run", {"action": "double"}, "out_of_domain", "/amount"),
        _step("run", {"action": "some"}, _DEFAULTS),
        _step("update", {"changes": {"amount": 0, "agreed": True}}, {**_DEFAULTS, "amount": 0, "agreed": True}),
        _step("run", {"action": "broken"}, "division_by_zero", "/actions/broken/value"),
        _step("run", {"action": "nobody"}, "unknown_action", ""),
        _step("run", {"action": "send"}, "unknown_action", ""),
        _step("run", {"action": "clear"}, _DEFAULTS),
    )
    yield _sequence(
        "results",
        raw,
        _step("map", {"action": "send", "result": {"ticket": "T1", "more": 1}}, {**_DEFAULTS, "free": "T1"}),
        _step("map", {"action": "send", "result": {"more": 1}}, "missing_key", "/ticket"),
        _step("map", {"action": "send", "result": {"ticket": 7}}, "type_mismatch", "/free"),
        _step("map", {"action": "clear", "result": {}}, "unknown_action", ""),
    )
    yield _sequence(
        "restoring",
        raw,
        _step(
            "restore",
            {"saved": {"amount": 0.5, "name": "zz", "agreed": True, "nobody": 1}},
            {**moved, "agreed": True},
        ),
        _step("restore", {"saved": []}, _DEFAULTS),
        _step("restore", {"saved": None}, _DEFAULTS),
        _step("restore", {"saved": {"free": 1, "any": 1e15}}, {**_DEFAULTS, "any": 10**15}),
        _step("restore", {"saved": {"free": "good", "deep": [[["x"]]]}}, {**_DEFAULTS, "free": "good"}),
    )
    yield _sequence(
        "arguments",
        raw,
        _arguments({}, {"title": "for a", "amount": 2}),
        _arguments({"name": "b", "amount": 2.5}, {"title": "for b", "amount": 2.5}),
        _step("arguments", {"action": "send", "values": {"amount": 99}}, "out_of_domain", "/amount"),
        _step("arguments", {"action": "send", "values": {"nobody": 99}}, "unknown_field", "/nobody"),
        _step("arguments", {"action": "clear", "values": {}}, "unknown_action", ""),
    )
    yield from _large_states()


def _large_states() -> Iterator[Vector]:
    """Rules H9, and arguments at their limit."""
    fields = {f"f{number}": {"type": "string", "default": ""} for number in range(23)}
    long = [repeat("界", 4_096)]
    filled = {f"f{number}": {"text": long} for number in range(21)}
    steps = [_step("update", {"changes": {f"f{number}": {"text": long}}}, None) for number in range(21)]
    yield _sequence(
        "23 fields",
        text(document(leaf(), state=fields)),
        *steps,
        _step("update", {"changes": {"f21": {"text": long}}}, "state_too_large", ""),
        _step("update", {"changes": {"f22": "short"}}, {**dict.fromkeys(fields, ""), **filled, "f22": "short"}),
        _step("restore", {"saved": {**filled, "f21": {"text": long}}}, dict.fromkeys(fields, "")),
    )
    old = {name: {"text": long} for name in fields}
    yield {
        **_sequence(
            "an old state beyond the limit",
            text(document(leaf(), state=fields)),
            _step("update", {"changes": {"f0": "x"}}, "state_too_large", ""),
        ),
        "state": old,
    }
    wide = {f"f{number}": {"type": "string", "default": ""} for number in range(5)}
    send = {
        **ACTIONS_OF["send"],
        "args": {f"a{number}": {"ref": f"f{number}"} for number in range(5)},
        "resultMap": {},
    }
    # Five names, quotes, colons and commas: 41 bytes beside the texts.
    texts_of = {f"f{number}": {"text": [repeat("x", 4_000)]} for number in range(4)}
    fits, over = ({**texts_of, "f4": {"text": [repeat("x", 384 - 41 + more)]}} for more in (0, 1))
    yield _sequence(
        "arguments of 16,384 bytes",
        text(document(leaf(), state=wide, actions={"send": send})),
        _arguments(fits, {key.replace("f", "a"): value for key, value in fits.items()}),
        _step("arguments", {"action": "send", "values": over}, "arguments_too_large", ""),
    )


def _sequence(name: str, raw: str, *steps: Vector) -> Vector:
    return {"id": name, "document": raw, "steps": list(steps)}


def _step(do: str, given: Vector, expected: Any, pointer: str | None = None) -> Vector:
    if pointer is not None:
        return {"do": do, **given, "expect": {"code": f"document.{expected}", "pointer": pointer}}
    return {"do": do, **given, "expect": {"ok": True} if expected is None else {"state": expected}}


def _arguments(values: Vector, expected: Vector) -> Vector:
    return {"do": "arguments", "action": "send", "values": values, "expect": {"arguments": expected}}


# ---- patches -----------------------------------------------------------------------------------------------------


def _tree() -> dict[str, Any]:
    stack: dict[str, Any] = {"id": "s", "type": "Stack", "props": {}, "children": [leaf("a"), leaf("b")]}
    return full({"id": "r", "type": "Stack", "props": {}, "children": [stack, leaf("c")]})


def _digest(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def _text_node(name: str, words: Any = "x") -> dict[str, Any]:
    return {"id": name, "type": "Text", "props": {"text": words}}


def patches() -> Iterator[Vector]:
    """A patch of one document each, and the digest of what it leads to."""
    children: Any = _tree()["root"]["children"]
    inner: Any = children[0]["children"]
    taken: dict[str, tuple[list[Any], list[Any]]] = {
        "add at the front": (
            [_add("s", 0, _text_node("x"))],
            [{**children[0], "children": [_text_node("x"), *inner]}, children[1]],
        ),
        "add at the end": ([_add("r", 2, _text_node("x"))], [*children, _text_node("x")]),
        "remove": ([{"op": "remove", "id": "a"}], [{**children[0], "children": inner[1:]}, children[1]]),
        "remove with all below": ([{"op": "remove", "id": "s"}], [children[1]]),
        "remove and add again": (
            [{"op": "remove", "id": "c"}, _add("r", 1, _text_node("c"))],
            [children[0], _text_node("c")],
        ),
        "add below what was added": (
            [_add("r", 0, {"id": "n", "type": "Card", "props": {}}), _add("n", 0, leaf("m"))],
            [{"id": "n", "type": "Card", "props": {}, "children": [leaf("m")]}, *children],
        ),
        "update": (
            [{"op": "update", "id": "s", "props": {"gap": "large"}}],
            [{**children[0], "props": {"gap": "large"}}, children[1]],
        ),
        "update visible": (
            [{"op": "update", "id": "c", "props": {}, "visible": {"ref": "agreed"}}],
            [children[0], {**children[1], "visible": {"ref": "agreed"}}],
        ),
        "a fault mended by the next operation": (
            [_add("r", 2, _text_node("x", 1)), {"op": "update", "id": "x", "props": {"text": "x"}}],
            [*children, _text_node("x")],
        ),
    }
    for name, (operations, after) in taken.items():
        result = _tree()
        result["root"]["children"] = after
        yield _patch(name, operations) | {"expect": {"ok": True, "sha256": _digest(result)}}
    x = _text_node("x")
    refused: dict[str, tuple[Any, str, str]] = {
        "no array": ({}, "wrong_type", ""),
        "no operation": ([], "wrong_count", ""),
        "257 operations": ([{"op": "remove", "id": "a"}] * 257, "wrong_count", ""),
        "an operation null": ([None], "wrong_type", "/0"),
        "no op": ([{"id": "a"}], "missing_key", "/0"),
        "op replace": ([{"op": "replace", "path": "/root", "value": 1}], "not_allowed", "/0/op"),
        "a path": ([{"op": "remove", "id": "a", "path": "/x"}], "unknown_key", "/0/path"),
        "add without index": ([{"op": "add", "parent": "r", "node": x}], "missing_key", "/0"),
        "add at a fraction": ([_add("r", 0.5, x)], "wrong_type", "/0/index"),
        "add before the front": ([_add("r", -1, x)], "out_of_range", "/0/index"),
        "add a text": ([_add("r", 0, "x")], "wrong_type", "/0/node"),
        "add behind the end": ([_add("r", 3, x)], "patch_target", "/0/index"),
        "add to nobody": ([_add("nobody", 0, x)], "patch_target", "/0/parent"),
        "add to what takes no children": ([_add("c", 0, x)], "patch_target", "/0/parent"),
        "add an id that is there": ([_add("r", 0, leaf("b"))], "duplicate_id", "/0/node/id"),
        "add an id that is there, below": (
            [_add("r", 0, {**leaf("n"), "children": [1, leaf("b")]})],
            "duplicate_id",
            "/0/node/children/1/id",
        ),
        "add an id twice": ([_add("r", 0, x), _add("r", 0, x)], "duplicate_id", "/1/node/id"),
        "remove nobody": ([{"op": "remove", "id": "nobody"}], "patch_target", "/0/id"),
        "remove the root": ([{"op": "remove", "id": "r"}], "patch_target", "/0/id"),
        "remove twice": ([{"op": "remove", "id": "a"}, {"op": "remove", "id": "a"}], "patch_target", "/1/id"),
        "remove what went with its parent": (
            [{"op": "remove", "id": "s"}, {"op": "remove", "id": "a"}],
            "patch_target",
            "/1/id",
        ),
        "update nobody": ([{"op": "update", "id": "nobody", "props": {}}], "patch_target", "/0/id"),
        "update without props": ([{"op": "update", "id": "a"}], "missing_key", "/0"),
        "a bad id": ([{"op": "remove", "id": "__x"}], "bad_id", "/0/id"),
        "the result has another shape": (
            [{"op": "update", "id": "a", "props": {"html": "x"}}],
            "unknown_key",
            "/root/children/0/children/0/props/html",
        ),
        "the result has another meaning": (
            [_add("r", 0, _text_node("x", {"ref": "nobody"}))],
            "unknown_ref",
            "/root/children/0/props/text/ref",
        ),
        "the result is too deep": ([_add("r", 0, _deep(16))], "ui_too_deep", "/root" + "/children/0" * 16),
    }
    for name, (operations, code, pointer) in refused.items():
        yield _patch(name, operations) | {"expect": {"code": f"document.{code}", "pointer": pointer}}
    reserved = '[{"op":"update","id":"a","props":{"__proto__":{}}}]'
    yield {
        "id": "a reserved key",
        "document": text(_tree()),
        "patch": reserved,
        "expect": {"code": "document.reserved_key", "pointer": "/0/props/__proto__"},
    }
    # What stands around the words is 69 bytes long.
    around = '{"op":"add","parent":"r","index":2,"node":{"id":"x","type":"Markdown","props":{"text":""}}}'
    for more in (0, 1):
        pieces = [around.replace('"x"', f'"x{number}"').split('""')[0] + '"' for number in range(4)]
        used = 2 + 3 + sum(len(piece) + len('"}}}') for piece in pieces)
        length = 65_536 - used - 3 * 16_384 + more
        sizes = [16_384, 16_384, 16_384, length]
        joined: list[Any] = ["["]
        for number, (piece, size) in enumerate(zip(pieces, sizes, strict=True)):
            joined += [("," if number else "") + piece, repeat("y", size), '"}}}']
        expect: Vector = {"ok": True} if not more else {"code": "document.patch_too_large", "pointer": ""}
        yield {"id": f"{65_536 + more:,} bytes", "document": text(_tree()), "patch": [*joined, "]"], "expect": expect}


def _add(parent: str, index: Any, node: Any) -> Vector:
    return {"op": "add", "parent": parent, "index": index, "node": node}


def _deep(levels: int) -> Any:
    node: Any = leaf("bottom")
    for number in range(levels - 1):
        node = {"id": f"d{number}", "type": "Stack", "props": {}, "children": [node]}
    return node


def _patch(name: str, operations: Any) -> Vector:
    return {"id": name, "document": text(_tree()), "patch": text(operations)}


# ---- streams -----------------------------------------------------------------------------------------------------


def streams() -> Iterator[Vector]:
    """Frames of one generation `g` of epoch 1, and what becomes of each."""
    add = [_add("r", 2, _text_node("x"))]
    remove = [{"op": "remove", "id": "x"}]
    whole = _tree()
    yield _stream(
        "from the first to the last",
        _frame(1, 1, "patch", add, seq=1, revision=2),
        _frame(2, 2, "patch", remove, seq=2, revision=3),
        _frame(3, 3, "complete", None, seq=3, revision=3, status="complete"),
        _frame(4, 3, "patch", add, outcome="late", seq=3, revision=3, status="complete"),
        _frame(3, 3, "complete", None, outcome="repeated", seq=3, revision=3, status="complete"),
        _frame(3, 3, "cancel", None, code="frame_conflict", pointer="/seq"),
    )
    yield _stream(
        "repeated and other content",
        _frame(1, 1, "patch", add, seq=1, revision=2),
        _frame(1, 1, "patch", add, outcome="repeated", seq=1, revision=2),
        _frame(1, 1, "patch", remove, code="frame_conflict", pointer="/seq"),
        _frame(1, 2, "patch", add, code="frame_conflict", pointer="/seq"),
        _frame(0, 1, "patch", add, outcome="late", seq=1, revision=2),
    )
    yield _stream(
        "a gap and its cure",
        _frame(2, 1, "patch", add, code="frame_gap", pointer="/seq"),
        _frame(3, 1, "complete", None, code="frame_gap", pointer="/seq"),
        _frame(4, 5, "checkpoint", whole, seq=4, revision=6),
        _frame(2, 1, "patch", add, outcome="late", seq=4, revision=6),
        _frame(5, 5, "patch", add, code="frame_base", pointer="/baseRevision"),
        _frame(5, 7, "patch", add, code="frame_base", pointer="/baseRevision"),
        _frame(5, 5, "checkpoint", whole, code="frame_base", pointer="/baseRevision"),
        _frame(5, 6, "patch", add, seq=5, revision=7),
    )
    yield _stream(
        "an illegal patch keeps the old snapshot and its number",
        _frame(
            1,
            1,
            "patch",
            [_add("r", 0, _text_node("x", 1))],
            code="type_mismatch",
            pointer="/root/children/0/props/text",
        ),
        _frame(1, 1, "patch", remove, code="patch_target", pointer="/0/id"),
        _frame(1, 1, "patch", add, seq=1, revision=2),
        _frame(2, 2, "cancel", None, seq=2, revision=2, status="cancelled"),
        _frame(3, 2, "patch", remove, outcome="late", seq=2, revision=2, status="cancelled"),
    )
    yield _stream(
        "another generation, another epoch",
        _frame(1, 1, "patch", add, generation="h", code="frame_generation", pointer="/generation"),
        _frame(1, 1, "patch", add, epoch=2, code="frame_epoch", pointer="/epoch"),
        _frame(1, 1, "patch", add, generation="h", epoch=2, code="frame_generation", pointer="/generation"),
    )
    yield _fixed()
    yield _stream("256 snapshots", *(_frame(n, n, "patch", remove if n % 2 == 0 else add, seq=n, revision=n + 1) for n in range(1, 256)),
                  _frame(256, 256, "patch", remove, code="frame_budget", pointer=""),
                  _frame(256, 256, "complete", None, seq=256, revision=256, status="complete"))  # fmt: skip


def _fixed() -> Vector:
    def of(**changed: Any) -> Any:
        return {**_tree(), **changed}

    def renamed() -> Any:
        made = _tree()
        made["root"]["id"] = "other"
        return made

    def retyped() -> Any:
        made = _tree()
        made["root"]["children"][1] = _text_node("c")
        return made

    def select(*values: str) -> Any:
        made = _tree()
        options = [{"value": value, "label": value} for value in values]
        node = {"id": "choose", "type": "Select", "props": {"field": "name", "label": "N", "options": options}}
        made["root"]["children"].append(node)
        return made

    def refused(document_: Any, pointer: str, base: int = 1) -> Vector:
        return _frame(base, base, "checkpoint", document_, code="declarations_changed", pointer=pointer)

    state = {**copy.deepcopy(STATE), "more": {"type": "boolean", "default": True}}
    reordered = {**_tree(), "state": dict(reversed(STATE.items()))}
    return _stream(
        "what is fixed",
        refused({**of(), "version": "1.0", "actions": {}}, "/version"),
        refused(of(state=state), "/state"),
        refused(of(derived={"d": 1}), "/derived"),
        refused(of(actions={"clear": {"type": "reset"}}), "/actions"),
        refused(renamed(), "/root/id"),
        refused(retyped(), "/root/children/1/type"),
        _frame(1, 1, "checkpoint", of(title="Another", derived={}), seq=1, revision=2),
        _frame(2, 2, "checkpoint", reordered, seq=2, revision=3),
        _frame(3, 3, "checkpoint", select("a", "b"), seq=3, revision=4),
        refused(select("a", "b", "c"), "/root/children/2/props/options", 4),
        _frame(4, 4, "checkpoint", select("b", "a"), seq=4, revision=5),
        _frame(5, 5, "checkpoint", _tree(), seq=5, revision=6),
        refused(select("a", "c"), "/root/children/2/props/options", 6),
    )


def _stream(name: str, *frames: Vector) -> Vector:
    return {"id": name, "document": text(_tree()), "frames": list(frames)}


def _frame(
    number: int,
    base: int,
    kind: str,
    body: Any,
    *,
    generation: str = "g",
    epoch: int = 1,
    **expected: Any,
) -> Vector:
    """A frame, and either its refusal (`code`, `pointer`) or what the generation is then."""
    frame = {"generation": generation, "epoch": epoch, "seq": number, "baseRevision": base, "kind": kind}
    if body is not None:
        frame["operations" if kind == "patch" else "document"] = json.loads(json.dumps(body))
    if "code" in expected:
        return {"frame": frame, "expect": {**expected, "code": f"document.{expected['code']}"}}
    return {"frame": frame, "expect": {"outcome": "accepted", "status": "streaming", **expected}}
