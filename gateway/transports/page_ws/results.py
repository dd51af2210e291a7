"""What a page says came of a call, in the gateway's words."""

from typing import Any, Final

from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode
from gateway.protocol.app_frames import ToolFailed, ToolSucceeded
from gateway.protocol.page_frames import Failed, Refused, Succeeded
from gateway.runtime.settlement import Answer, PageRefusal
from gateway.transports.page_ws.incoming import UnsafeResult

MESSAGE_MAX: Final = 500

CODES: Final = {
    "handler_error": ErrorCode.HANDLER_ERROR,
    "not_available": ErrorCode.NOT_AVAILABLE,
    "arguments_invalid": ErrorCode.ARGUMENTS_INVALID,
    "cancelled": ErrorCode.CANCELLED,
    "not_achieved": ErrorCode.HANDLER_ERROR,
}

REFUSALS: Final = {
    "stale_epoch": ErrorCode.PAGE_NOT_CONNECTED,
    "stale_fingerprint": ErrorCode.STALE_INVENTORY,
    "unknown_capability": ErrorCode.NOT_AVAILABLE,
    "not_available": ErrorCode.NOT_AVAILABLE,
    "arguments_invalid": ErrorCode.ARGUMENTS_INVALID,
    "approval_missing": ErrorCode.NOT_AVAILABLE,
    "input_differs": ErrorCode.NOT_AVAILABLE,
}
"""What a page's refusal of an `approve_request` is to the caller."""


def answer_of(frame: Succeeded | Failed | UnsafeResult, max_bytes: int) -> Answer:
    """The settlement a result frame asks for. What cannot be carried unchanged is a failure that says where."""
    if isinstance(frame, UnsafeResult):
        return _failed(f"`unsafe_integer` at `{frame.pointer}`: the result holds an integer beyond 2^53 - 1")
    if isinstance(frame, Failed):
        return Answer(code=CODES[frame.error.code], said=frame.error.message[:MESSAGE_MAX])
    output, evidence = _text(frame.output), None if frame.evidence is None else _text(frame.evidence)
    if len(output.encode()) + len((evidence or "").encode()) > max_bytes:
        return _failed(f"the result is larger than {max_bytes} bytes")
    return Answer(output=output, evidence=evidence)


def said_answer(frame: ToolSucceeded | ToolFailed, max_bytes: int) -> Answer:
    """The settlement a bundle's handler asks for; evidence is not theirs to give."""
    if isinstance(frame, ToolFailed):
        return Answer(code=CODES[frame.error.code], said=frame.error.message[:MESSAGE_MAX])
    output = _text(frame.output)
    if len(output.encode()) > max_bytes:
        return _failed(f"the result is larger than {max_bytes} bytes")
    return Answer(output=output)


def refusal_of(frame: Refused) -> PageRefusal:
    """Why nothing ran, for the caller."""
    return PageRefusal(f"the page did not run it, `{frame.why}`", frame.message[:MESSAGE_MAX])


def _failed(message: str) -> Answer:
    return Answer(code=ErrorCode.HANDLER_ERROR, message=message)


def _text(value: Any) -> str:
    # A frame that was read strictly always has a canonical text.
    return canonical(value).decode()
