"""Texts and documents about the edges of the limits."""

# Documents are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import json
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

from surface_host.documents.table import LIMITS

Json = Any


def edge_text(chance: Random) -> bytes:
    """A text about one of the scanner's limits, now and then with a second fault that comes before or after."""
    near = chance.choice((-1, 0, 0, 1, 1, 2))
    depth, items = LIMITS["depth"] + near, LIMITS["items"] + near
    last = chance.choice((b"1", b"NaN", b'"\\ud800"', b"1e400", b'{"a":1,"a":2}', b"", b"[", b"{}"))
    texts: tuple[Callable[[], bytes], ...] = (
        lambda: b"[" * (depth + 1) + last + b"]" * (depth + 1),
        lambda: b'{"a":' * (depth + 1) + (last or b"0") + b"}" * (depth + 1),
        lambda: b"[" + b"0," * (items - 1) + last + b"]",
        lambda: b"{" + b",".join(b'"k%d":0' % n for n in range(items)) + b"}",
        lambda: b'["' + b"x" * (LIMITS["string"] + near) + b'",' + (last or b"0") + b"]",
        lambda: json.dumps({"x" * (LIMITS["string"] + near): 1}).encode(),
        lambda: b'["' + "😀".encode() * (LIMITS["string"] // 2 + near) + b'"]',
        lambda: (
            b"["
            + b",".join(b"[" + b"0," * 4094 + b"0]" for _ in range(7))
            + b","
            + b"0," * (4088 + near - 8)
            + last
            + b"]"
        ),
        lambda: b'"' + b" " * (LIMITS["bytes"] + near - 2) + b'"',
    )
    return chance.choice(texts)()


def budget_edge(chance: Random) -> Json:
    """A document about one of the budgets of nodes and expressions, or with derived values that hang on each other."""
    near = chance.choice((-1, 0, 0, 1, 1))
    leaf: Json = {"id": "x", "type": "Divider", "props": {}}
    document: Json = {"version": "1.1", "title": "T", "root": leaf}
    match chance.randrange(5):
        case 0:
            below = [{"id": f"n{n}", "type": "Divider", "props": {}} for n in range(LIMITS["nodes"] + near - 1)]
            document["root"] = {"id": "r", "type": "Stack", "props": {}, "children": below}
        case 1:
            for n in range(LIMITS["ui_depth"] + near - 1):
                document["root"] = {"id": f"n{n}", "type": "Card", "props": {}, "children": [document["root"]]}
        case 2:
            document["derived"] = {"d": _nots(LIMITS["expression_depth"] + near, chance.random() < 0.5)}
        case 3:
            # 64 times an operator with its arguments, and one more that brings the count near the limit.
            each = LIMITS["expressions"] // 128
            args: list[Json] = [{"op": "and", "args": [True] * (each - 1)} for _ in range(2)]
            document["derived"] = {f"d{n}": {"op": "or", "args": [*args[:1], True]} for n in range(63)}
            spent = 63 * (each + 2)
            rest = LIMITS["expressions"] - spent + near
            rows = [{"c": {"op": "not", "args": [True]}} for _ in range(rest // 2)]
            more = [{"c": {"ref": "d0"}}] * (rest % 2)
            document["root"] = _table([*rows, *more])
        case _:
            # The longest chain there can be, each as deep as may be, the first hanging on all others.
            count, depth = 64, LIMITS["expression_depth"]
            names = [f"d{n}" for n in range(count)]
            last = chance.choice((True, {"ref": "d0"}, {"op": "eq", "args": [{"op": "div", "args": [1, 0]}, 1]}))
            chain = {name: _nots(depth, {"ref": after}) for name, after in pairwise(names)} | {names[-1]: last}
            document["derived"] = dict(chance.sample([*chain.items()], count)) if chance.random() < 0.5 else chain
    return document


def _nots(depth: int, inner: Json) -> Json:
    """An expression of exactly that depth."""
    for _ in range(depth - 1):
        inner = {"op": "not", "args": [inner]}
    return inner


def _table(rows: list[Json]) -> Json:
    columns = [{"key": "c", "label": "C"}]
    tables = [
        {"id": f"t{n}", "type": "Table", "props": {"columns": columns, "rows": rows[n * 500 : n * 500 + 500]}}
        for n in range(4)
    ]
    return {"id": "r", "type": "Stack", "props": {}, "children": tables}
