"""Spoils documents: as trees, where a meaning or a shape breaks, and as bytes, where the text does."""

# Documents are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from random import Random
from typing import Any, Final

from surface_host.documents.table import COMPONENTS, OPERATORS, REFUSED_IDS, RESERVED_KEYS
from tests.fuzz.documents.made import Maker

Json = Any
Path = tuple[str | int, ...]

_KEYS: Final = (
    *REFUSED_IDS, *RESERVED_KEYS, "", "1", "0", "-1", "a/b", "~", "é", "\u2028", "x" * 70, "id", "type", "props", "children", "visible",
    "op", "args", "ref", "default", "min", "max", "step", "value", "field", "fields", "text", "state", "derived", "actions", "root",
    "resultMap", "capability", "😀", "\uffff",
)  # fmt: skip
_ODD: Final = (
    None, True, False, 0, 1, -1, 1.5, 2**53 - 1, 1e15, 1e15 + 1, -1e15 - 1, 7, 8, 257, "", "x", "x" * 513, "x" * 4097, "é" * 257, [], {},
    [[]], [None], [1, 1], {"ref": "nope"}, {"op": "add", "args": [1]}, {"op": "nope", "args": []}, {"op": 1}, {"op": "not", "args": [1]},
    {"op": "div", "args": [1, 0]}, {"op": "round", "args": [1.5, 7]}, {"op": "round", "args": [1.5, {"ref": "f1"}]}, {"args": []},
    {"op": "concat", "args": ["x" * 4096, "y"]}, {"op": "mul", "args": [1e15, 2]}, {"op": "eq", "args": [1, True]}, {"ref": 1}, {"ref": "a b"},
    {"op": "if", "args": [True, 1, {"op": "div", "args": [1, 0]}]}, {"op": "and", "args": [False, {"op": "eq", "args": [0, 0]}]}, {},
    "1.0", "1.1", "2.0", "toString",
)  # fmt: skip
_TOKENS: Final = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud800", b'"\\udc00"', b"\\u0000", b"nul", b"NaN", b"Infinity", b"-", b"-0",
    b"0", b"01", b"1.", b".5", b"1e", b"1e400", b"1e-400", b"9007199254740993", b"9007199254740992.0", b"1E+2", b"-0.0", b"\xef\xbb\xbf", b"\xff", b"\xc0\x80",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80", b"\x00", b"\x1f", b"\x7f", b"\t", b"\n", b"\x0b", b"\xc2\xa0", b"//", b"'", b'"a":1,"a":2,',
    b'{"__proto__":1}', b'"__proto__":1,', b'{"\\u0061":1,"a":2}', b"true", b"tru", b"1" * 30, b"1e15", b"0.1e1", b"1.0",
)  # fmt: skip


def places(value: Json) -> list[Path]:
    """Each part of a value, the root first."""
    found: list[Path] = [()]
    pending: list[tuple[Path, Json]] = [((), value)]
    while pending:
        path, part = pending.pop()
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        below = [((*path, key), item) for key, item in items]
        found += [where for where, _ in below]
        pending += below
    return found


def at(value: Json, path: Path) -> Json:
    """The part there."""
    for step in path:
        value = value[step]
    return value


