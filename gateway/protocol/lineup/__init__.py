"""`lineup.v1` (seed 000, seed 002): the envelope, every message in both directions, and the words for what came of it.

The types decide; `docs/spec/lineup-v1.schema.json` and `docs/reference/lineup-v1.md` are written from them.
"""

from typing import Any, get_args

from pydantic import TypeAdapter

from gateway.protocol.lineup.agent import AgentMessage
from gateway.protocol.lineup.client import ClientMessage


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of every message, by who sends it."""
    agent, client = get_args(AgentMessage), get_args(ClientMessage)
    _, defined = TypeAdapter.json_schemas([(kind, "validation", TypeAdapter(kind)) for kind in (*agent, *client)])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lineup.v1: messages between an agent and the gateway",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in (*agent, *client)],
        "$defs": {
            **defined["$defs"],
            "AgentMessage": {"oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in agent]},
            "ClientMessage": {"oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in client]},
        },
    }


__all__ = ["schema"]
