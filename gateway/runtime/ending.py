"""Ends of calls that were never dispatched: by time, by their caller, or because what they stood on has changed.

Functions of one unit of work; what must follow its commit is returned.
"""

from typing import Final

from gateway.domain import approvals, calls
from gateway.domain.approvals import ApprovalEvent, ApprovalState
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState
from gateway.domain.errors import ErrorCode
from gateway.runtime import audit
from gateway.runtime.effects import AskChanged, Effect, Told, WaiterEnded
from gateway.runtime.ports import Tx


def expire_if_due(tx: Tx, call: Call, now: int) -> tuple[Call, tuple[Effect, ...]] | None:
    """End an undispatched call whose time has come, with the reason that came first; None when none has."""
    if call.orphaned_at is not None and now >= call.orphaned_at + calls.ORPHAN_MS:
        return end(tx, call, CallEvent.CANCEL, now, ErrorCode.CANCELLED, "its caller left")
    if call.approve_by is not None and now >= call.approve_by:
        event, code, message = _OVERDUE[call.state]
        return end(tx, call, event, now, code, message)
    if call.approved_at is not None and now >= call.approved_at + calls.LAPSE_MS:
        return end(tx, call, CallEvent.EXPIRE, now, ErrorCode.APPROVAL_LAPSED, "the approval was not used in time")
    if now >= call.deadline:
        return end(tx, call, CallEvent.EXPIRE, now, ErrorCode.DEADLINE_EXCEEDED, "it waited too long to start")
    return None


_OVERDUE: Final = {
    CallState.AWAITING_APPROVAL: (
        CallEvent.EXPIRE,
        ErrorCode.APPROVAL_EXPIRED,
        "nobody answered in time; send it again with a new call_id",
    ),
    CallState.WAITING_ACTIVATION: (
        CallEvent.ACTIVATION_FAILED,
        ErrorCode.APP_ACTIVATION_FAILED,
        "the page did not come to the foreground",
    ),
    CallState.READY: (CallEvent.EXPIRE, ErrorCode.PAGE_NOT_CONNECTED, "the page did not come back"),
}

_APPROVAL_END: Final = {
    CallState.EXPIRED: (ApprovalEvent.EXPIRE, AuditEvent.APPROVAL_EXPIRED, "expired"),
    CallState.DENIED: (ApprovalEvent.WITHDRAW, AuditEvent.APPROVAL_WITHDRAWN, "withdrawn"),
    CallState.CANCELLED: (ApprovalEvent.WITHDRAW, AuditEvent.APPROVAL_WITHDRAWN, "withdrawn"),
    CallState.FAILED: (ApprovalEvent.WITHDRAW, AuditEvent.APPROVAL_WITHDRAWN, "withdrawn"),
    CallState.SUCCEEDED: (ApprovalEvent.WITHDRAW, AuditEvent.APPROVAL_WITHDRAWN, "withdrawn"),
}


def end(
    tx: Tx, call: Call, event: CallEvent, now: int, code: ErrorCode, message: str
) -> tuple[Call, tuple[Effect, ...]]:
    """End an undispatched call, and with it the approval it still holds."""
    ended = calls.step(call, event, now=now, code=code, message=message)
    tx.calls.save(ended, was=call.state)
    tx.audit.append(audit.of_call(AuditEvent.CALL_ENDED, ended, now))
    left: tuple[Effect, ...] = ()
    if call.state is CallState.WAITING_ACTIVATION and call.activation is not None:
        left = (WaiterEnded(activation=call.activation),)
    return ended, (Told(call=ended), *release_approval(tx, ended, now), *left)


def release_approval(tx: Tx, ended: Call, now: int) -> tuple[Effect, ...]:
    """Take back what an ended call still holds of the person's attention or consent."""
    approval = tx.approvals.find(ended.approval) if ended.approval else None
    if approval is None or approval.state not in (ApprovalState.OPEN, ApprovalState.APPROVED):
        return ()
    event, record, state = _APPROVAL_END[ended.state]
    if approval.state is ApprovalState.APPROVED:
        lapsed = ended.code is ErrorCode.APPROVAL_LAPSED
        event = ApprovalEvent.LAPSE if lapsed else ApprovalEvent.WITHDRAW
        record = AuditEvent.APPROVAL_LAPSED if lapsed else AuditEvent.APPROVAL_WITHDRAWN
        state = "expired" if lapsed else "withdrawn"
    released = approvals.step(approval, event, now=now)
    tx.approvals.save(released, was=approval.state)
    tx.audit.append(audit.of_approval(record, released, ended, now))
    code = ended.code.wire if ended.code else None
    return (AskChanged(approval=approval.id, page=approval.page, epoch=approval.epoch, state=state, code=code),)
