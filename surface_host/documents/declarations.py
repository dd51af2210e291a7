"""What a document declares beside what it shows: state fields with their domains, derived values, actions.

Built from a document whose shape was judged, so members are read without doubt. All of it is immutable.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, cast

from surface_host.documents.codes import DocumentCode
from surface_host.documents.numbers import is_on_grid
from surface_host.documents.pointers import units
from surface_host.documents.table import LIMITS, ValueType

Scalar = str | int | float | bool
Json = Mapping[str, Any]
"""A frozen JSON object: mappings, tuples and scalars."""

_TYPES: Final[Mapping[type, ValueType]] = {str: "string", bool: "boolean", int: "number", float: "number"}
_SCALARS: Final = frozenset(_TYPES)
_MAGNITUDE: Final = LIMITS["magnitude"]


def type_of(value: object) -> ValueType | None:
    """The type of a scalar; None for what is none."""
    return _TYPES.get(type(value))


def frozen(value: Any) -> Any:
    """Plain JSON as read-only mappings and tuples. It takes the value over: nobody else may hold it."""
    kind = cast("object", type(value))
    if kind is dict:
        if not are_scalars(value.values()):
            for key, item in value.items():
                value[key] = frozen(item)
        return MappingProxyType(value)
    if kind is list:
        return tuple(map(frozen, value))
    return value


def are_scalars(values: Iterable[Any]) -> bool:
    """Whether none of them has parts."""
    return _SCALARS.issuperset(map(type, values))


def thawed(value: Any) -> Any:
    """The plain dicts and lists of a frozen value, a copy."""
    if isinstance(value, Mapping):
        return {key: thawed(item) for key, item in cast("Json", value).items()}
    if isinstance(value, tuple):
        return [thawed(item) for item in cast("tuple[Any, ...]", value)]
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """What a state field may hold.

    Attributes:
        most_units: of a text.
        least: of a number; None where the field has no `min`.
        most: of a number.
        step: of a number, counted from `least` or 0.
        options: where a Select shows the field, the values it offers.
    """

    type: ValueType
    default: Scalar
    most_units: int = LIMITS["scalar"]
    least: int | float | None = None
    most: int | float | None = None
    step: int | float | None = None
    options: tuple[Scalar, ...] | None = None

    def fault(self, value: object) -> DocumentCode | None:
        """Why the field may not hold the value: `type_mismatch`, `out_of_domain`, or nothing."""
        if type_of(value) != self.type:
            return DocumentCode.TYPE_MISMATCH
        has_place = self._takes_number(value) if isinstance(value, int | float) else self._takes_text(value)
        if has_place and (self.options is None or value in self.options):
            return None
        return DocumentCode.OUT_OF_DOMAIN

    def _takes_text(self, value: object) -> bool:
        text = cast("str", value)
        return (text.isascii() or not any("\ud800" <= mark <= "\udfff" for mark in text)) and units(
            text
        ) <= self.most_units

    def _takes_number(self, value: float) -> bool:
        if self.type == "boolean":
            return True
        least = -_MAGNITUDE if self.least is None else self.least
        most = _MAGNITUDE if self.most is None else self.most
        # The comparison also refuses what is not a number.
        if not max(least, -_MAGNITUDE) <= value <= min(most, _MAGNITUDE):
            return False
        return self.step is None or is_on_grid(float(value), step=float(self.step), base=float(self.least or 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """State fields, derived values and actions, each in document order, by id.

    Attributes:
        order: the derived ids, each behind those it needs; empty until types were found.
    """

    domains: Mapping[str, Domain]
    derived: Json
    actions: Mapping[str, Json]
    order: tuple[str, ...] = ()

    def with_options(self, options: Mapping[str, tuple[Scalar, ...]]) -> "Declarations":
        """The same, the domains of these fields narrowed to what Selects offer."""
        domains = {
            name: replace(domain, options=options[name]) if name in options else domain
            for name, domain in self.domains.items()
        }
        return replace(self, domains=MappingProxyType(domains))


def declarations_of(document: Json) -> Declarations:
    """What a document declares; Selects are not looked at."""
    empty: Json = MappingProxyType({})
    fields: Mapping[str, Json] = document.get("state", empty)
    domains = {name: _domain(field) for name, field in fields.items()}
    return Declarations(
        domains=MappingProxyType(domains),
        derived=document.get("derived", empty),
        actions=document.get("actions", empty),
    )


def _domain(field: Json) -> Domain:
    return Domain(
        type=field["type"],
        default=field["default"],
        most_units=field.get("maxLength", LIMITS["scalar"]),
        least=field.get("min"),
        most=field.get("max"),
        step=field.get("step"),
    )


def nodes_of(root: Json, at: str = "/root") -> Iterator[tuple[Json, str]]:
    """Each node in pre-order, with its pointer."""
    yield root, at
    for index, child in enumerate(root.get("children", ())):
        yield from nodes_of(child, f"{at}/children/{index}")
