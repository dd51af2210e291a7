"""Mini apps after a kill: what an operation carries goes on, and nobody waits for what is over."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.domain.calls import CallState
from gateway.domain.operations import Carrier, OperationState
from tests.crash.timer import START

if TYPE_CHECKING:
    # The judge imports its clauses.
    from tests.crash.judge import Case


def an_operation_ends_with_its_call(case: "Case") -> Iterator[str]:
    """A runtime operation runs exactly as long as its call is dispatched: no restart comes between."""
    for ref, operation in case.evidence.operations.items():
        row = case.evidence.calls.get(ref)
        if operation.carrier is not Carrier.RUNTIME:
            continue
        if row is None or (operation.state is OperationState.RUNNING) != (row.state is CallState.DISPATCHED):
            yield f"the operation of {ref} is `{operation.state}`, its call `{row and row.state}`"
        elif row.operation != operation.id:
            yield f"{ref} does not say which operation carries it"


def what_was_started_was_carried(case: "Case") -> Iterator[str]:
    for ref, row in case.evidence.calls.items():
        if row.capability == START and row.dispatched_at is not None and ref not in case.evidence.operations:
            yield f"{ref} was handed to the runtime and has no operation"


def one_attempt_and_one_instance_live(case: "Case") -> Iterator[str]:
    for what, things in (("attempts", case.evidence.attempts), ("instances", case.evidence.instances)):
        counts = Counter((thing.user, thing.conversation, thing.app) for thing in things)
        for place, count in counts.items():
            if count > 1:
                yield f"{count} {what} live at {place}"
    live = {instance.id for instance in case.evidence.instances}
    for attempt in case.evidence.attempts:
        if attempt.instance not in live:
            yield f"{attempt.id} waits for {attempt.instance}, which is closed"


def what_waits_is_waited_for(case: "Case") -> Iterator[str]:
    live = {attempt.id for attempt in case.evidence.attempts}
    for ref, row in case.evidence.calls.items():
        is_waiting = row.state is CallState.WAITING_ACTIVATION and row.app is not None and not row.is_orphaned
        if is_waiting and row.activation not in live:
            yield f"{ref} waits for {row.activation}, which is over"
