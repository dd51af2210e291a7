"""What one broken rule is called. Words and limits come from the schema, never from the value (rules A4)."""

from typing import Any, Final

import orjson
from jsonschema_rs import ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

REASON_MAX: Final = 300
"""Characters of a reason."""

_OPTIONS_SHOWN: Final = 12


def words_of(error: ValidationError) -> str:
    """Name the rule of the schema that `error` found broken."""
    text = _SIMPLE.get(error.kind.name) or _counted(error.kind)
    return text if len(text) <= REASON_MAX else text[: REASON_MAX - 1] + "…"


_SIMPLE: Final = {
    "falseSchema": "is not allowed here",
    "uniqueItems": "holds an item twice",
    "additionalProperties": "is not a declared property",
    "additionalItems": "holds more items than declared",
    "const": "is not the one allowed value",
}


def _counted(kind: Kind) -> str:  # noqa: C901, PLR0911, PLR0912 - a closed set, one line each
    match kind:
        case Kind.Required(name):
            return f"`{name}` is required"
        case Kind.Type(types):
            return f"is not of type {_listed(types)}"
        case Kind.Enum(options):
            return f"is none of {_listed(options)}"
        case Kind.Minimum(limit):
            return f"is less than `{limit}`"
        case Kind.ExclusiveMinimum(limit):
            return f"is not more than `{limit}`"
        case Kind.Maximum(limit):
            return f"is more than `{limit}`"
        case Kind.ExclusiveMaximum(limit):
            return f"is not less than `{limit}`"
        case Kind.MultipleOf(divisor):
            return f"is not a multiple of `{divisor}`"
        case Kind.MinLength(limit):
            return f"is shorter than {limit} characters"
        case Kind.MaxLength(limit):
            return f"is longer than {limit} characters"
        case Kind.MinItems(limit):
            return f"holds fewer than {limit} items"
        case Kind.MaxItems(limit):
            return f"holds more than {limit} items"
        case Kind.MinProperties(limit):
            return f"has fewer than {limit} properties"
        case Kind.MaxProperties(limit):
            return f"has more than {limit} properties"
        case Kind.Pattern(pattern):
            return f"does not match `{pattern}`"
        case Kind.Format(name):
            return f"is not in the format `{name}`"
        case _:
            return f"breaks the rule `{kind.name}`"


def _listed(options: list[Any]) -> str:
    shown = [f"`{option if isinstance(option, str) else orjson.dumps(option).decode()}`" for option in options]
    if len(shown) > _OPTIONS_SHOWN:
        shown[_OPTIONS_SHOWN:] = ["…"]
    return ", ".join(shown)
