"""Every refusal the gateway can give: `area.reason`, and how each is spelled on the wires (design §18)."""

from enum import StrEnum
from typing import Any, Final


class ErrorCode(StrEnum):
    """Stable machine codes; `wire` is what clients see."""

    BAD_JSON = "request.bad_json"
    BAD_REQUEST = "request.bad_request"
    PROTOCOL_UNSUPPORTED = "request.protocol_unsupported"
    STORE_UNAVAILABLE = "request.store_unavailable"
    BODY_TOO_LARGE = "request.body_too_large"
    ENCODING_UNSUPPORTED = "request.encoding_unsupported"
    TOO_SLOW = "request.too_slow"
    ARGUMENTS_INVALID = "request.arguments_invalid"
    UNSAFE_INTEGER = "request.unsafe_integer"
    TOO_DEEP = "request.too_deep"
    RATE_LIMITED = "request.rate_limited"
    BUSY = "request.busy"

    UNAUTHENTICATED = "identity.unauthenticated"
    WRONG_DOOR = "identity.wrong_door"
    ORIGIN_REFUSED = "identity.origin_refused"
    HOST_REFUSED = "identity.host_refused"
    TICKET_USED = "identity.ticket_used"
    SESSION_REVOKED = "identity.session_revoked"
    SESSION_EXPIRED = "identity.session_expired"
    UNKNOWN_CONVERSATION = "identity.unknown_conversation"
    SENDER_REFUSED = "identity.sender_refused"

    UNKNOWN_CAPABILITY = "inventory.unknown_capability"
    STALE_INVENTORY = "inventory.stale_inventory"
    REVOKED = "inventory.revoked"
    UNSUPPORTED = "inventory.unsupported"
    PAGE_NOT_CONNECTED = "inventory.page_not_connected"
    AMBIGUOUS_PAGE = "inventory.ambiguous_page"
    ID_RESERVED = "inventory.id_reserved"
    ID_INVALID = "inventory.id_invalid"
    SCHEMA_REFUSED = "inventory.schema_refused"

    FORBIDDEN = "policy.forbidden"
    POLICY_CHANGED = "policy.policy_changed"
    POLICY_ERROR = "policy.policy_error"

    UNKNOWN_CALL = "replay.unknown_call"
    CALL_ID_CONFLICT = "replay.call_id_conflict"
    CALL_TOO_OLD = "replay.call_too_old"
    CLOCK_SKEW = "replay.clock_skew"
    LEDGER_FULL = "replay.ledger_full"
    REPLAY_DETECTED = "replay.replay_detected"
    RESULT_ERASED = "replay.result_erased"

    DENIED = "approval.denied"
    APPROVAL_EXPIRED = "approval.approval_expired"
    APPROVAL_LAPSED = "approval.approval_lapsed"
    APPROVAL_UNAVAILABLE = "approval.approval_unavailable"
    AGENT_PAUSED = "approval.agent_paused"
    AGENT_LEFT = "approval.agent_left"

    NOT_AVAILABLE = "execution.not_available"
    NOT_DELIVERED = "execution.not_delivered"
    HANDLER_ERROR = "execution.handler_error"
    OUTPUT_SCHEMA_VIOLATION = "execution.output_schema_violation"
    DEADLINE_EXCEEDED = "execution.deadline_exceeded"
    OUTCOME_UNKNOWN = "execution.outcome_unknown"
    CANCELLED = "execution.cancelled"
    APP_ACTIVATION_FAILED = "execution.app_activation_failed"
    APP_ACTIVATION_CANCELLED = "execution.app_activation_cancelled"

    NOT_FOUND = "admin.not_found"
    METHOD_NOT_ALLOWED = "admin.method_not_allowed"
    DECLARED_IN_FILE = "admin.declared_in_file"
    SCOPE_MISSING = "admin.scope_missing"
    CONFIGURATION_REFUSED = "admin.configuration_refused"
    KEY_REUSED = "admin.key_reused"
    PRECONDITION_FAILED = "admin.precondition_failed"
    PRECONDITION_REQUIRED = "admin.precondition_required"
    STATE_CONFLICT = "admin.state_conflict"
    PACKAGE_REFUSED = "admin.package_refused"

    @property
    def wire(self) -> str:
        """The spelling clients see, on every door unless the door's own table says otherwise."""
        return _WIRE.get(self, self.value.partition(".")[2])

    @property
    def retryable(self) -> bool:
        """Whether the same request, sent again later, may succeed without anybody changing anything."""
        return self in RETRYABLE


_WIRE: Final = {ErrorCode.AMBIGUOUS_PAGE: "AMBIGUOUS_PAGE"}

RETRYABLE: Final = frozenset(
    {
        ErrorCode.STORE_UNAVAILABLE,
        ErrorCode.TOO_SLOW,
        ErrorCode.RATE_LIMITED,
        ErrorCode.BUSY,
        ErrorCode.STALE_INVENTORY,
        ErrorCode.PAGE_NOT_CONNECTED,
        ErrorCode.AMBIGUOUS_PAGE,
        ErrorCode.POLICY_CHANGED,
        ErrorCode.CLOCK_SKEW,
        ErrorCode.APPROVAL_EXPIRED,
        ErrorCode.APPROVAL_LAPSED,
        ErrorCode.NOT_AVAILABLE,
        ErrorCode.NOT_DELIVERED,
        ErrorCode.CANCELLED,
    }
)


class GatewayError(Exception):
    """A refusal with a code, a message fit for the wire, and facts (shown to the caller as `data`).

    Raised before a call is admitted; afterwards a refusal is the call's recorded end.
    """

    def __init__(self, code: ErrorCode, message: str, /, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.facts: dict[str, Any] = facts
        self.is_audited = False
        """Whether the door has no record to write: it is in the trail already, or the store is what failed."""

    def __repr__(self) -> str:
        return f"GatewayError({self.code.value!r}, {self.message!r})"


class IllegalTransition(Exception):
    """An event met a state that has no row for it: a bug or a lost race, never a caller's mistake."""
