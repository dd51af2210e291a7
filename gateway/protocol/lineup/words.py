"""The words of `lineup.v1` for what became of a call, and which one every state and code is told with (rules E3)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gateway.domain.calls import CallState
from gateway.domain.errors import DOCUMENT_CODES, SURFACE_CODES, ErrorCode


class Status(StrEnum):
    """`status` of `app.result` and `tool.result`."""

    COMPLETED = "completed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"


ENDS: Final[Mapping[CallState, Status]] = {
    CallState.SUCCEEDED: Status.COMPLETED,
    CallState.DENIED: Status.REJECTED,
    CallState.CANCELLED: Status.CANCELLED,
    CallState.EXPIRED: Status.EXPIRED,
    CallState.FAILED: Status.FAILED,
    CallState.UNKNOWN: Status.FAILED,
}
"""How the end of a call is told. Every state in which a call has something final to tell has its row."""

REFUSALS: Final[Mapping[ErrorCode, Status | None]] = {
    ErrorCode.BAD_JSON: None,
    ErrorCode.BAD_REQUEST: None,
    ErrorCode.PROTOCOL_UNSUPPORTED: None,
    ErrorCode.STORE_UNAVAILABLE: None,
    ErrorCode.BODY_TOO_LARGE: None,
    ErrorCode.ENCODING_UNSUPPORTED: None,
    ErrorCode.TOO_SLOW: None,
    ErrorCode.ARGUMENTS_INVALID: Status.FAILED,
    ErrorCode.UNSAFE_INTEGER: None,
    ErrorCode.TOO_DEEP: None,
    ErrorCode.RATE_LIMITED: None,
    ErrorCode.BUSY: None,
    ErrorCode.UNAUTHENTICATED: None,
    ErrorCode.WRONG_DOOR: None,
    ErrorCode.ORIGIN_REFUSED: None,
    ErrorCode.HOST_REFUSED: None,
    ErrorCode.TICKET_USED: None,
    ErrorCode.SESSION_REVOKED: None,
    ErrorCode.SESSION_EXPIRED: None,
    ErrorCode.UNKNOWN_CONVERSATION: None,
    ErrorCode.SENDER_REFUSED: None,
    ErrorCode.UNKNOWN_CAPABILITY: Status.UNSUPPORTED,
    ErrorCode.STALE_INVENTORY: Status.FAILED,
    ErrorCode.REVOKED: Status.UNSUPPORTED,
    ErrorCode.UNSUPPORTED: Status.UNSUPPORTED,
    ErrorCode.PAGE_NOT_CONNECTED: Status.FAILED,
    ErrorCode.AMBIGUOUS_PAGE: Status.FAILED,
    ErrorCode.ID_RESERVED: Status.FAILED,
    ErrorCode.ID_INVALID: Status.FAILED,
    ErrorCode.SCHEMA_REFUSED: Status.FAILED,
    ErrorCode.FORBIDDEN: Status.REJECTED,
    ErrorCode.POLICY_CHANGED: Status.REJECTED,
    ErrorCode.POLICY_ERROR: Status.REJECTED,
    ErrorCode.UNKNOWN_CALL: Status.FAILED,
    ErrorCode.CALL_ID_CONFLICT: Status.FAILED,
    ErrorCode.CALL_TOO_OLD: Status.EXPIRED,
    ErrorCode.CLOCK_SKEW: Status.FAILED,
    ErrorCode.LEDGER_FULL: Status.FAILED,
    ErrorCode.REPLAY_DETECTED: Status.FAILED,
    ErrorCode.RESULT_ERASED: Status.COMPLETED,
    ErrorCode.DENIED: Status.REJECTED,
    ErrorCode.APPROVAL_EXPIRED: Status.EXPIRED,
    ErrorCode.APPROVAL_LAPSED: Status.EXPIRED,
    ErrorCode.APPROVAL_UNAVAILABLE: Status.REJECTED,
    ErrorCode.AGENT_PAUSED: Status.REJECTED,
    ErrorCode.AGENT_LEFT: Status.CANCELLED,
    ErrorCode.NOT_AVAILABLE: Status.FAILED,
    ErrorCode.NOT_DELIVERED: Status.FAILED,
    ErrorCode.HANDLER_ERROR: Status.FAILED,
    ErrorCode.OUTPUT_SCHEMA_VIOLATION: Status.FAILED,
    ErrorCode.DEADLINE_EXCEEDED: Status.EXPIRED,
    ErrorCode.OUTCOME_UNKNOWN: Status.FAILED,
    ErrorCode.CANCELLED: Status.CANCELLED,
    ErrorCode.APP_ACTIVATION_FAILED: Status.FAILED,
    ErrorCode.APP_ACTIVATION_CANCELLED: Status.CANCELLED,
    **dict.fromkeys(DOCUMENT_CODES, Status.FAILED),
    **dict.fromkeys(SURFACE_CODES, Status.FAILED),
    ErrorCode.NOT_FOUND: None,
    ErrorCode.METHOD_NOT_ALLOWED: None,
    ErrorCode.DECLARED_IN_FILE: None,
    ErrorCode.SCOPE_MISSING: None,
    ErrorCode.CONFIGURATION_REFUSED: None,
    ErrorCode.KEY_REUSED: None,
    ErrorCode.PRECONDITION_FAILED: None,
    ErrorCode.PRECONDITION_REQUIRED: None,
    ErrorCode.STATE_CONFLICT: None,
    ErrorCode.PACKAGE_REFUSED: None,
}
"""How the refusal of a call is told; None: by an HTTP status and an error object, for there was no call to speak of.

Every code has its row; a test holds the table to the enumeration.
"""

REASONS: Final[Mapping[ErrorCode, str]] = {ErrorCode.REVOKED: "revoked"}
"""`reason` beside a status, where one status has several; told only to whom it is true of (rules B3)."""
