"""What follows the start and the end of a mini app's call: its operation, and the visible record of its app session.

What a person does in the app's frame stands in the record of that frame, whatever it was they asked for.
"""

from typing import Final

from gateway.domain import operations
from gateway.domain.app_sessions import EntryKind
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode
from gateway.domain.instances import Instance
from gateway.domain.operations import OperationEvent
from gateway.runtime import audit
from gateway.runtime.ports import Tx


def noted_start(tx: Tx, call: Call, now: int) -> None:
    """Add that the business of `call` has begun."""
    _noted(tx, call, EntryKind.CALL_STARTED if call.instance is None else EntryKind.UI_ACTION, now, None)


def noted_end(tx: Tx, call: Call, now: int) -> None:
    """Add how `call` ended."""
    _noted(tx, call, EntryKind.CALL_ENDED, now, call.state.value)


def _noted(tx: Tx, call: Call, kind: EntryKind, now: int, state: str | None) -> None:
    """Add a line to the record of the app session `call` belongs to; without one, or after its end, nothing is kept."""
    instance = _instance_of(tx, call)
    if instance is not None and instance.is_live:
        tx.app_sessions.append(
            instance.app_session, kind, ref=call.ref, capability=call.capability, state=state, at=now
        )


def _instance_of(tx: Tx, call: Call) -> Instance | None:
    if call.instance is not None:
        return tx.instances.find(call.instance)
    if call.app is None or call.conversation is None or call.dispatched_at is None:
        return None
    found = tx.instances.live(call.user, call.conversation, call.app)
    # The one it was handed to may be closed since: what was opened after that has a record of its own.
    return None if found is None or found.opened_at > call.dispatched_at else found


def follow(tx: Tx, call: Call, now: int) -> None:
    """Let the operation of a call become what the call became; one that expired stays so (case C31).

    One that carries its call ends by itself (`operations.conclude`); it is here only where its call was lost with
    the database it was in, and after that.
    """
    if call.app is None and call.instance is None:
        return
    operation = tx.operations.find_of_call(call.ref) if call.app is not None else None
    event = _event_of(call)
    if operation is not None and event is not None and event in operations.TRANSITIONS[operation.state]:
        moved = operations.step(operation, event, now=now, cause=call.code.wire if call.code else None)
        tx.operations.save(moved, was=operation.state)
        tx.audit.append(audit.of_operation(AuditEvent.OPERATION_ENDED, moved, call, now))
    if call.state in (CallState.SUCCEEDED, CallState.FAILED, CallState.CANCELLED):
        noted_end(tx, call, now)


def _event_of(call: Call) -> OperationEvent | None:
    if call.state is CallState.UNKNOWN:
        is_late = call.code is ErrorCode.DEADLINE_EXCEEDED
        return OperationEvent.EXPIRE if is_late else OperationEvent.LOSE
    return _FOLLOWS.get(call.state)


_FOLLOWS: Final = {
    CallState.SUCCEEDED: OperationEvent.COMPLETE,
    CallState.FAILED: OperationEvent.FAIL,
    CallState.CANCELLED: OperationEvent.CANCEL,
}
