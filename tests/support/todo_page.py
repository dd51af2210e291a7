"""Declarations of a to-do page, and a person who adds entries."""

from typing import Any

from capabilities.contract import Descriptor
from policy.vocabulary import Confirm, Effect

TEXT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}

OVERVIEW = Descriptor(
    id="todo.overview",
    title="Overview",
    description="All entries.",
    input_schema={"type": "object"},
    effect=Effect.READ,
    confirm=Confirm.NEVER,
)
ADD = Descriptor(
    id="todo.add",
    title="Add an entry",
    description="Adds one entry.",
    input_schema=TEXT,
    output_schema={"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
)
CLEAR = Descriptor(
    id="todo.clear_completed",
    title="Clear",
    description="Removes what is done.",
    input_schema={"type": "object"},
    effect=Effect.DESTRUCTIVE,
    confirm=Confirm.ALWAYS,
)


def act(capability: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What the page's handlers return."""
    return {"count": 1} if capability == "todo.add" else {"capability": capability, "got": arguments}
