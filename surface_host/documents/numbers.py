"""Numbers as both languages agree on them to the bit: text, rounding, powers, the step grid (design §12, rules H4).

All take and give finite doubles. Nothing here gives minus zero.
"""

from decimal import ROUND_HALF_UP, Context, Decimal
from math import sqrt
from typing import Final

from surface_host.documents.codes import DocumentCode
from surface_host.documents.table import LIMITS

MAGNITUDE: Final = float(LIMITS["magnitude"])

_WIDE: Final = Context(prec=400, rounding=ROUND_HALF_UP)
_PLACES: Final = tuple(Decimal(1).scaleb(-places) for places in range(LIMITS["decimals"] + 1))
_GRID_TOLERANCE: Final = 1e-9


class NoValue(ArithmeticError):
    """An operation has no value; `code` says why."""

    def __init__(self, code: DocumentCode) -> None:
        """Make it for a code of the phase `evaluation`."""
        super().__init__(code.means)
        self.code = code


def bounded(value: float) -> float:
    """The value, minus zero made zero.

    Raises:
        NoValue: it is not finite or beyond ±1e15.
    """
    if not -MAGNITUDE <= value <= MAGNITUDE:
        raise NoValue(DocumentCode.VALUE_RANGE)
    return value + 0.0


def plain(value: float) -> int | float:
    """The number as JSON here holds it: an int where it is whole."""
    return int(value) if value.is_integer() else value


def text_of(value: float) -> str:
    """Spells a number as ECMAScript's `Number::toString` does; the digits are the shortest that read back."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = (whole + fraction).lstrip("0")
    # `point`: where the decimal point stands, counted from the first digit.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return sign + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if count > 1 else "")
    return f"{mantissa}e{point - 1:+d}"


def rounded(value: float, places: int) -> float:
    """Half away from zero, on the exact binary value, at 0 to 6 decimal places."""
    return float(Decimal(value).quantize(_PLACES[places], context=_WIDE)) + 0.0


def power(base: float, exponent: float) -> float:
    """`base` to a whole power of at most 1,024, or its square root for exactly 0.5.

    Squares and multiplies from the highest bit of the exponent's absolute value, starting from 1; a negative exponent
    takes the reciprocal at the end. Every product is held to ±1e15.

    Raises:
        NoValue: another exponent, a root of a negative number, zero to a negative power, a product beyond the limit.
    """
    if exponent == 0.5:
        if base < 0:
            raise NoValue(DocumentCode.INVALID_POWER)
        return sqrt(base)
    if not exponent.is_integer() or abs(exponent) > LIMITS["exponent"]:
        raise NoValue(DocumentCode.INVALID_POWER)
    result = 1.0
    for bit in f"{abs(int(exponent)):b}":
        result = bounded(result * result)
        if bit == "1":
            result = bounded(result * base)
    if exponent >= 0:
        return result
    if result == 0:
        # Also where the power is too small for a double: its reciprocal has no value either.
        raise NoValue(DocumentCode.INVALID_POWER)
    return bounded(1 / result)


def is_on_grid(value: float, *, step: float, base: float) -> bool:
    """Whether `value` is `base` and a whole number of steps, but for what doubles lose (rules H4).

    The tolerance grows with the quotient, so from 5e8 steps on every value is on the grid.
    """
    quotient = (value - base) / step
    if abs(quotient) >= 2**53:
        # Doubles this large are whole, or infinite where the step is tiny: no grid is finer than that.
        return True
    return abs(quotient - rounded(quotient, 0)) <= _GRID_TOLERANCE * max(1.0, abs(quotient))