class Spoiler:
    """Changes that keep a document a tree, each small enough that much of it stays legal."""

    def __init__(self, chance: Random, maker: Maker) -> None:
        """Make it."""
        self._chance = chance
        self._maker = maker
        self._changes: tuple[Callable[[Json, Path], None], ...] = (
            self._replace, self._replace, self._misuse, self._misuse, self._drop, self._rename, self._insert, self._swap, self._like, self._like, self._repeat, self._stretch,
        )  # fmt: skip

    def spoil(self, document: Json) -> Json:
        """A copy with one to three parts changed."""
        copy = deepcopy(document)
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            path = self._place(copy)
            if path:
                self._chance.choice(self._changes)(copy, path)
        return copy

    def _place(self, value: Json) -> Path:
        """Any part, those that hold others more often than their number would have it."""
        found = places(value)
        if self._chance.random() < 0.3:
            found = [path for path in found if isinstance(at(value, path), dict | list)]
        return self._chance.choice(found or [()])

    def odd(self) -> Json:
        """A value that fits few places."""
        return deepcopy(self._chance.choice(_ODD))

    def _replace(self, document: Json, path: Path) -> None:
        at(document, path[:-1])[path[-1]] = self.odd()

    def _drop(self, document: Json, path: Path) -> None:
        del at(document, path[:-1])[path[-1]]

    def _rename(self, document: Json, path: Path) -> None:
        holder = at(document, path[:-1])
        if isinstance(holder, dict):
            members = {self._key() if key == path[-1] else key: item for key, item in holder.items()}
            holder.clear()
            holder.update(members)

    def _insert(self, document: Json, path: Path) -> None:
        part = at(document, path)
        if isinstance(part, dict):
            members = list(part.items())
            members.insert(self._chance.randint(0, len(members)), (self._key(), self.odd()))
            part.clear()
            part.update(members)
        elif isinstance(part, list):
            part.insert(self._chance.randint(0, len(part)), self.odd())

    def _swap(self, document: Json, path: Path) -> None:
        """Two parts change places, unless one holds the other."""
        other = self._chance.choice(places(document)[1:])
        shorter = min(len(path), len(other))
        if path[:shorter] != other[:shorter]:
            here, there = at(document, path), at(document, other)
            at(document, path[:-1])[path[-1]], at(document, other[:-1])[other[-1]] = there, here

    def _like(self, document: Json, path: Path) -> None:
        """Another value of the same JSON type, so that the shape may hold and the meaning may not."""
        part = at(document, path)
        makes: Mapping[type, Callable[[], Json]] = {
            str: lambda: self._chance.choice(self._words(document)),
            int: self._maker.number,
            float: self._maker.number,
            bool: lambda: not part,
        }
        make = makes.get(type(part))
        if make:
            at(document, path[:-1])[path[-1]] = make()

    def _repeat(self, document: Json, path: Path) -> None:
        """An item once more."""
        holder = at(document, path[:-1])
        if isinstance(holder, list):
            holder.append(deepcopy(at(document, path)))

    def _stretch(self, document: Json, path: Path) -> None:
        """Something up to or past a limit."""
        chance = self._chance
        part = at(document, path)
        if isinstance(part, list) and part:
            item = chance.choice(part)
            part += [deepcopy(item) for _ in range(chance.choice((8, 9, 16, 32, 33, 100, 200)))]
        else:
            deep: Json = part
            for _ in range(chance.choice((1, 15, 16, 22, 23, 24, 60))):
                deep = {"op": "not", "args": [deep]} if chance.random() < 0.9 else [deep]
            at(document, path[:-1])[path[-1]] = deep

    def _misuse(self, document: Json, path: Path) -> None:
        """A component or field whose shape holds and whose meaning may not, in the ways only it has."""
        chance = self._chance
        parts = [part for part in (at(document, where) for where in places(document)) if isinstance(part, dict)]
        special: Mapping[str, Callable[[Json], object]] = {
            "Select": lambda node: _misuse_options(chance, node["props"]["options"]),
            "Slider": lambda node: node["props"].update(
                {chance.choice(("min", "max", "step")): self._maker.number()}
            ),
            "Tabs": lambda node: node["props"]["tabs"].append({"id": "more", "label": "x"}),
            "Table": lambda node: node["props"]["rows"].append({chance.choice(("nope", "1", "b")): 1}),
            "Input": lambda node: node["props"].update(kind=chance.choice(("text", "number", "date"))),
            "Form": lambda node: node.update(children=[deepcopy(node) | {"id": "inner"}]),
            "number": lambda field: field.update({chance.choice(("min", "max")): self._maker.number()}),
            "string": lambda field: field.update(maxLength=1),
            "reset": lambda action: action.update(fields=[chance.choice(self._words(document)) for _ in range(2)]),
            "invoke": lambda action: action.update(resultMap={chance.choice(self._words(document)): "r"}),
        }
        # Where a field has a Select it gets another one, which must offer the same.
        for children in [part["children"] for part in parts if isinstance(part.get("children"), list)]:
            selects = [one for one in children if isinstance(one, dict) and one.get("type") == "Select"]
            if selects and chance.random() < 0.5:
                children.append(deepcopy(selects[0]) | {"id": self._maker.id("m")})
                parts.append(children[-1])
        kinds = sorted({part["type"] for part in parts if isinstance(part.get("type"), str)} & special.keys())
        if kinds:
            # Kinds before parts: there are many fields and few of the rest.
            kind = chance.choice(kinds)
            with suppress(KeyError, TypeError, AttributeError):
                special[kind](chance.choice([part for part in parts if part.get("type") == kind]))

    def _words(self, document: Json) -> list[str]:
        """Words that mean something somewhere."""
        ids = [name for part in ("state", "derived", "actions") for name in _names(document, part)]
        return [
            *ids,
            *COMPONENTS,
            *OPERATORS,
            "string",
            "number",
            "boolean",
            "set",
            "reset",
            "invoke",
            "n1",
            "n2",
            "f1",
            "date",
            "text",
        ]

    def _key(self) -> str:
        return self._chance.choice(_KEYS)


def _misuse_options(chance: Random, options: list[Json]) -> None:
    """Options in another order, one fewer, one more, or one twice."""
    match chance.randrange(4):
        case 0:
            chance.shuffle(options)
        case 1:
            options.pop()
        case 2:
            options.append({"value": chance.choice(("z", 3, True, "x" * 4096)), "label": "x"})
        case _:
            options.append(deepcopy(chance.choice(options)))


def _names(document: Json, part: str) -> list[str]:
    held = document.get(part) if isinstance(document, dict) else None
    return list(held) if isinstance(held, dict) else []


def spoiled_text(chance: Random, text: bytes) -> bytes:
    """The text with tokens put in, bytes changed, or parts left out."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        here = chance.randint(0, len(text))
        there = min(len(text), here + chance.randint(0, 4))
        match chance.randrange(4):
            case 0:
                text = text[:here] + chance.choice(_TOKENS) + text[here:]
            case 1:
                text = text[:here] + chance.choice(_TOKENS) + text[there:]
            case 2:
                text = text[:here] + text[there:]
            case _:
                text = text[:here] + bytes([chance.randrange(256)]) + text[there:]
    return text if chance.random() < 0.95 else text[: chance.randint(0, len(text))]
