"""The closed set of runtime kinds: what a tool without code of its own may ask the gateway to do.

An answer of such a tool is declared, not computed, so it is known before anything runs that it fits its schema.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

JsonObject = Mapping[str, Any]

DURATION_MAX_MS: Final = 31 * 24 * 60 * 60 * 1_000
"""The longest operation a declaration may ask for: 31 days."""


class RuntimeKind(StrEnum):
    """What the runtime can do by itself."""

    DEADLINE_OPERATION = "deadline_operation"
    INTERRUPT_OPERATION = "interrupt_operation"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineOperation:
    """Begins an operation that ends by itself after a time, or before it when interrupted.

    Attributes:
        argument: the top-level number in the input that says how long.
        unit_ms: milliseconds in one of it; 60,000 for minutes.
        completed: the call's result when the time is over.
        interrupted: the call's result when the operation was interrupted.
    """

    argument: str
    unit_ms: int
    completed: JsonObject
    interrupted: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptOperation:
    """Interrupts what runs of this app in the caller's conversation.

    Attributes:
        cancelled_start: the result when an activation was under way and was cancelled.
        interrupted: the result when an operation ran and was interrupted.
        nothing: the result when neither was there.
    """

    cancelled_start: JsonObject
    interrupted: JsonObject
    nothing: JsonObject


RuntimeBinding = DeadlineOperation | InterruptOperation
"""What carries a tool of handler kind `runtime`."""


def kind_of(binding: RuntimeBinding) -> RuntimeKind:
    """The word for a binding."""
    match binding:
        case DeadlineOperation():
            return RuntimeKind.DEADLINE_OPERATION
        case InterruptOperation():
            return RuntimeKind.INTERRUPT_OPERATION


def answers_of(binding: RuntimeBinding) -> dict[str, JsonObject]:
    """The declared results by name; each must fit the tool's output schema."""
    match binding:
        case DeadlineOperation():
            return {"completed": binding.completed, "interrupted": binding.interrupted}
        case InterruptOperation():
            return {
                "cancelled_start": binding.cancelled_start,
                "interrupted": binding.interrupted,
                "nothing": binding.nothing,
            }


def wire_of(binding: RuntimeBinding) -> dict[str, Any]:
    """The binding as the `handler` of a manifest says it."""
    told: dict[str, Any] = {"kind": "runtime", "runtime": kind_of(binding).value}
    if isinstance(binding, DeadlineOperation):
        told["duration"] = {"argument": binding.argument, "unit_ms": binding.unit_ms}
    told["answers"] = {name: dict(answer) for name, answer in answers_of(binding).items()}
    return told
