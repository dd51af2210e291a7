"""`runtime.echo`: gives its argument back. For benchmarks and first steps."""

from typing import Any, Final

from capabilities.contract import CallModel, Computation, Descriptor, HandlerKind
from policy.vocabulary import Confirm, Effect

DESCRIPTOR: Final = Descriptor(
    id="runtime.echo",
    title="Echo",
    description="Returns the text it was given.",
    input_schema={
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 65536}},
        "required": ["text"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    effect=Effect.READ,
    confirm=Confirm.NEVER,
    call_model=CallModel.QUERY,
    handler=HandlerKind.RUNTIME,
)


def compute(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the text unchanged."""
    return {"text": arguments["text"]}


HANDLER: Final = Computation(compute)
