"""What may be drawn as GenUI: the shape of `{type, props}`, and what of its props reaches a component. Pure (seed 001).

The browser has the same two functions (`src/genui`), and shared vectors hold both to one verdict. Whether a type is
registered is known only where components are.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, cast

__all__ = ["Dropped", "is_ui_schema", "sanitize_genui_props"]

DEPTH_MAX: Final = 64
"""Props are level 1; what lies deeper than this is dropped."""

VALUES_MAX: Final = 20_000
"""Values of one schema's props that are looked at; the rest is dropped. It ends what shares its parts many times over."""

_CONTROLS: Final = re.compile(r"[\x00-\x1f]")
_ADDRESS: Final = re.compile(r" *([A-Za-z][A-Za-z0-9+.-]*):")
_SCHEMES: Final = frozenset({"http", "https", "blob"})
_NUMERIC: Final = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?")
_DIGITS_MAX: Final = 17
"""No double is written with more digits that mean something."""
_SAFE: Final = 2**53 - 1
_RESERVED: Final = frozenset({"__proto__", "prototype", "constructor"})


@dataclass(frozen=True, slots=True)
class Dropped:
    """One value that was left out: where it was (JSON pointer into the props), and why; never what it was.

    `code` is `genui.kind` (JSON has no such thing), `genui.number` (not finite), `genui.address` (a scheme that is not
    let through), `genui.name` (a name every JavaScript object has), `genui.cycle`, `genui.depth` or `genui.size`.
    """

    code: str
    pointer: str


def is_ui_schema(value: object) -> bool:
    """Whether `value` is an object with a `type` that is a text and not empty, and `props` that are an object."""
    if not isinstance(value, dict):
        return False
    schema = cast("dict[object, object]", value)
    kind = schema.get("type")
    return isinstance(kind, str) and kind != "" and isinstance(schema.get("props"), dict)


def sanitize_genui_props(props: object, report: Callable[[Dropped], None] | None = None) -> dict[str, Any]:
    """What of `props` a component may be given, as a copy that shares nothing; what is not an object gives `{}`.

    Never raises. Each value that is left out is told to `report`.
    """
    if not isinstance(props, dict):
        return {}
    return _Pass(report or _unheard).record(cast("dict[object, object]", props), "")


def _unheard(_: Dropped) -> None:
    pass


_GONE: Final = object()
"""In the place of a value that is left out; None is a value."""


@dataclass(slots=True)
class _Pass:
    """One walk; `above` are the containers it is inside of."""

    report: Callable[[Dropped], None]
    above: list[int] = field(default_factory=list[int])
    seen: int = 0

    def record(self, value: dict[object, object], at: str) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        self.above.append(id(value))
        for key, item in value.items():
            if not isinstance(key, str):
                self._drop("kind", at)
                continue
            pointer = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
            found = self._drop("name", pointer) if key in _RESERVED else self._value(item, pointer)
            if found is not _GONE:
                kept[key] = found
        self.above.pop()
        return kept

    def _array(self, value: list[object], at: str) -> list[Any]:
        self.above.append(id(value))
        found = [self._value(item, f"{at}/{index}") for index, item in enumerate(value)]
        self.above.pop()
        return [item for item in found if item is not _GONE]

    def _value(self, value: object, at: str) -> object:
        self.seen += 1
        if self.seen > VALUES_MAX:
            return self._drop("size", at)
        match value:
            case None | bool():
                return value
            case int() | float():
                return value if _is_finite(value) else self._drop("number", at)
            case str():
                return self._drop("address", at) if _is_refused_address(value) else _narrowed(value)
            case dict() | list():
                return self._container(cast("dict[object, object] | list[object]", value), at)
            case _:
                return self._drop("kind", at)

    def _container(self, value: dict[object, object] | list[object], at: str) -> object:
        if id(value) in self.above:
            return self._drop("cycle", at)
        if len(self.above) >= DEPTH_MAX:
            return self._drop("depth", at)
        return self.record(value, at) if isinstance(value, dict) else self._array(value, at)

    def _drop(self, why: str, pointer: str) -> object:
        self.report(Dropped(f"genui.{why}", pointer))
        return _GONE


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _is_refused_address(text: str) -> bool:
    """Browsers leave controls out of an address before they read its scheme, and so does this (rules I3)."""
    found = _ADDRESS.match(_CONTROLS.sub("", text))
    return found is not None and found[1].lower() not in _SCHEMES


def _narrowed(text: str) -> str | int | float:
    """The number that a numeric text writes, if a double is that number exactly; else the text (rules I3).

    Exactly means that the double's own shortest spelling is the same decimal number; of integers, that it is safe.
    """
    found = _NUMERIC.fullmatch(text)
    if found is None or len((found[1] + (found[2] or "").rstrip("0")).strip("0")) > _DIGITS_MAX:
        return text
    number = float(text)
    if not math.isfinite(number) or Decimal(repr(number)) != Decimal(text):
        return text
    if not number.is_integer():
        return number
    return int(number) if abs(number) <= _SAFE else text
