"""The OpenAPI 3.1 description of `/surface/v1` and `/v1/host-tokens`, with the words and statuses of their tables."""

from typing import Any, Final

import orjson

from gateway.domain.errors import ErrorCode
from gateway.protocol.surface import PROTOCOL, SPELLINGS
from gateway.runtime.surface import METHODS
from gateway.transports.errors import STATUSES

Json = dict[str, Any]

_DESCRIPTION: Final = """\
`pling.surface/0.1` for programs that hold an agent token, and tickets for the backends of sites.
docs/spec/surface-protocol.md says what the words mean; docs/reference/codes.md lists the codes.
"""

_HERE: Final = [code for code in ErrorCode if not code.value.startswith("admin.")]
"""Codes of other doors are left out: the admin API's are never told here."""

_REF: Final[Json] = {"type": "string", "minLength": 1, "maxLength": 80}


def document() -> bytes:
    """The description, as JSON text with sorted keys."""
    told: Json = {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {"title": "Ostiary surface protocol over HTTP", "version": "0.1", "description": _DESCRIPTION},
        "paths": {"/surface/v1": {"post": _surface()}, "/v1/host-tokens": {"post": _host_tokens()}},
        "components": {
            "schemas": _schemas(),
            "responses": {**_responses("Surface", "Refused"), **_responses("Ticket", "TicketRefused")},
            "securitySchemes": {
                "agentToken": {"type": "http", "scheme": "bearer", "bearerFormat": "ost_agent_…"},
                "serviceKey": {"type": "http", "scheme": "bearer", "bearerFormat": "ost_site_…"},
            },
        },
    }
    return orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def _surface() -> Json:
    return {
        "operationId": "surface",
        "summary": "One envelope in, one out.",
        "security": [{"agentToken": []}],
        "parameters": [
            _header(
                "Ostiary-Nonce", "Required with `invoke`: new for each transmission.", r"^[A-Za-z0-9._:-]{16,64}$"
            ),
            _header("Ostiary-Timestamp", "Required with `invoke`: milliseconds since 1970.", r"^[0-9]{1,14}$"),
            _header("Prefer", "`wait=n`: seconds to wait, at most 240; what is not understood is ignored.", None),
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _schema("Envelope")}}},
        "responses": {
            "200": {
                "description": "Answered: the result, or what the action, a person or policy said.",
                "content": {"application/json": {"schema": _schema("Answered")}},
                "links": {
                    "status": _link("status", {"wait": 0}),
                    "cancel": _link("cancel", {}),
                },
            },
            **_refusals("Surface"),
        },
    }


def _host_tokens() -> Json:
    answer = {
        "type": "object",
        "properties": {"ticket": {"type": "string"}, "expires_in": {"type": "integer", "minimum": 1}},
        "required": ["ticket", "expires_in"],
    }
    return {
        "operationId": "mintTicket",
        "summary": "A single-use ticket for one user and origin.",
        "security": [{"serviceKey": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _schema("TicketWanted")}}},
        "responses": {
            "200": {"description": "Minted.", "content": {"application/json": {"schema": answer}}},
            **_refusals("Ticket"),
        },
    }


def _header(name: str, description: str, pattern: str | None) -> Json:
    schema: Json = {"type": "string", **({"pattern": pattern} if pattern else {})}
    return {"name": name, "in": "header", "required": False, "description": description, "schema": schema}


def _link(method: str, more: Json) -> Json:
    body = {
        "protocol": PROTOCOL,
        "id": "next",
        "method": method,
        "input": {"ref": "$response.body#/result/ref", **more},
    }
    return {"operationId": "surface", "requestBody": body}


