"""What a start does before the listeners open (design §13): nothing is run again, nothing is approved by itself."""

from dataclasses import replace

from gateway.domain.audit import AuditEvent
from gateway.domain.calls import CallEvent, CallState
from gateway.domain.errors import ErrorCode
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.ending import end, expire_if_due
from gateway.runtime.ports import Store, Tx
from gateway.runtime.settlement import lose
from gateway.runtime.surface_events import given_up, is_waiting


async def recover(store: Store, now: int, *, grace_ms: int, revision: str) -> int:
    """Apply the restart rules to every open call; returns how many became `unknown`."""

    reach(Point.RECOVERY_BEGUN)

    def work(tx: Tx) -> int:
        lost = 0
        for call in tx.calls.open_calls():
            if call.operation is not None and call.state is CallState.DISPATCHED:
                # Its operation settles it, whenever its time is over (rules B5).
                continue
            if is_waiting(call):
                given_up(tx, call, now)
            elif call.state is CallState.DISPATCHED:
                message = "the gateway stopped before an answer came; whether it ran is unknown"
                lose(tx, call, now, ErrorCode.OUTCOME_UNKNOWN, message)
                lost += 1
            elif call.input_in_memory:
                end(tx, call, CallEvent.CANCEL, now, ErrorCode.CANCELLED, "cancelled: restart")
            elif expire_if_due(tx, call, now) is None and call.state is CallState.READY:
                # Its page is not here yet; it gets the time a dropped page gets.
                tx.calls.save(replace(call, approve_by=now + grace_ms), was=CallState.READY)
            reach(Point.CALL_RECOVERED)
        tx.audit.append(audit.of_admin(AuditEvent.GATEWAY_STARTED, now, unknown=lost, configuration=revision))
        reach(Point.RECOVERY_WRITTEN)
        return lost

    lost = await store.run(work)
    reach(Point.RECOVERY_COMMITTED)
    return lost
