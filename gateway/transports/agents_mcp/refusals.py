"""Refusals at the door, as HTTP answers with a JSON-RPC error in the body; each leaves one audit record."""

from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import Response
from starlette.types import Scope, Send

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.transports.errors import STATUSES, headers_of

Headers = list[tuple[bytes, bytes]]

_VERSION: Final = MCP_PROTOCOL_VERSION_HEADER.lower().encode()

TOLD: Final[dict[ErrorCode, tuple[int, int | None]]] = {
    ErrorCode.BAD_JSON: (400, PARSE_ERROR),
    ErrorCode.BAD_REQUEST: (400, INVALID_REQUEST),
    ErrorCode.PROTOCOL_UNSUPPORTED: (400, INVALID_REQUEST),
    ErrorCode.BODY_TOO_LARGE: (413, INVALID_REQUEST),
    ErrorCode.ENCODING_UNSUPPORTED: (415, INVALID_REQUEST),
    ErrorCode.TOO_SLOW: (408, INVALID_REQUEST),
    ErrorCode.UNAUTHENTICATED: (401, INVALID_REQUEST),
    ErrorCode.WRONG_DOOR: (401, INVALID_REQUEST),
    ErrorCode.SESSION_REVOKED: (401, INVALID_REQUEST),
    ErrorCode.SESSION_EXPIRED: (401, INVALID_REQUEST),
    ErrorCode.UNKNOWN_CONVERSATION: (404, INVALID_REQUEST),
    ErrorCode.SENDER_REFUSED: (403, INVALID_REQUEST),
    ErrorCode.ORIGIN_REFUSED: (403, INVALID_REQUEST),
    ErrorCode.HOST_REFUSED: (421, INVALID_REQUEST),
    ErrorCode.TOO_DEEP: (400, INVALID_REQUEST),
    ErrorCode.UNSAFE_INTEGER: (400, INVALID_REQUEST),
    ErrorCode.UNKNOWN_CAPABILITY: (400, INVALID_PARAMS),
    ErrorCode.STORE_UNAVAILABLE: (503, INTERNAL_ERROR),
    **{
        code: (200, None)
        for code in ErrorCode
        if code.value.partition(".")[0]
        in ("inventory", "policy", "replay", "approval", "execution", "document", "surface", "admin")
        and code is not ErrorCode.UNKNOWN_CAPABILITY
    },
    ErrorCode.ARGUMENTS_INVALID: (200, None),
    ErrorCode.RATE_LIMITED: (200, None),
    ErrorCode.BUSY: (200, None),
    ErrorCode.TICKET_USED: (200, None),
}
"""How a code is told on this door: HTTP status, and JSON-RPC code. None: as a tool result, so a model reads it."""


@dataclass(eq=False)
class Refused(Exception):
    """This HTTP request goes no further."""

    code: ErrorCode
    message: str
    rpc_code: int | None = None
    headers: Headers = field(default_factory=Headers)

    async def answer(self, send: Send, *, with_null_id: bool) -> None:
        """Say so. Older clients expect the id that could not be read as `null`, newer ones not at all."""
        status, body = self._told(with_null_id)
        await send_json(send, status, body, self.headers)

    def response(self, *, with_null_id: bool) -> Response:
        """The same, as a response."""
        status, body = self._told(with_null_id)
        response = Response(body, status_code=status, media_type="application/json")
        response.raw_headers.extend(self.headers)
        return response

    def _told(self, with_null_id: bool) -> tuple[int, bytes]:
        status, told = TOLD[self.code]
        body: dict[str, Any] = {"jsonrpc": "2.0"}
        if with_null_id:
            body["id"] = None
        rpc_code = self.rpc_code or told or INVALID_REQUEST
        body["error"] = {"code": rpc_code, "message": self.message, "data": {"code": self.code.wire}}
        # Before there is a call, what would be a tool result is the answer of the whole request.
        return STATUSES[self.code] if told is None else status, orjson.dumps(body)


def refuse(error: GatewayError, scope: Scope) -> Response:
    """A refusal of the edge in the words of this door."""
    return refused(error).response(with_null_id=not is_modern(scope))


def refused(error: GatewayError) -> Refused:
    """A refusal of the use cases, or of the body, as this door tells it."""
    headers = [(name.lower().encode(), value.encode()) for name, value in headers_of(error).items()]
    return Refused(error.code, error.message, headers=headers)


def is_modern(scope: Scope) -> bool:
    """Whether a request is of the newer era, by its header."""
    version = next((value for name, value in scope["headers"] if name == _VERSION), None)
    return version is not None and version.strip(b" \t").decode("latin-1") not in HANDSHAKE_PROTOCOL_VERSIONS


async def send_json(send: Send, status: int, body: bytes, headers: Headers | None = None) -> None:
    """One JSON answer, whole."""
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
