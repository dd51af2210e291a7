"""Makes documents up: legal ones, from the field table, so that every component and operator comes along."""

# Documents are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from surface_host.documents.table import COMPONENTS, INPUT_KINDS, OPERATORS, Member, Operator, ValueType

Json = Any

_TYPES: Final[tuple[ValueType, ...]] = ("string", "number", "boolean")
_WORDS: Final = ("", "a", "Grüße", "你好", "😀", "1", "true", "a/b~c", '"\\', "\u2028", "\ufeff", "\x7f", "é" * 40)
_EDGES: Final = (
    0, 1, -1, 2, 3, 10, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.2, 0.3, 1.005, 2.675, 1e-6, 1e-7, 1e15, -1e15, 999_999_999_999_999,
    5e-324, 2.2250738585072014e-308, 1 / 3, 123456.789, 1e-300, 31_622_776.6, 1024, -1024, 4.35, 0.000001, 8.5e14, 100.125,
)  # fmt: skip


class Maker:
    """Legal documents out of one source of chance; `declared` is of the last document made."""

    def __init__(self, chance: Random) -> None:
        """Make it; the same chance makes the same documents."""
        self.chance: Final = chance
        self._ids = 0
        self.state: dict[str, Json] = {}
        self._types: dict[str, ValueType] = {}
        self._offers: dict[str, list[Json]] = {}
        self._actions: dict[str, Json] = {}

    # ---- values --------------------------------------------------------------------------------------------------

    def number(self) -> float:
        """Any number a document may hold, the odd ones often."""
        chance = self.chance
        match chance.randrange(6):
            case 0:
                return chance.randint(-20, 20)
            case 1:
                return round(chance.uniform(-1e4, 1e4), chance.randrange(7))
            case 2:
                bits = struct.unpack(">d", chance.randbytes(8))[0]
                return bits if abs(bits) <= 1e15 else 0.1 * chance.randint(-100, 100)
            case 3:
                return chance.randint(-1000, 1000) / chance.randint(1, 1000)
            case _:
                return chance.choice(_EDGES)

    def text(self, least: int = 0, most: int = 4096) -> str:
        """Any text of so many units."""
        text = "".join(self.chance.choices(_WORDS, k=self.chance.randrange(3)))
        while len(text.encode("utf-16-le")) // 2 > most:
            text = text[:-1]
        return text or "x" * least

    def scalar(self, of: ValueType) -> Json:
        """A value of that type."""
        makes: Mapping[ValueType, Callable[[], Json]] = {
            "string": self.text,
            "number": self.number,
            "boolean": lambda: self.chance.random() < 0.5,
        }
        return makes[of]()

    def id(self, prefix: str = "n") -> str:
        """An id no other has."""
        self._ids += 1
        return f"{prefix}{self._ids}"

    # ---- expressions ---------------------------------------------------------------------------------------------

    def expression(self, of: ValueType, depth: int = 3, *, may_refer: bool = True) -> Json:
        """An expression of that type."""
        chance = self.chance
        known = [name for name, its in self._types.items() if its == of]
        if known and may_refer and chance.random() < 0.35:
            return {"ref": chance.choice(known)}
        if depth == 0 or chance.random() < 0.25:
            return self.scalar(of)
        fitting = [name for name, operator in OPERATORS.items() if operator.gives in (of, "same")]
        name = chance.choice(fitting)
        return {"op": name, "args": list(self._arguments(name, OPERATORS[name], of, depth - 1, may_refer))}

    def _arguments(self, name: str, operator: Operator, of: ValueType, depth: int, may_refer: bool) -> Iterator[Json]:
        chance = self.chance
        same = of if operator.gives == "same" else chance.choice(_TYPES)
        for index in range(chance.randint(operator.least, min(operator.most, operator.least + chance.randrange(3)))):
            takes = operator.takes[min(index, len(operator.takes) - 1)]
            if takes == "decimals":
                yield chance.randrange(7)
            elif name == "pow" and index == 1:
                yield chance.choice((0.5, 0, 1, 2, 3, -1, -2, 5, 10, 1024, -1024, 0.25, self.number()))
            elif takes in ("boolean", "number"):
                yield self.expression(takes, depth, may_refer=may_refer)
            else:
                its = chance.choice(_TYPES) if takes == "scalar" else same
                yield self.expression(its, depth, may_refer=may_refer)

    # ---- documents -----------------------------------------------------------------------------------------------

    def document(self, size: int = 12) -> Json:
        """A document of about `size` nodes. Its derived values and actions may have no value on the defaults."""
        chance = self.chance
        self._ids, self._types, self._offers = 0, {}, {}
        self.state = {self.id("f"): self.field(chance.choice(_TYPES)) for _ in range(chance.randrange(6))}
        self._types = {name: field["type"] for name, field in self.state.items()}
        derived: Json = {}
        for _ in range(chance.randrange(6)):
            of = chance.choice(_TYPES)
            name = self.id("d")
            derived[name] = self.expression(of, chance.randint(1, 5))
            self._types[name] = of
        if chance.random() < 0.2:
            derived = dict(reversed(derived.items()))
        self._actions = {self.id("a"): self.action() for _ in range(chance.randrange(4))}
        root = self.node("Stack", size)
        document = {
            "version": "1.1" if self._invokes() else chance.choice(("1.0", "1.1")),
            "title": self.text(1, 256),
        }
        parts = {"state": self.state, "derived": derived, "actions": self._actions}
        document |= {name: part for name, part in parts.items() if part or chance.random() < 0.3}
        document["root"] = root
        members = list(document.items())
        if chance.random() < 0.3:
            chance.shuffle(members)
        return dict(members)

    def _invokes(self) -> bool:
        return any(action["type"] == "invoke" for action in self._actions.values())

    def field(self, of: ValueType) -> Json:
        """A state field."""
        chance = self.chance
        if of != "number":
            field = {"type": of, "default": self.scalar(of)}
            return field | (
                {"maxLength": 4096 - chance.randrange(3)} if of == "string" and chance.random() < 0.3 else {}
            )
        default = chance.choice((0, 1, 0.1, self.number()))
        if chance.random() < 0.4 or abs(default) > 1e14:
            return {"type": of, "default": default}
        if chance.random() < 0.5:
            return {"type": of, "default": default, "min": min(default, 0), "max": max(default, 10)}
        step = chance.choice((0.1, 0.25, 0.01, 1, 3))
        least = default - step * chance.randrange(4)
        return {"type": of, "default": default, "min": least, "max": least + step * 40, "step": step}

    def action(self) -> Json:
        """An action."""
        chance = self.chance
        fields = list(self.state)
        kind = chance.choice(("set", "reset", "invoke") if fields else ("reset", "invoke"))
        if kind == "set":
            field = chance.choice(fields)
            return {"type": kind, "field": field, "value": self.expression(self.state[field]["type"])}
        if kind == "reset":
            some = chance.sample(fields, chance.randint(1, len(fields))) if fields and chance.random() < 0.5 else None
            return {"type": kind} | ({"fields": some} if some else {})
        names = [self.id("p") for _ in range(chance.randrange(4))]
        action = {"type": kind, "capability": "report.create", "args": {name: self._any() for name in names}}
        if fields and chance.random() < 0.5:
            action["resultMap"] = {field: self.id("r") for field in chance.sample(fields, 1)}
        return action

    def _any(self) -> Json:
        return self.expression(self.chance.choice(_TYPES))

    def node(self, kind: str, size: int, *, in_form: bool = False) -> Json:
        """A node with about `size` nodes below it."""
        chance = self.chance
        component = COMPONENTS[kind]
        node: Json = {"id": self.id(), "type": kind, "props": self.props(kind)}
        if chance.random() < 0.2:
            node["visible"] = self.expression("boolean", 2)
        if component.children:
            count = len(node["props"]["tabs"]) if kind == "Tabs" else chance.randint(0, 4)
            within = in_form or kind == "Form"
            below = [self.node(self._kind(size, in_form=within), size // 3, in_form=within) for _ in range(count)]
            node |= {"children": below} if below or chance.random() < 0.5 else {}
        return node

    def _kind(self, size: int, *, in_form: bool) -> str:
        kinds = [name for name, component in COMPONENTS.items() if size > 2 or not component.children]
        needs_action = {"Form", "Button"} if not self._actions else set[str]()
        kinds = [kind for kind in kinds if kind not in needs_action and not (in_form and kind == "Form")]
        return self.chance.choice(
            [kind for kind in kinds if self._fields_for(kind) or "field" not in COMPONENTS[kind].props]
        )

    def _fields_for(self, kind: str) -> list[str]:
        member = COMPONENTS[kind].props.get("field")
        return [name for name, field in self.state.items() if member and field["type"] in member.holds]

    def props(self, kind: str) -> Json:
        """The props of a component."""
        props: Json = {}
        for name, member in COMPONENTS[kind].props.items():
            if member.required or self.chance.random() < 0.4:
                props[name] = self._member(kind, name, member, props)
        return {name: value for name, value in props.items() if value is not None}

    def _member(self, kind: str, name: str, member: Member, props: Json) -> Json:
        chance = self.chance
        field = self.state.get(props.get("field", ""), {})
        if kind == "Slider" and name in ("min", "max", "step"):
            return field.get(name)
        if kind == "Select" and name == "options":
            return self._options(props["field"], field)
        if kind == "Input" and name == "kind":
            return chance.choice([word for word, its in INPUT_KINDS.items() if its == field["type"]])
        if member.kind == "rows":
            keys = [column["key"] for column in props["columns"]]
            return [{key: self._any() for key in keys} for _ in range(chance.randrange(4))]
        return self._by_kind(kind, member)

    def _by_kind(self, kind: str, member: Member) -> Json:
        chance = self.chance
        least, most = member.least or 0, member.most or 0
        makes: Mapping[str, Callable[[], Json]] = {
            "text": lambda: self.text(least, most),
            "id": self.id,
            "field": lambda: chance.choice(self._fields_for(kind)),
            "action": lambda: chance.choice(list(self._actions)),
            "word": lambda: chance.choice(member.words),
            "flag": lambda: chance.random() < 0.5,
            "integer": lambda: chance.randint(least, most),
            "positive": lambda: abs(self.number()) or 1,
            "expr": lambda: self._any() if member.gives == "scalar" else self.expression(member.gives or "number"),
            "list": lambda: [self._item(member.members or {}) for _ in range(chance.randint(max(least, 1), 4))],
        }
        return makes[member.kind]()

    def _item(self, members: Mapping[str, Member]) -> Json:
        named = {name: member for name, member in members.items() if member.required or self.chance.random() < 0.4}
        return {name: self._by_kind("", member) for name, member in named.items()}

    def _options(self, field: str, declared: Json) -> Json:
        if field not in self._offers:
            default = declared["default"]
            more: list[Json] = {"boolean": [not default], "string": ["", "b", "c"]}.get(declared["type"], [])
            others = [declared[name] for name in ("min", "max") if name in declared]
            self._offers[field] = list(dict.fromkeys([default, *more, *others]))
        return [{"value": value, "label": self.text(1, 512)} for value in self._offers[field]]


def written(chance: Random, value: Json) -> bytes:
    """The value as text, in one of the spellings a writer may choose."""
    spaced = chance.random() < 0.2
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=1 if spaced else None)
    return text.encode()
