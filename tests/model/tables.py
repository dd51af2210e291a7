"""The product's own tables and step functions, as fast as a model needs them: each pair is stepped once."""

from functools import cache
from typing import Final

from gateway.domain import activations, approvals, calls, instances, operations
from gateway.domain.activations import Activation, ActivationEvent, ActivationState, Goal
from gateway.domain.approvals import Approval, ApprovalEvent, ApprovalState
from gateway.domain.calls import Call, CallEvent, CallState
from gateway.domain.errors import IllegalTransition
from gateway.domain.instances import Instance, InstanceEvent, InstanceState
from gateway.domain.operations import Carrier, Operation, OperationEvent, OperationState
from tests.contract.samples import NOW, a_call, an_approval

LATER: Final = NOW + 1_000


class Tables:
    """What the tables say now. Made anew, it sees a table that was changed meanwhile."""

    def __init__(self) -> None:
        self.call = cache(_call)
        self.is_late = cache(_is_late)
        self.approval = cache(_approval)
        self.attempt = cache(_attempt)
        self.instance = cache(_instance)
        self.operation = cache(_operation)
        self.has_reached = cache(_has_reached)
        self.is_timed = cache(_is_timed)
        self.every_state = tuple(state.value for state in CallState)


def a_dispatched_call(state: str, *, carried: bool = False) -> Call:
    """A call in `state` with all the instants it then has."""
    return a_call(
        state=CallState(state),
        approve_by=NOW + 5 if CallState(state) is CallState.AWAITING_APPROVAL else None,
        execute_by=NOW + 7 if CallState(state) in (CallState.DISPATCHED, CallState.UNKNOWN) else None,
        operation="oper_1" if carried else None,
    )


def an_operation(state: str) -> Operation:
    """A runtime operation in `state`."""
    return Operation(
        id="oper_1",
        call="call_1",
        app="dev.example.focus",
        user="maria",
        conversation="ses_1",
        carrier=Carrier.RUNTIME,
        state=OperationState(state),
        started_at=NOW,
        deadline=NOW + 60_000,
    )


def an_instance(state: str, *, front: bool) -> Instance:
    """An instance in `state`."""
    return Instance(
        id="inst_1",
        app="dev.example.focus",
        digest="d" * 64,
        user="maria",
        conversation="ses_1",
        app_session="apps_1",
        state=InstanceState(state),
        opened_at=NOW,
        is_foreground=front,
    )


def _call(state: str, event: CallEvent) -> str | None:
    try:
        return calls.step(a_dispatched_call(state), event, now=LATER).state.value
    except IllegalTransition:
        return None


def _is_late(state: str, event: CallEvent) -> bool:
    return calls.step(a_dispatched_call(state), event, now=LATER).late


def _approval(state: str, event: ApprovalEvent) -> str | None:
    try:
        approval: Approval = an_approval(state=ApprovalState(state))
        return approvals.step(approval, event, now=LATER, use_within=60_000).state.value
    except IllegalTransition:
        return None


def _attempt(state: str, event: ActivationEvent) -> str | None:
    attempt = Activation(
        id="actv_1",
        instance="inst_1",
        app="dev.example.focus",
        user="maria",
        conversation="ses_1",
        goal=Goal.APP,
        state=ActivationState(state),
        started_at=NOW,
        due_at=NOW + 60_000,
    )
    try:
        return activations.step(attempt, event, now=LATER).state.value
    except IllegalTransition:
        return None


def _instance(state: str, event: InstanceEvent) -> str | None:
    try:
        return instances.step(an_instance(state, front=False), event, now=LATER).state.value
    except IllegalTransition:
        return None


def _operation(state: str, event: OperationEvent) -> str | None:
    try:
        return operations.step(an_operation(state), event, now=LATER).state.value
    except IllegalTransition:
        return None


def _has_reached(state: str, front: bool, goal: str) -> bool:
    return an_instance(state, front=front).has_reached(Goal(goal))


def _is_timed(state: str, operation: str) -> bool:
    """Whether time alone will end a call, or the operation that carries it."""
    if a_dispatched_call(state, carried=bool(operation)).due_at is not None:
        return True
    return bool(operation) and an_operation(operation).due_at is not None
