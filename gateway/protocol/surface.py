"""Answers of the surface protocol: one spelling for HTTP and for the in-page port (rules D2).

Two shapes of failure, kept apart on purpose (seed 004): `ok: false` never reached the business action;
`ok: true` with `result.error` did, and policy, a person or the action itself said no.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from gateway.domain.errors import DOCUMENT_CODES, SURFACE_CODES, ErrorCode, GatewayError

PROTOCOL: Final = "pling.surface/0.1"

SPELLINGS: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.BAD_JSON: "bad_json",
    ErrorCode.BAD_REQUEST: "BAD_REQUEST",
    ErrorCode.PROTOCOL_UNSUPPORTED: "PROTOCOL_NOT_SUPPORTED",
    ErrorCode.STORE_UNAVAILABLE: "store_unavailable",
    ErrorCode.BODY_TOO_LARGE: "body_too_large",
    ErrorCode.ENCODING_UNSUPPORTED: "encoding_unsupported",
    ErrorCode.TOO_SLOW: "too_slow",
    ErrorCode.ARGUMENTS_INVALID: "arguments_invalid",
    ErrorCode.UNSAFE_INTEGER: "unsafe_integer",
    ErrorCode.TOO_DEEP: "too_deep",
    ErrorCode.RATE_LIMITED: "rate_limited",
    ErrorCode.BUSY: "busy",
    ErrorCode.UNAUTHENTICATED: "unauthenticated",
    ErrorCode.WRONG_DOOR: "wrong_door",
    ErrorCode.ORIGIN_REFUSED: "origin_refused",
    ErrorCode.HOST_REFUSED: "host_refused",
    ErrorCode.TICKET_USED: "ticket_used",
    ErrorCode.SESSION_REVOKED: "session_revoked",
    ErrorCode.SESSION_EXPIRED: "session_expired",
    ErrorCode.UNKNOWN_CONVERSATION: "unknown_conversation",
    ErrorCode.SENDER_REFUSED: "sender_refused",
    ErrorCode.UNKNOWN_CAPABILITY: "CAPABILITY_NOT_EXPOSED",
    ErrorCode.STALE_INVENTORY: "stale_inventory",
    ErrorCode.REVOKED: "revoked",
    ErrorCode.UNSUPPORTED: "unsupported",
    ErrorCode.PAGE_NOT_CONNECTED: "page_not_connected",
    ErrorCode.AMBIGUOUS_PAGE: "AMBIGUOUS_PAGE",
    ErrorCode.ID_RESERVED: "id_reserved",
    ErrorCode.ID_INVALID: "id_invalid",
    ErrorCode.SCHEMA_REFUSED: "schema_refused",
    ErrorCode.FORBIDDEN: "PERMISSION_DENIED",
    ErrorCode.POLICY_CHANGED: "PERMISSION_DENIED",
    ErrorCode.POLICY_ERROR: "policy_error",
    ErrorCode.UNKNOWN_CALL: "unknown_call",
    ErrorCode.CALL_ID_CONFLICT: "call_id_conflict",
    ErrorCode.CALL_TOO_OLD: "call_too_old",
    ErrorCode.CLOCK_SKEW: "clock_skew",
    ErrorCode.LEDGER_FULL: "ledger_full",
    ErrorCode.REPLAY_DETECTED: "REPLAY_DETECTED",
    ErrorCode.RESULT_ERASED: "result_erased",
    ErrorCode.DENIED: "PERMISSION_DENIED",
    ErrorCode.APPROVAL_EXPIRED: "approval_expired",
    ErrorCode.APPROVAL_LAPSED: "approval_lapsed",
    ErrorCode.APPROVAL_UNAVAILABLE: "approval_unavailable",
    ErrorCode.AGENT_PAUSED: "agent_paused",
    ErrorCode.AGENT_LEFT: "agent_left",
    ErrorCode.NOT_AVAILABLE: "not_available",
    ErrorCode.NOT_DELIVERED: "not_delivered",
    ErrorCode.HANDLER_ERROR: "handler_error",
    ErrorCode.OUTPUT_SCHEMA_VIOLATION: "output_schema_violation",
    ErrorCode.DEADLINE_EXCEEDED: "deadline_exceeded",
    ErrorCode.OUTCOME_UNKNOWN: "outcome_unknown",
    ErrorCode.CANCELLED: "cancelled",
    ErrorCode.APP_ACTIVATION_FAILED: "app_activation_failed",
    ErrorCode.APP_ACTIVATION_CANCELLED: "app_activation_cancelled",
    **{code: code.value for code in (*DOCUMENT_CODES, *SURFACE_CODES)},
    ErrorCode.NOT_FOUND: "not_found",
    ErrorCode.METHOD_NOT_ALLOWED: "method_not_allowed",
    ErrorCode.DECLARED_IN_FILE: "declared_in_file",
    ErrorCode.SCOPE_MISSING: "scope_missing",
    ErrorCode.CONFIGURATION_REFUSED: "configuration_refused",
    ErrorCode.KEY_REUSED: "key_reused",
    ErrorCode.PRECONDITION_FAILED: "precondition_failed",
    ErrorCode.PRECONDITION_REQUIRED: "precondition_required",
    ErrorCode.STATE_CONFLICT: "state_conflict",
    ErrorCode.PACKAGE_REFUSED: "package_refused",
}
"""Every code has its spelling; a test holds the table to the enum."""

REFUSED_IN_RESULT: Final = frozenset(
    {
        ErrorCode.FORBIDDEN,
        ErrorCode.POLICY_CHANGED,
        ErrorCode.DENIED,
        ErrorCode.APPROVAL_UNAVAILABLE,
        # The executor's order (seed 004): the surface let the request through, the action refused its input.
        ErrorCode.ARGUMENTS_INVALID,
        *DOCUMENT_CODES,
    }
)
"""Refusals before admission that are still answers of the action: `ok: true`."""

_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_BY_WIRE: Final = {code.wire: code for code in ErrorCode}


def answered(request: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """The exchange succeeded; what came of the call is in `result`, its failure included."""
    told = dict(result)
    if "error" in told:
        told["error"] = _spelled(told["error"])
    return {"protocol": PROTOCOL, "id": request, "ok": True, "result": told}


def refused(request: str | None, error: GatewayError) -> dict[str, Any]:
    """A refusal in the shape its code belongs to."""
    failure: dict[str, Any] = {
        "code": error.code.wire,
        "message": error.message,
        "retryable": error.code.retryable,
    }
    facts = dict(error.facts)
    if "ref" in facts:
        failure["ref"] = facts.pop("ref")
    if facts:
        failure["data"] = facts
    failure = _spelled(failure)
    if request is not None and is_answer(error):
        return {"protocol": PROTOCOL, "id": request, "ok": True, "result": {"error": failure}}
    return {"protocol": PROTOCOL, "id": request, "ok": False, "error": failure}


def request_id(envelope: Any) -> str | None:
    """The id to answer an envelope with, however wrong the rest of it is; None when it has none."""
    given: Any = cast("dict[str, Any]", envelope).get("id") if isinstance(envelope, dict) else None
    return given if isinstance(given, str) and _ID.fullmatch(given) else None


def is_answer(error: GatewayError) -> bool:
    """Whether this refusal is the action's answer rather than the protocol's."""
    return error.code in REFUSED_IN_RESULT


def _spelled(failure: Mapping[str, Any]) -> dict[str, Any]:
    code = _BY_WIRE[failure["code"]]
    spelled = {**failure, "code": SPELLINGS[code]}
    if SPELLINGS[code] == "PERMISSION_DENIED":
        # One code for three reasons; which one it was stays readable.
        spelled["reason"] = code.wire
    return spelled
