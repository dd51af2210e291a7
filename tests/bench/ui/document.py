"""The document that is measured: 199 nodes in exactly 262,144 bytes, of every kind people write and nothing hollow."""

import json
from typing import Any, Final

NODES: Final = 199
BYTES: Final = 262_144
ROWS: Final = 46
CARDS: Final = 24
"""Each of seven nodes; with the root, what is computed and the last words they are 199."""

PATCHED: Final = "t3"
"""The node that a patch changes."""

_SENTENCE: Final = (
    "The order left the warehouse in the morning and is expected before noon on the following working day. "
)

Node = dict[str, Any]


def document() -> bytes:
    """The text of it; the notes of its cards are as long as it takes."""
    value = _document()
    short = BYTES - len(_text(value))
    return _text(_padded(value, (_SENTENCE * (short // len(_SENTENCE) + 1))[:short]))


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _padded(value: Node, words: str) -> Node:
    notes = [
        child
        for card in value["root"]["children"]
        for child in card.get("children", [])
        if child["type"] == "Markdown"
    ]
    share, rest = divmod(len(words), len(notes))
    for number, note in enumerate(notes):
        size = share + (rest if number == 0 else 0)
        note["props"]["text"] += words[:size]
        words = words[size:]
    return value


def _document() -> Node:
    cards = [_card(number) for number in range(CARDS)]
    computed = [
        _node(f"r{number}", "Result", label=f"Sum {number}", value={"ref": f"sum{number}"}, decimals=2, unit="EUR")
        for number in range(NODES - 7 * CARDS - 2)
    ]
    return {
        "version": "1.1",
        "title": "Deliveries of the month",
        "state": {
            "rate": {"type": "number", "default": 1.5, "min": 0, "max": 10, "step": 0.5},
            "note": {"type": "string", "default": ""},
            "express": {"type": "boolean", "default": False},
        },
        "derived": {
            f"sum{number}": {
                "op": "if",
                "args": [
                    {"ref": "express"},
                    {"op": "mul", "args": [{"ref": "rate"}, number + 2]},
                    {"op": "add", "args": [{"ref": "rate"}, number, 0.25]},
                ],
            }
            for number in range(len(computed))
        },
        "actions": {"again": {"type": "reset"}},
        "root": _node("root", "Stack", [*cards, *computed, _node("end", "Text", text="As of today.")], gap="large"),
    }


def _node(name: str, component: str, children: list[Node] | None = None, /, **props: Any) -> Node:
    node: Node = {"id": name, "type": component, "props": props}
    return node if children is None else {**node, "children": children}


def _card(number: int) -> Node:
    chart = _node(
        f"c{number}",
        "Chart",
        kind=("bar", "line", "area", "pie")[number % 4],
        title="Parcels by day",
        data=[{"id": f"d{day}", "label": f"Day {day}", "value": (day * 7 + number) % 23 + 1} for day in range(12)],
    )
    table = _node(
        f"t{number}",
        "Table",
        columns=[
            {"key": "place", "label": "Place"},
            {"key": "parcels", "label": "Parcels", "align": "end"},
            {"key": "cost", "label": "Cost", "align": "end", "decimals": 2},
            {"key": "done", "label": "Delivered"},
        ],
        rows=[
            {
                "place": f"Street {row}, house {number}",
                "parcels": row * 3 % 17,
                "cost": row * 1.75,
                "done": row % 3 == 0,
            }
            for row in range(ROWS)
        ],
    )
    inputs = (
        _node(f"i{number}", "Slider", field="rate", label="Rate"),
        _node(f"i{number}", "Input", field="note", label="Note", kind="text"),
        _node(f"i{number}", "Checkbox", field="express", label="Express"),
    )
    return _node(
        f"k{number}",
        "Card",
        [
            _node(f"h{number}", "Heading", text=f"Round {number}", level=2),
            table,
            chart,
            _node(
                f"m{number}", "Markdown", text="**Notes** of the *driver*:\n\n- kept dry\n- left with neighbours\n\n"
            ),
            inputs[number % 3],
            _node(f"b{number}", "Button", label="Start over", action="again"),
        ],
        title=f"Round {number}",
    )
