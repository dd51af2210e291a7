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

    DOCUMENT_TOO_LARGE = "document.too_large"
    DOCUMENT_NOT_UTF8 = "document.not_utf8"
    DOCUMENT_BAD_JSON = "document.bad_json"
    DOCUMENT_NOT_JSON = "document.not_json"
    DOCUMENT_TOO_DEEP = "document.too_deep"
    DOCUMENT_TOO_MANY_VALUES = "document.too_many_values"
    DOCUMENT_TOO_MANY_KEYS = "document.too_many_keys"
    DOCUMENT_TOO_MANY_ITEMS = "document.too_many_items"
    DOCUMENT_STRING_TOO_LONG = "document.string_too_long"
    DOCUMENT_DUPLICATE_KEY = "document.duplicate_key"
    DOCUMENT_LONE_SURROGATE = "document.lone_surrogate"
    DOCUMENT_NUMBER_RANGE = "document.number_range"
    DOCUMENT_RESERVED_KEY = "document.reserved_key"
    DOCUMENT_TOO_MANY_NODES = "document.too_many_nodes"
    DOCUMENT_UI_TOO_DEEP = "document.ui_too_deep"
    DOCUMENT_TOO_MANY_EXPRESSIONS = "document.too_many_expressions"
    DOCUMENT_EXPRESSION_TOO_DEEP = "document.expression_too_deep"
    DOCUMENT_WRONG_TYPE = "document.wrong_type"
    DOCUMENT_UNKNOWN_KEY = "document.unknown_key"
    DOCUMENT_MISSING_KEY = "document.missing_key"
    DOCUMENT_UNKNOWN_VERSION = "document.unknown_version"
    DOCUMENT_UNKNOWN_TYPE = "document.unknown_type"
    DOCUMENT_UNKNOWN_OPERATOR = "document.unknown_operator"
    DOCUMENT_NOT_IN_VERSION = "document.not_in_version"
    DOCUMENT_BAD_ID = "document.bad_id"
    DOCUMENT_BAD_NAME = "document.bad_name"
    DOCUMENT_NOT_ALLOWED = "document.not_allowed"
    DOCUMENT_WRONG_LENGTH = "document.wrong_length"
    DOCUMENT_WRONG_COUNT = "document.wrong_count"
    DOCUMENT_OUT_OF_RANGE = "document.out_of_range"
    DOCUMENT_WRONG_ARITY = "document.wrong_arity"
    DOCUMENT_DUPLICATE_ID = "document.duplicate_id"
    DOCUMENT_DUPLICATE_VALUE = "document.duplicate_value"
    DOCUMENT_UNKNOWN_REF = "document.unknown_ref"
    DOCUMENT_UNKNOWN_FIELD = "document.unknown_field"
    DOCUMENT_UNKNOWN_ACTION = "document.unknown_action"
    DOCUMENT_CYCLE = "document.cycle"
    DOCUMENT_TYPE_MISMATCH = "document.type_mismatch"
    DOCUMENT_BAD_RANGE = "document.bad_range"
    DOCUMENT_OUT_OF_DOMAIN = "document.out_of_domain"
    DOCUMENT_RANGE_DIFFERS = "document.range_differs"
    DOCUMENT_OPTIONS_DIFFER = "document.options_differ"
    DOCUMENT_WRONG_CHILDREN = "document.wrong_children"
    DOCUMENT_NESTED_FORM = "document.nested_form"
    DOCUMENT_NOT_STRUCTURED = "document.not_structured"
    DOCUMENT_NOT_EVALUABLE = "document.not_evaluable"
    DOCUMENT_DIVISION_BY_ZERO = "document.division_by_zero"
    DOCUMENT_INVALID_POWER = "document.invalid_power"
    DOCUMENT_VALUE_RANGE = "document.value_range"
    DOCUMENT_TEXT_TOO_LONG = "document.text_too_long"
    DOCUMENT_TOO_MANY_STEPS = "document.too_many_steps"
    DOCUMENT_STATE_TOO_LARGE = "document.state_too_large"
    DOCUMENT_ARGUMENTS_TOO_LARGE = "document.arguments_too_large"
    DOCUMENT_PATCH_TARGET = "document.patch_target"
    DOCUMENT_PATCH_TOO_LARGE = "document.patch_too_large"
    DOCUMENT_DECLARATIONS_CHANGED = "document.declarations_changed"
    DOCUMENT_FRAME_GENERATION = "document.frame_generation"
    DOCUMENT_FRAME_EPOCH = "document.frame_epoch"
    DOCUMENT_FRAME_CONFLICT = "document.frame_conflict"
    DOCUMENT_FRAME_GAP = "document.frame_gap"
    DOCUMENT_FRAME_BASE = "document.frame_base"
    DOCUMENT_FRAME_BUDGET = "document.frame_budget"
    DOCUMENT_FULL = "document.full"
    DOCUMENT_NOT_CURRENT = "document.not_current"
    DOCUMENT_INCOMPLETE = "document.incomplete"

    SURFACE_TOO_LARGE = "surface.too_large"
    SURFACE_NOT_TEXT = "surface.not_text"
    SURFACE_ELEMENT = "surface.element"
    SURFACE_ATTRIBUTE = "surface.attribute"
    SURFACE_REMOTE = "surface.remote"
    SURFACE_ENDS_EARLY = "surface.ends_early"
    SURFACE_INTEGRITY = "surface.integrity"
    SURFACE_NOT_ALLOWED = "surface.not_allowed"
    SURFACE_BAD_SIGNATURE = "surface.bad_signature"
    SURFACE_ID_TAKEN = "surface.id_taken"
    SURFACE_VERSION_TAKEN = "surface.version_taken"

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
        area, _, reason = self.value.partition(".")
        return _WIRE.get(self, self.value if area in _WHOLE else reason)

    @property
    def retryable(self) -> bool:
        """Whether the same request, sent again later, may succeed without anybody changing anything."""
        return self in RETRYABLE


_WIRE: Final = {ErrorCode.AMBIGUOUS_PAGE: "AMBIGUOUS_PAGE"}

_WHOLE: Final = frozenset({"document", "surface"})
"""Areas whose codes are told whole: what is shown has reasons of its own (design §18)."""

DOCUMENT_CODES: Final = tuple(code for code in ErrorCode if code.value.startswith("document."))
"""What can be wrong with a document, as its judge says it, and three reasons of the gateway's."""

SURFACE_CODES: Final = tuple(code for code in ErrorCode if code.value.startswith("surface."))
"""What can be wrong with a bundle, and with who sends it."""

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
        ErrorCode.DOCUMENT_FULL,
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
