"""What an instance of a mini app is shown of the runtime's facts: its own, trimmed, and durations only (rules F7)."""

from typing import Any

from gateway.domain.instances import Instance, InstanceState
from gateway.domain.operations import Operation
from gateway.runtime.ports import Tx


def projection_of(tx: Tx, instance: Instance, now: int) -> dict[str, Any]:
    """`{phase, remaining_ms, total_ms}` of the newest operation of its app session.

    `phase` is `starting` or `idle` before there is one, then the operation's state. A page counts down by itself.
    """
    operation = tx.operations.newest_of(instance.app_session)
    if operation is None:
        phase = "starting" if instance.state is InstanceState.STARTING else "idle"
        return {"phase": phase, "remaining_ms": 0, "total_ms": 0}
    return {
        "phase": operation.state.value,
        "remaining_ms": _remaining(operation, now),
        "total_ms": operation.deadline - operation.started_at,
    }


def _remaining(operation: Operation, now: int) -> int:
    until = operation.ended_at or now
    return max(0, operation.deadline - max(operation.started_at, until))
