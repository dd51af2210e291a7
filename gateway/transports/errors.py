"""HTTP statuses of refusals. MCP keeps a table of its own."""

import math
from collections.abc import Mapping
from typing import Final

from gateway.domain.errors import DOCUMENT_CODES, SURFACE_CODES, ErrorCode, GatewayError

STATUSES: Final[Mapping[ErrorCode, int]] = {
    ErrorCode.BAD_JSON: 400,
    ErrorCode.BAD_REQUEST: 400,
    ErrorCode.PROTOCOL_UNSUPPORTED: 400,
    ErrorCode.STORE_UNAVAILABLE: 503,
    ErrorCode.BODY_TOO_LARGE: 413,
    ErrorCode.ENCODING_UNSUPPORTED: 415,
    ErrorCode.TOO_SLOW: 408,
    ErrorCode.ARGUMENTS_INVALID: 422,
    ErrorCode.UNSAFE_INTEGER: 400,
    ErrorCode.TOO_DEEP: 400,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.BUSY: 503,
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.WRONG_DOOR: 401,
    ErrorCode.ORIGIN_REFUSED: 403,
    ErrorCode.HOST_REFUSED: 421,
    ErrorCode.TICKET_USED: 401,
    ErrorCode.SESSION_REVOKED: 401,
    ErrorCode.SESSION_EXPIRED: 401,
    ErrorCode.UNKNOWN_CONVERSATION: 404,
    ErrorCode.SENDER_REFUSED: 403,
    ErrorCode.UNKNOWN_CAPABILITY: 404,
    ErrorCode.STALE_INVENTORY: 409,
    ErrorCode.REVOKED: 410,
    ErrorCode.UNSUPPORTED: 400,
    ErrorCode.PAGE_NOT_CONNECTED: 503,
    ErrorCode.AMBIGUOUS_PAGE: 409,
    ErrorCode.ID_RESERVED: 422,
    ErrorCode.ID_INVALID: 422,
    ErrorCode.SCHEMA_REFUSED: 422,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.POLICY_CHANGED: 409,
    ErrorCode.POLICY_ERROR: 403,
    ErrorCode.UNKNOWN_CALL: 404,
    ErrorCode.CALL_ID_CONFLICT: 409,
    ErrorCode.CALL_TOO_OLD: 400,
    ErrorCode.CLOCK_SKEW: 400,
    ErrorCode.LEDGER_FULL: 507,
    ErrorCode.REPLAY_DETECTED: 409,
    ErrorCode.RESULT_ERASED: 410,
    ErrorCode.DENIED: 403,
    ErrorCode.APPROVAL_EXPIRED: 403,
    ErrorCode.APPROVAL_LAPSED: 403,
    ErrorCode.APPROVAL_UNAVAILABLE: 403,
    ErrorCode.AGENT_PAUSED: 403,
    ErrorCode.AGENT_LEFT: 409,
    ErrorCode.NOT_AVAILABLE: 503,
    ErrorCode.NOT_DELIVERED: 503,
    ErrorCode.HANDLER_ERROR: 502,
    ErrorCode.OUTPUT_SCHEMA_VIOLATION: 502,
    ErrorCode.DEADLINE_EXCEEDED: 504,
    ErrorCode.OUTCOME_UNKNOWN: 504,
    ErrorCode.CANCELLED: 409,
    ErrorCode.APP_ACTIVATION_FAILED: 503,
    ErrorCode.APP_ACTIVATION_CANCELLED: 409,
    **dict.fromkeys(DOCUMENT_CODES, 422),
    ErrorCode.DOCUMENT_FULL: 507,
    ErrorCode.DOCUMENT_NOT_CURRENT: 409,
    ErrorCode.DOCUMENT_INCOMPLETE: 409,
    **dict.fromkeys(SURFACE_CODES, 422),
    ErrorCode.SURFACE_TOO_LARGE: 413,
    ErrorCode.SURFACE_NOT_ALLOWED: 403,
    ErrorCode.SURFACE_BAD_SIGNATURE: 403,
    ErrorCode.SURFACE_ID_TAKEN: 409,
    ErrorCode.SURFACE_VERSION_TAKEN: 409,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.METHOD_NOT_ALLOWED: 405,
    ErrorCode.DECLARED_IN_FILE: 405,
    ErrorCode.SCOPE_MISSING: 403,
    ErrorCode.CONFIGURATION_REFUSED: 422,
    ErrorCode.KEY_REUSED: 409,
    ErrorCode.PRECONDITION_FAILED: 412,
    ErrorCode.PRECONDITION_REQUIRED: 428,
    ErrorCode.STATE_CONFLICT: 409,
    ErrorCode.PACKAGE_REFUSED: 422,
}
"""The status of a refusal that is the whole answer. Every code has its row; a test holds it to the enum."""

_UNAUTHENTICATED: Final = frozenset(code for code, status in STATUSES.items() if status == 401)
_SOON: Final = frozenset({ErrorCode.BUSY, ErrorCode.STORE_UNAVAILABLE, ErrorCode.PAGE_NOT_CONNECTED})


def headers_of(error: GatewayError) -> dict[str, str]:
    """The headers a refusal brings: a challenge with 401, a time to come back where that helps."""
    if error.code in _UNAUTHENTICATED:
        return {"WWW-Authenticate": 'Bearer realm="ostiary"'}
    if error.code is ErrorCode.RATE_LIMITED:
        return {"Retry-After": str(max(1, math.ceil(error.facts.get("retry_after_ms", 1_000) / 1_000)))}
    return {"Retry-After": "1"} if error.code in _SOON else {}
