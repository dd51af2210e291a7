"""The settle transaction: one result at most, and the honest `unknown` when there is none (design §3)."""

from dataclasses import dataclass, replace
from typing import Final

from gateway.domain import calls
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState, Result
from gateway.domain.errors import ErrorCode
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.app_record import follow
from gateway.runtime.effects import DrawAnswer, Effect, Refused, Told
from gateway.runtime.ports import Tx
from gateway.runtime.quotations import discreet


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an executor said: an output (canonical text) with evidence, or an error, or that it stopped.

    `said` are a page's own words for an error; they become the message without what they quote of the arguments.
    `ui` is how it looks on the person's page, sanitised and canonical; `drops_ui` says that there was one that is not to
    be drawn.
    """

    output: str | None = None
    evidence: str | None = None
    code: ErrorCode | None = None
    message: str | None = None
    said: str | None = None
    ui: str | None = None
    drops_ui: bool = False

    @property
    def event(self) -> CallEvent:
        """The event this answer is to a call."""
        if self.code is None:
            return CallEvent.SUCCEED
        return CallEvent.CANCEL_CONFIRMED if self.code is ErrorCode.CANCELLED else CallEvent.FAIL


@dataclass(frozen=True, slots=True)
class PageRefusal:
    """Why a page ran nothing: the gateway's sentence, and the page's own words or none."""

    message: str
    said: str = ""

    def told(self, tx: Tx, ref: str) -> str:
        """Both, without what the page quotes of the arguments of `ref`."""
        return f"{self.message}: {discreet(self.said, tx.calls.input_of(ref))}" if self.said else self.message


def settle(
    tx: Tx,
    ref: str,
    answer: Answer,
    now: int,
    *,
    result_ms: int,
    page: str | None = None,
    epoch: int | None = None,
) -> tuple[Call | None, tuple[Effect, ...]]:
    """Record `answer` as the end of call `ref`. Answers that come too late for the table are dropped, audited.

    `page` and `epoch` name the document that answers; only the one the call was dispatched to may.
    """
    call = tx.calls.find(ref)
    if call is None or (page is not None and (call.page, call.epoch) != (page, epoch)):
        return None, ()
    event = answer.event
    if call.state is CallState.UNKNOWN and event is CallEvent.CANCEL_CONFIRMED:
        event = CallEvent.FAIL
    if event not in calls.TRANSITIONS[call.state]:
        dropped = audit.of_call(AuditEvent.CALL_RESULT_DROPPED, call, now)
        return None, (Refused(peer=page or call.capability, code=ErrorCode.REPLAY_DETECTED, record=dropped),)
    if answer.said is not None:
        answer = replace(answer, message=discreet(answer.said, tx.calls.input_of(ref)))
    ended, result = concluded(call, answer, event, now, result_ms=result_ms)
    tx.calls.save(ended, was=call.state)
    reach(Point.STATE_SETTLED)
    if result is not None:
        tx.calls.put_result(ref, result)
        reach(Point.RESULT_WRITTEN)
    tx.audit.append(audit.of_call(AuditEvent.CALL_ENDED, ended, now, late=ended.late or None))
    if answer.drops_ui:
        tx.audit.append(audit.of_call(AuditEvent.GENUI_DROPPED, ended, now))
    follow(tx, ended, now)
    reach(Point.SETTLEMENT_WRITTEN)
    drawn = () if result is None or result.ui is None else (DrawAnswer(call=ended, ui=result.ui),)
    return ended, (Told(call=ended, result=result), *drawn)


def concluded(
    call: Call, answer: Answer, event: CallEvent, now: int, *, result_ms: int
) -> tuple[Call, Result | None]:
    """The call as `answer` ends it, and its result if it is a success. Pure."""
    ended = calls.step(call, event, now=now, code=answer.code, message=answer.message)
    if answer.code is not None:
        return ended, None
    output, erase_at = answer.output or "null", now + result_ms
    return ended, Result(output=output, evidence=answer.evidence, at=now, erase_at=erase_at, ui=answer.ui)


def lose(tx: Tx, call: Call, now: int, code: ErrorCode, message: str) -> tuple[Call, tuple[Effect, ...]]:
    """The executor is gone or late: the outcome is `unknown`, and nothing is ever run again."""
    lost = calls.step(call, CallEvent.LOSE, now=now, code=code, message=message)
    tx.calls.save(lost, was=call.state, at=now)
    tx.audit.append(audit.of_call(AuditEvent.CALL_LOST, lost, now))
    follow(tx, lost, now)
    return lost, (Told(call=lost),)


_RECONCILED: Final = {
    True: (
        CallEvent.RECONCILE_SUCCEEDED,
        None,
        "an administrator found out that it succeeded; its result is not known",
    ),
    False: (
        CallEvent.RECONCILE_FAILED,
        ErrorCode.HANDLER_ERROR,
        "an administrator found out that it did not succeed",
    ),
}


def reconcile(
    tx: Tx, call: Call, now: int, *, succeeded: bool, by: str, reason: str | None
) -> tuple[Call, tuple[Effect, ...]]:
    """Settle an `unknown` call by what an administrator found out elsewhere; nothing is run.

    Raises:
        IllegalTransition: it is not `unknown`.
    """
    event, code, message = _RECONCILED[succeeded]
    ended = calls.step(call, event, now=now, code=code, message=message)
    tx.calls.save(ended, was=call.state)
    tx.audit.append(audit.of_call(AuditEvent.CALL_RECONCILED, ended, now, by=by, reason=reason))
    follow(tx, ended, now)
    return ended, (Told(call=ended),)


def not_delivered(tx: Tx, call: Call, now: int, message: str) -> tuple[Call, tuple[Effect, ...]]:
    """The frame was never written, or its document never got it: a plain failure, nothing ran."""
    failed = calls.step(call, CallEvent.NOT_DELIVERED, now=now, code=ErrorCode.NOT_DELIVERED, message=message)
    tx.calls.save(failed, was=call.state)
    tx.audit.append(audit.of_call(AuditEvent.CALL_ENDED, failed, now))
    follow(tx, failed, now)
    reach(Point.UNDELIVERED_WRITTEN)
    return failed, (Told(call=failed),)


def request_cancel(tx: Tx, call: Call, now: int, *, by: str | None = None) -> Call:
    """Note that its caller, or the administrator `by`, wants dispatched work stopped; the state changes when the
    executor answers."""
    asked = replace(call, cancel_requested=True)
    tx.calls.save(asked, was=call.state)
    tx.audit.append(audit.of_call(AuditEvent.CALL_CANCEL_REQUESTED, asked, now, by=by))
    reach(Point.CANCEL_NOTED)
    return asked


def judged(answer: Answer, violation: str | None, capability: str) -> Answer:
    """The answer after its output met the declared schema; a violating output goes nowhere."""
    if answer.code is not None or violation is None:
        return answer
    return Answer(
        code=ErrorCode.OUTPUT_SCHEMA_VIOLATION,
        message=f"the result of `{capability}` breaks its declared schema: {violation}",
    )
