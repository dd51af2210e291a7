"""How a call is told to whoever asks: the same object on every door (design §11)."""

from typing import Any, Final

import orjson

from gateway.domain.calls import Call, CallState, Receipt
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.requests import Outcome

_HINT: Final = "not finished; ask again with gateway_call_status and this ref, it waits up to 25 s"

PHASES: Final = {
    CallState.AWAITING_APPROVAL: "waiting for the person to approve it on the page",
    CallState.WAITING_ACTIVATION: "waiting for the page to come to the foreground",
    CallState.READY: "waiting for the page",
    CallState.DISPATCHED: "running",
}


def phase_of(call: Call) -> str:
    """What a call that is not finished waits for, in words for its caller."""
    if call.app is not None and call.state is CallState.WAITING_ACTIVATION:
        return "starting"
    return PHASES.get(call.state, "accepted")


def receipt_of(call: Call, receipt: Receipt) -> dict[str, Any]:
    """One receipt as an agent reads it, and nothing else (rules F1)."""
    told: dict[str, Any] = {"call_id": call.call_id, "app_scope": call.app, "status": receipt.status}
    if receipt.reason is not None:
        told["reason"] = receipt.reason
    return {**told, "seq": receipt.seq, "at": receipt.at, "ref": call.ref}


def pending_of(outcome: Outcome) -> dict[str, Any]:
    """An accepted call that is not finished."""
    answer: dict[str, Any] = {"ref": outcome.call.ref, "status": outcome.call.state.value, "pending": True}
    answer["hint"] = f"{phase_of(outcome.call)}; {_HINT}"
    if outcome.receipt is not None:
        answer["receipt"] = receipt_of(outcome.call, outcome.receipt)
    if outcome.replayed:
        answer["replayed"] = True
    return answer


def answer_of(outcome: Outcome) -> dict[str, Any]:
    """A finished call: `result` with evidence, or `error`."""
    call = outcome.call
    answer: dict[str, Any] = {"ref": call.ref, "status": call.state.value}
    if call.state is CallState.SUCCEEDED and outcome.result is not None:
        answer["result"] = orjson.loads(outcome.result.output)
        if outcome.result.evidence is not None:
            answer["evidence"] = orjson.loads(outcome.result.evidence)
    else:
        answer["error"] = error_of(call)
    if call.late:
        answer["late"] = True
    if outcome.replayed:
        answer["replayed"] = True
    return answer


def error_of(call: Call) -> dict[str, Any]:
    """Code, message and whether trying again can help, of a call that did not succeed."""
    failure = failure_of(call)
    return {"code": failure.code.wire, "message": failure.message, "retryable": may_retry(call.state, failure.code)}


def failure_of(call: Call) -> GatewayError:
    """Why there is no result of a finished call to hand out."""
    code = call.code or (ErrorCode.RESULT_ERASED if call.state is CallState.SUCCEEDED else ErrorCode.OUTCOME_UNKNOWN)
    message = call.message or (
        "it succeeded; the result was erased since" if code is ErrorCode.RESULT_ERASED else "the outcome is unknown"
    )
    return GatewayError(code, message)


def may_retry(state: CallState, code: ErrorCode) -> bool:
    """Whether the same request may succeed later. Work that ran out of time may be asked for again where it is known
    to have stopped, or never to have begun (case C31); where it is not, it may have been done."""
    return code.retryable or (code is ErrorCode.DEADLINE_EXCEEDED and state is not CallState.UNKNOWN)
