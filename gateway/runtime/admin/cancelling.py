"""An administrator ends a call: like its caller would, and with a record of who did."""

from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime import audit
from gateway.runtime.effects import CancelWork, Effect
from gateway.runtime.ending import end
from gateway.runtime.ports import Tx
from gateway.runtime.settlement import request_cancel


def cancel(tx: Tx, call: Call, now: int, *, by: str) -> tuple[Call, tuple[Effect, ...]]:
    """End `call` where nothing was handed out, else ask its executor to stop; asking twice changes nothing.

    Raises:
        GatewayError: `state_conflict` for a call that has ended or is `unknown`.
    """
    if call.state.is_undispatched:
        tx.audit.append(audit.of_call(AuditEvent.CALL_CANCEL_REQUESTED, call, now, by=by))
        return end(tx, call, CallEvent.CANCEL, now, ErrorCode.CANCELLED, "cancelled by an administrator")
    if call.state is not CallState.DISPATCHED:
        raise GatewayError(
            ErrorCode.STATE_CONFLICT, f"call `{call.ref}` is `{call.state}`; there is nothing to cancel"
        )
    if call.cancel_requested:
        return call, ()
    asked = request_cancel(tx, call, now, by=by)
    return asked, (CancelWork(call=asked),)