def _schema(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _refusals(door: str) -> Json:
    statuses = sorted({STATUSES[code] for code in _HERE})
    return {str(status): {"$ref": f"#/components/responses/{door}{status}"} for status in statuses}


def _responses(door: str, shape: str) -> Json:
    words: dict[int, list[str]] = {}
    for code in _HERE:
        words.setdefault(STATUSES[code], []).append(SPELLINGS[code] if door == "Surface" else code.wire)
    return {
        f"{door}{status}": {
            "description": f"Refused: {', '.join(f'`{word}`' for word in told)}.",
            "content": {"application/json": {"schema": _schema(shape)}},
        }
        for status, told in words.items()
    }


def _envelope(method: str, given: Json, *more: str) -> Json:
    own: Json = {
        "protocol": {"const": PROTOCOL},
        "id": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,64}$"},
        "method": {"const": method},
        "input": given,
        "call_id": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{8,64}$"},
        "page": {"type": "string", "minLength": 1, "maxLength": 160},
    }
    if "capability" in more:
        own["capability"] = {"type": "string", "minLength": 1, "maxLength": 160}
    return {
        "type": "object",
        "properties": own,
        "required": ["protocol", "id", "method", *more],
        "additionalProperties": False,
    }


def _schemas() -> Json:
    named = {
        "type": "object",
        "properties": {"ref": _REF, "wait": {"type": "integer", "minimum": 0, "maximum": 25}},
        "required": ["ref"],
    }
    described = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 200},
            "offset": {"type": "integer", "minimum": 0, "maximum": 2**31},
            "ids": {"type": "array", "items": {"type": "string", "maxLength": 256}, "maxItems": 200},
        },
        "additionalProperties": False,
    }
    error = {
        "type": "object",
        "properties": {
            "code": {"enum": sorted({SPELLINGS[code] for code in _HERE})},
            "message": {"type": "string"},
            "retryable": {"type": "boolean"},
            "reason": {"type": "string"},
            "ref": {"type": "string"},
            "data": {"type": "object"},
        },
        "required": ["code", "message", "retryable"],
        "additionalProperties": False,
    }
    inputs: dict[str, tuple[Json, tuple[str, ...]]] = {
        "describe": (described, ()),
        "invoke": ({"type": "object", "description": "The arguments."}, ("capability",)),
        "status": (named, ("input",)),
        "cancel": (named, ("input",)),
    }
    return {
        "Envelope": {"oneOf": [_envelope(method, *_flat(inputs[method])) for method in METHODS]},
        "Answered": {
            "type": "object",
            "properties": {
                "protocol": {"const": PROTOCOL},
                "id": {"type": "string"},
                "ok": {"const": True},
                "result": {"type": "object", "properties": {"error": _schema("Error"), "ref": {"type": "string"}}},
            },
            "required": ["protocol", "id", "ok", "result"],
            "additionalProperties": False,
        },
        "Refused": {
            "type": "object",
            "properties": {
                "protocol": {"const": PROTOCOL},
                "id": {"type": ["string", "null"]},
                "ok": {"const": False},
                "error": _schema("Error"),
            },
            "required": ["protocol", "id", "ok", "error"],
            "additionalProperties": False,
        },
        "Error": error,
        "TicketWanted": {
            "type": "object",
            "properties": {
                "user": {"type": "string", "minLength": 1, "maxLength": 256},
                "origin": {"type": "string", "minLength": 1, "maxLength": 256},
                "capabilities": {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": 500},
                "ttl": {"type": ["integer", "null"], "minimum": 1, "description": "Seconds."},
            },
            "required": ["user", "origin"],
            "additionalProperties": False,
        },
        "TicketRefused": {
            "type": "object",
            "properties": {
                "error": {
                    "type": "object",
                    "properties": {
                        "code": {"enum": sorted({code.wire for code in _HERE})},
                        "message": {"type": "string"},
                    },
                    "required": ["code", "message"],
                }
            },
            "required": ["error"],
        },
    }


def _flat(shape: tuple[Json, tuple[str, ...]]) -> tuple[Any, ...]:
    given, more = shape
    return given, *more
