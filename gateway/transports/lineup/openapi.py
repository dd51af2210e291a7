"""The OpenAPI 3.1 description of `/lineup/v1`, with the types of the protocol and the statuses of its tables."""

import json
from typing import Any, Final

import orjson

from gateway.domain.errors import ErrorCode
from gateway.protocol import lineup
from gateway.transports.errors import STATUSES
from gateway.transports.lineup.door import MESSAGES, STREAM

Json = dict[str, Any]

_DESCRIPTION: Final = """\
`lineup.v1` for agents. docs/reference/lineup-v1.md says what the messages mean; docs/reference/codes.md lists the codes.
"""

_HERE: Final = [code for code in ErrorCode if not code.value.startswith("admin.")]
"""What is told by HTTP: a `ui.` message has no answer of its own, so whatever refuses it is."""


def document() -> bytes:
    """The description, as JSON text with sorted keys."""
    told: Json = {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {"title": "Ostiary lineup.v1 over HTTP", "version": "1", "description": _DESCRIPTION},
        "paths": {
            MESSAGES: {"parameters": [_conversation()], "post": _messages()},
            STREAM: {"parameters": [_conversation()], "get": _stream()},
        },
        "components": {
            "schemas": {**_schemas(), "Refused": _refused()},
            "responses": _responses(),
            "securitySchemes": {
                "agentToken": {"type": "http", "scheme": "bearer", "bearerFormat": "ost_agent_…"},
            },
        },
    }
    return orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def _messages() -> Json:
    return {
        "operationId": "postMessage",
        "summary": "One message of the agent in, what there is to say at once out.",
        "security": [{"agentToken": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _schema("AgentMessage")}}},
        "responses": {
            "200": _answer("The call has ended, or was refused.", "ToolResultMessage", "AppResultMessage"),
            "202": _answer("The call was accepted; its newest receipt.", "ToolReceiptMessage"),
            "204": {"description": "What was asked of a surface was done."},
            **_refusals(),
        },
    }


def _stream() -> Json:
    text = {"type": "string", "description": "Events with `id` and `data`; each `data` is one ClientMessage."}
    place = {
        "name": "Last-Event-ID",
        "in": "header",
        "required": False,
        "description": "The id of an event: the place to go on after.",
        "schema": {"type": "string", "pattern": "^[0-9]{0,15}$"},
    }
    return {
        "operationId": "readStream",
        "summary": "The messages of the gateway, from any place that is still kept.",
        "security": [{"agentToken": []}],
        "parameters": [place],
        "responses": {
            "200": {"description": "The stream.", "content": {"text/event-stream": {"schema": text}}},
            **_refusals(),
        },
    }


def _conversation() -> Json:
    return {
        "name": "conversation",
        "in": "path",
        "required": True,
        "description": "The conversation of the session whose token this is.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
    }


def _answer(description: str, *names: str) -> Json:
    options = [_schema(name) for name in names]
    schema = options[0] if len(options) == 1 else {"oneOf": options}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _schemas() -> Json:
    text = json.dumps(lineup.schema()["$defs"])
    schemas: Json = json.loads(text.replace('"#/$defs/', '"#/components/schemas/'))
    return schemas


def _refused() -> Json:
    return {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {
                    "code": {"enum": sorted(code.wire for code in _HERE)},
                    "message": {"type": "string"},
                    "retryable": {"type": "boolean"},
                    "data": {"type": "object"},
                },
                "required": ["code", "message", "retryable"],
                "additionalProperties": False,
            }
        },
        "required": ["error"],
        "additionalProperties": False,
    }


def _refusals() -> Json:
    return {str(status): {"$ref": f"#/components/responses/Refused{status}"} for status in sorted(_words())}


def _words() -> dict[int, list[str]]:
    words: dict[int, list[str]] = {}
    for code in _HERE:
        words.setdefault(STATUSES[code], []).append(code.wire)
    return words


def _responses() -> Json:
    return {
        f"Refused{status}": {
            "description": f"Refused: {', '.join(f'`{word}`' for word in told)}.",
            "content": {"application/json": {"schema": _schema("Refused")}},
        }
        for status, told in _words().items()
    }
