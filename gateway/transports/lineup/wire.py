"""What the gateway tells an agent, as messages: one shape for the stream and for the answers to its own messages."""

from typing import Any, Final

import orjson

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import Call, CallState, Receipt, Result
from gateway.domain.conversations import Asked, EndTold, EventTold, Message, ReceiptTold
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.lineup.base import CLIENT, PREFIX, VERSION, Closed
from gateway.protocol.lineup.client import AppResult, CallError, ToolReceipt, ToolResult
from gateway.protocol.lineup.words import ENDS, REASONS, REFUSALS
from gateway.runtime.answers import may_retry

_UNKNOWN: Final = "whether it ran cannot be known; it is not run again"
_ERASED: Final = "it succeeded; the result was erased since"


def message(session: AgentSession, name: str, kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """A message of the gateway to the agent of `session`; `name` is its id, `kind` its type without the prefix."""
    return {
        "v": VERSION,
        "id": name,
        "type": f"{PREFIX}{kind}",
        "conversation_id": session.conversation,
        "sender": {"kind": "client", "id": CLIENT},
        "target": {"kind": "agent", "id": session.agent},
        "payload": payload,
    }


def told(session: AgentSession, one: Message, reason: str | None = None) -> dict[str, Any]:
    """A message of the log; `reason` belongs to an end. Its id stays the same however often it is sent."""
    name = f"msg-{one.seq}"
    match one:
        case ReceiptTold():
            return message(session, name, *receipt(one.call, one.receipt))
        case EndTold():
            ended = end(one.call, one.asked, one.state, one.code, one.message, one.result, reason=reason)
            return message(session, name, *ended)
        case EventTold():
            return message(session, name, "ui.event", orjson.loads(one.body))


def receipt(call: Call, one: Receipt) -> tuple[str, dict[str, Any]]:
    """Type and payload of a receipt, by whichever message its call was asked for."""
    payload: dict[str, Any] = {"call_id": call.call_id, "app_scope": call.app, "status": one.status}
    if one.reason is not None:
        payload["reason"] = one.reason
    return "tool.receipt", dumped(ToolReceipt(**payload, seq=one.seq, at=one.at))


def end(
    call: Call,
    asked: Asked,
    state: CallState,
    code: ErrorCode | None,
    words: str | None,
    result: Result | None,
    *,
    reason: str | None = None,
    late: bool = False,
) -> tuple[str, dict[str, Any]]:
    """Type and payload of the end of a call (rules E3)."""
    payload: dict[str, Any] = {"call_id": call.call_id, "status": ENDS[state]}
    if state is CallState.SUCCEEDED and result is not None:
        payload["result"] = orjson.loads(result.output)
        if result.evidence is not None:
            payload["evidence"] = orjson.loads(result.evidence)
    else:
        payload["error"] = _why(state, code, words)
    if reason is not None:
        payload["reason"] = reason
    if late:
        payload["late"] = True
    return _result(asked, call.app, payload)


def refusal(call_id: str, asked: Asked, error: GatewayError) -> tuple[str, dict[str, Any]]:
    """Type and payload of the answer to a call that was refused: no row was made, its call_id stays free."""
    status = REFUSALS[error.code]
    assert status is not None, "the others are told by HTTP"
    payload: dict[str, Any] = {"call_id": call_id, "status": status, "error": CallError(**told_error(error))}
    if error.code in REASONS:
        payload["reason"] = REASONS[error.code]
    return _result(asked, None, payload)


def told_error(error: GatewayError) -> dict[str, Any]:
    """A refusal as an error object. The gateway's own names of calls are not told here (rules B4, F1)."""
    facts = {name: value for name, value in error.facts.items() if name != "ref"}
    plain = {"code": error.code.wire, "message": error.message, "retryable": error.code.retryable}
    return {**plain, "data": facts} if facts else plain


def dumped(payload: Closed) -> dict[str, Any]:
    """The JSON value of a payload; what was not said is left out."""
    return payload.model_dump(mode="json", exclude_unset=True)


def _result(asked: Asked, app: str | None, payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if asked is Asked.APP:
        return "app.result", dumped(AppResult(**payload))
    return "tool.result", dumped(ToolResult(**payload, app_scope=app))


def _why(state: CallState, code: ErrorCode | None, words: str | None) -> CallError:
    if state is CallState.UNKNOWN:
        # Whatever made it so, the agent may conclude nothing else from it.
        return CallError(code=ErrorCode.OUTCOME_UNKNOWN.wire, message=words or _UNKNOWN, retryable=False)
    if state is CallState.SUCCEEDED:
        return CallError(code=ErrorCode.RESULT_ERASED.wire, message=words or _ERASED, retryable=False)
    code = code or ErrorCode.OUTCOME_UNKNOWN
    return CallError(code=code.wire, message=words or code.wire, retryable=may_retry(state, code))
