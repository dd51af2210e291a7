"""The value of an expression, or why it has none. This docstring is the norm of both halves (design §12, rules H3).

- A literal is its value, a `ref` the state field's value or the derived value. A derived value is evaluated at most once
  for one state, when it is first needed; one that failed fails again wherever it is used.
- Each visit of an expression, literals and refs included, is a step; step 8,193 is `too_many_steps`.
- `if` evaluates its condition and one branch; `and` and `or` evaluate from left to right and stop at the first false,
  or the first true. Every other operator first evaluates all its arguments from left to right; the first that fails is
  its failure. Then it is applied, folding from left to right.
- Numbers are doubles. After each operation of a fold, and each product in `pow`, a result beyond ±1e15 or not finite
  is `value_range`; minus zero becomes zero.
- `div` by zero is `division_by_zero`. `pow`: see `numbers.power`; what has none is `invalid_power`.
- `round` takes 0 places where it has one argument; half goes away from zero, on the exact binary value.
- `eq` compares texts by their units, numbers as numbers, booleans as booleans.
- `concat` spells numbers as ECMAScript does and booleans as `true` and `false`; a result of more than 4,096 units is
  `text_too_long`.
- A failure points to the innermost expression that failed; for one inside a derived value that is a place there.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, Final, cast

from surface_host.documents.codes import DocumentCode
from surface_host.documents.declarations import Declarations, Scalar, type_of
from surface_host.documents.numbers import NoValue, bounded, plain, power, rounded, text_of
from surface_host.documents.pointers import cut, units
from surface_host.documents.table import LIMITS

_SCALAR: Final = LIMITS["scalar"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An expression has no value.

    Attributes:
        code: of the phase `evaluation`.
        pointer: to the innermost expression that failed.
    """

    code: DocumentCode
    pointer: str


class _Failed(ArithmeticError):
    """Carries a failure up to whoever asked."""

    def __init__(self, code: DocumentCode, at: str) -> None:
        super().__init__(code)
        self.failure: Final = Failure(code=code, pointer=cut(at))


class Evaluation:
    """Evaluates expressions of one document on one state; derived values are kept between them.

    A whole evaluation of the derived values, and each evaluation of a single value, has its own 8,192 steps.
    """

    def __init__(self, declarations: Declarations, state: Mapping[str, Scalar]) -> None:
        """Prepare; nothing is evaluated yet. `state` holds a value for each field."""
        self._expressions = declarations.derived
        self._order = declarations.order
        self._state = state
        self._derived: dict[str, Scalar | Failure] = {}
        self._steps = 0

    def value(self, expression: Any, at: str = "") -> Scalar | Failure:
        """The value of one expression; `at` is its own pointer. Whole numbers are ints."""
        self._steps = 0
        return self._tried(expression, at)

    def derived(self) -> Mapping[str, Scalar | Failure]:
        """All derived values in document order."""
        self._steps = 0
        return MappingProxyType({name: self._of(name) for name in self._expressions})

    def _tried(self, expression: Any, at: str) -> Scalar | Failure:
        try:
            value = self._evaluate(expression, at)
        except _Failed as failed:
            return failed.failure
        return plain(value) if isinstance(value, float) else value

    def _of(self, name: str) -> Scalar | Failure:
        # What it needs comes first in this order, so that a long chain of derived values is no deep recursion. That
        # others come along is not seen: a failure is a value like any other until somebody uses it.
        pending = iter(self._order)
        while name not in self._derived:
            earlier = next(pending)
            if earlier not in self._derived:
                self._derived[earlier] = self._tried(self._expressions[earlier], f"/derived/{earlier}")
        return self._derived[name]

    def _evaluate(self, expression: Any, at: str) -> str | float | bool:
        self._steps += 1
        if self._steps > LIMITS["evaluation_steps"]:
            raise _Failed(DocumentCode.TOO_MANY_STEPS, at)
        if type_of(expression) is not None:
            return _as_double(expression)
        if "ref" in expression:
            return self._referred(expression["ref"])
        operator: str = expression["op"]
        arguments: tuple[Any, ...] = expression["args"]
        if operator in ("if", "and", "or"):
            return self._chosen(operator, arguments, at)
        values = [self._evaluate(argument, f"{at}/args/{index}") for index, argument in enumerate(arguments)]
        try:
            return _APPLIED[operator](values)
        except NoValue as missing:
            raise _Failed(missing.code, at) from None

    def _referred(self, name: str) -> str | float | bool:
        value = self._state[name] if name in self._state else self._of(name)
        if isinstance(value, Failure):
            raise _Failed(value.code, value.pointer)
        return _as_double(value)

    def _chosen(self, operator: str, arguments: tuple[Any, ...], at: str) -> str | float | bool:
        if operator == "if":
            branch = 1 if self._evaluate(arguments[0], f"{at}/args/0") else 2
            return self._evaluate(arguments[branch], f"{at}/args/{branch}")
        ends = operator == "or"
        for index, argument in enumerate(arguments):
            if self._evaluate(argument, f"{at}/args/{index}") is ends:
                return ends
        return not ends


def _as_double(value: Scalar) -> str | float | bool:
    return float(value) if type(value) is int else value


# ---- operators ---------------------------------------------------------------------------------------------------

_Values = list[Any]


def _folded(operation: Callable[[float, float], float]) -> Callable[[_Values], float]:
    return lambda values: reduce(lambda left, right: bounded(operation(left, right)), values)


def _divided(values: _Values) -> float:
    if values[1] == 0:
        raise NoValue(DocumentCode.DIVISION_BY_ZERO)
    return bounded(values[0] / values[1])


def _joined(values: Iterable[Any]) -> str:
    text = "".join(map(_spelled, values))
    if units(text) > _SCALAR:
        raise NoValue(DocumentCode.TEXT_TOO_LONG)
    return text


def _spelled(value: str | float | bool) -> str:
    if isinstance(value, str):
        return value
    return ("true" if value else "false") if isinstance(value, bool) else text_of(value)


_APPLIED: Final[Mapping[str, Callable[[_Values], str | float | bool]]] = {
    "not": lambda values: not values[0],
    "eq": lambda values: values[0] == values[1],
    "lt": lambda values: values[0] < values[1],
    "lte": lambda values: values[0] <= values[1],
    "gt": lambda values: values[0] > values[1],
    "gte": lambda values: values[0] >= values[1],
    "add": _folded(lambda left, right: left + right),
    "sub": _folded(lambda left, right: left - right),
    "mul": _folded(lambda left, right: left * right),
    "div": _divided,
    "pow": lambda values: bounded(power(values[0], values[1])),
    "min": lambda values: min(cast("list[float]", values)),
    "max": lambda values: max(cast("list[float]", values)),
    "round": lambda values: bounded(rounded(values[0], int(values[1]) if len(values) > 1 else 0)),
    "concat": _joined,
}
