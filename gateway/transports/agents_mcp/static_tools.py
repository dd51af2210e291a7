"""The four tools every session has, for clients whose tool list is frozen and for calls that wait (design §11)."""

import re
from typing import Any, Final

from capabilities.validator import Validator, compile_validator
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.calls import CALL_ID_GRAMMAR

DESCRIBE: Final = "gateway_describe"
INVOKE: Final = "gateway_invoke"
STATUS: Final = "gateway_call_status"
CANCEL: Final = "gateway_call_cancel"

STATUS_SECONDS: Final = 25

_CALL: Final[dict[str, Any]] = {
    "ref": {"type": "string", "description": "The ref of the call, as an earlier answer gave it.", "maxLength": 80},
    "call_id": {"type": "string", "description": "Or your own call_id of it.", "maxLength": 80},
}

ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "ref": {"type": "string", "description": "The gateway's name of this call."},
        "status": {"type": "string"},
        "result": {},
        "evidence": {"description": "What changed, as the page saw it."},
        "replayed": {"type": "boolean", "description": "This call had been made before; it did not run again."},
        "hint": {"type": "string"},
        "receipt": {"type": "object", "description": "The newest receipt of a mini app's call."},
    },
    "required": ["ref", "status"],
}
"""What a call answers. A call that waits has a hint and no result."""

STATIC_TOOLS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": DESCRIBE,
        "title": "Describe what this session may do",
        "description": (
            "Lists the capabilities of this session now: full schemas, effect, risk, the tool name of each; "
            "the open pages of the person and what they show; the addresses to open where no page is."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "page": {"type": "string", "description": "Only what this page offers, and its records."},
                "limit": {"type": "integer", "minimum": 1, "description": "How many records of the page."},
                "offset": {"type": "integer", "minimum": 0},
                "ids": {"type": "array", "items": {"type": "string"}, "description": "Only these records."},
            },
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": INVOKE,
        "title": "Call a capability by its id",
        "description": (
            "Calls any capability of this session by its id (as `gateway_describe` lists it), also one your tool "
            "list does not show. Give `page` when several pages offer it. Repeating a call with the same `call_id` "
            "finds it instead of running it again."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "capability": {"type": "string", "maxLength": 160, "description": "For example `todo.add`."},
                "arguments": {"type": "object", "description": "By the capability's input schema."},
                "page": {"type": "string", "maxLength": 160},
                "site": {"type": "string", "maxLength": 100},
                "call_id": {"type": "string", "pattern": f"^{CALL_ID_GRAMMAR}$"},
            },
            "required": ["capability"],
            "additionalProperties": False,
        },
        "outputSchema": ANSWER,
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
    },
    {
        "name": STATUS,
        "title": "Ask how a call stands",
        "description": f"Waits up to {STATUS_SECONDS} s for a call that is not finished, and answers where it stands.",
        "inputSchema": {"type": "object", "properties": _CALL, "additionalProperties": False},
        "outputSchema": ANSWER,
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": CANCEL,
        "title": "Cancel a call",
        "description": "Ends a call that has not begun; asks one that runs to stop. It never undoes anything.",
        "inputSchema": {"type": "object", "properties": _CALL, "additionalProperties": False},
        "outputSchema": ANSWER,
        "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True},
    },
)

NAMES: Final = frozenset(tool["name"] for tool in STATIC_TOOLS)
AT_ONCE: Final = frozenset({DESCRIBE, CANCEL})
"""Those that wait for no call."""

_VALIDATORS: Final[dict[str, Validator]] = {
    tool["name"]: compile_validator(tool["inputSchema"]) for tool in STATIC_TOOLS
}


def check_arguments(name: str, arguments: dict[str, Any]) -> None:
    """Judge the arguments of a static tool.

    Raises:
        GatewayError: `arguments_invalid`.
    """
    problem = _VALIDATORS[name].first_error(arguments)
    if problem is not None:
        raise GatewayError(
            ErrorCode.ARGUMENTS_INVALID,
            f"arguments of `{name}` at `{problem.pointer or '/'}`: {problem.reason}",
            pointer=problem.pointer,
        )


def is_call_id(text: str) -> bool:
    """Whether `text` may be a caller's key (design §6)."""
    return re.fullmatch(CALL_ID_GRAMMAR, text) is not None


def call_named(arguments: dict[str, Any]) -> str:
    """The one call `gateway_call_status` and `gateway_call_cancel` mean.

    Raises:
        GatewayError: neither `ref` nor `call_id`, or both.
    """
    named: list[str] = [arguments[key] for key in ("ref", "call_id") if key in arguments]
    if len(named) != 1:
        raise GatewayError(ErrorCode.ARGUMENTS_INVALID, "name the call by `ref` or by `call_id`")
    return named[0]
