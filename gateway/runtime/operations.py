"""Operations: durable business work with a deadline and one end (rules B5, F4): parts of units of work.

A `runtime` operation carries its call: the row settles it, whatever became of processes and pages meanwhile.
The operation of a handler follows its call.
"""

from typing import Any

import orjson

from capabilities.contract import CallModel, DeadlineOperation, Descriptor, InterruptOperation
from gateway.domain import calls, operations
from gateway.domain.activations import ActivationEvent, FailureReason
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState, ReceiptStatus
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode
from gateway.domain.operations import Carrier, Operation, OperationEvent, OperationState
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.activation import close, fail
from gateway.runtime.app_record import noted_end, noted_start
from gateway.runtime.effects import Effect, Project, Told
from gateway.runtime.ports import Tx
from gateway.runtime.settlement import Answer, concluded
from gateway.runtime.world import World

Effects = tuple[Effect, ...]


def carry(tx: Tx, world: World, call: Call, descriptor: Descriptor, arguments: str, now: int) -> tuple[Call, Effects]:
    """Do what the runtime does itself for a call that was just dispatched; its row is written already."""
    match descriptor.runtime:
        case DeadlineOperation() as binding:
            return _begin(tx, call, binding, orjson.loads(arguments), now)
        case InterruptOperation() as binding:
            return _interrupt(tx, world, call, binding, now)
        case None:
            return call, ()


def _begin(
    tx: Tx, call: Call, binding: DeadlineOperation, arguments: dict[str, Any], now: int
) -> tuple[Call, Effects]:
    duration_ms = round(arguments[binding.argument] * binding.unit_ms)
    answers = {"completed": dict(binding.completed), "interrupted": dict(binding.interrupted)}
    operation = _operation(tx, call, Carrier.RUNTIME, now, deadline=now + duration_ms, answers=answers)
    carried = calls.replaced(call, operation=operation.id)
    tx.calls.save(carried, was=CallState.DISPATCHED)
    return carried, (*started(tx, carried, now), Project(app_session=operation.app_session))


def _operation(
    tx: Tx,
    call: Call,
    carrier: Carrier,
    now: int,
    *,
    deadline: int,
    answers: dict[str, Any] | None = None,
) -> Operation:
    assert call.app is not None
    assert call.conversation is not None
    instance = tx.instances.live(call.user, call.conversation, call.app)
    operation = Operation(
        id=f"oper_{call.ref.removeprefix('call_')}",
        call=call.ref,
        app=call.app,
        user=call.user,
        conversation=call.conversation,
        carrier=carrier,
        state=OperationState.RUNNING,
        started_at=now,
        deadline=deadline,
        app_session=None if instance is None else instance.app_session,
        answers=None if answers is None else canonical(answers).decode(),
    )
    tx.operations.add(operation)
    tx.audit.append(audit.of_operation(AuditEvent.OPERATION_STARTED, operation, call, now))
    reach(Point.OPERATION_BEGUN)
    return operation


def begin_for_handler(tx: Tx, call: Call, descriptor: Descriptor, now: int) -> None:
    """Note the operation that a handler begins with its call, where the capability declares one."""
    if call.app is not None and descriptor.call_model is CallModel.OPERATION and descriptor.runtime is None:
        assert call.execute_by is not None
        _operation(tx, call, Carrier.HANDLER, now, deadline=call.execute_by)


def started(tx: Tx, call: Call, now: int) -> Effects:
    """The business of `call` has begun: its receipt, and the first line of it in the record of its app session."""
    tx.calls.add_receipt(call.ref, ReceiptStatus.STARTED, reason=None, at=now)
    noted_start(tx, call, now)
    return (Told(call=call, progress="started"),)


def _interrupt(tx: Tx, world: World, call: Call, binding: InterruptOperation, now: int) -> tuple[Call, Effects]:
    assert call.app is not None
    assert call.conversation is not None
    place = (call.user, call.conversation, call.app)
    effects, answer = Effects(), binding.nothing
    attempt = tx.activations.live(*place)
    if attempt is not None:
        effects += fail(tx, world, attempt, FailureReason.INTERRUPTED, now, event=ActivationEvent.CANCEL)
        answer = binding.cancelled_start
    interrupted = interrupt(tx, world, *place, cause=call.capability, now=now)
    if interrupted:
        effects, answer = effects + interrupted, binding.interrupted
    output = canonical(dict(answer)).decode()
    result_ms = world.configuration.limits.result_ms
    ended, result = concluded(call, Answer(output=output), CallEvent.SUCCEED, now, result_ms=result_ms)
    if call.instance is not None:
        noted_start(tx, call, now)
        noted_end(tx, ended, now)
    instance = tx.instances.live(*place)
    if instance is not None and answer is not binding.nothing:
        effects += close(tx, instance, FailureReason.INTERRUPTED, now)
    tx.calls.save(ended, was=CallState.DISPATCHED)
    assert result is not None
    tx.calls.put_result(call.ref, result)
    tx.audit.append(audit.of_call(AuditEvent.CALL_ENDED, ended, now))
    return ended, (*effects, Told(call=ended, result=result))


def interrupt(tx: Tx, world: World, user: str, conversation: str, app: str, *, cause: str, now: int) -> Effects:
    """Interrupt every operation of the runtime that goes on for an app in a conversation."""
    effects = Effects()
    for operation in tx.operations.running(user, conversation, app):
        if operation.carrier is Carrier.RUNTIME:
            effects += conclude(tx, world, operation, OperationEvent.INTERRUPT, cause, now)
    return effects


def complete(tx: Tx, world: World, operation: Operation, now: int) -> Effects:
    """The time of an operation is over: it is complete."""
    return conclude(tx, world, operation, OperationEvent.COMPLETE, "deadline", now)


def conclude(tx: Tx, world: World, operation: Operation, event: OperationEvent, cause: str, now: int) -> Effects:
    """End an operation of the runtime, and with it the call it carries: one state, one result."""
    ended = operations.step(operation, event, now=now, cause=cause)
    tx.operations.save(ended, was=OperationState.RUNNING)
    call = tx.calls.find(operation.call)
    assert call is not None, "an operation is forgotten with its call"
    reach(Point.OPERATION_ENDED)
    tx.audit.append(audit.of_operation(AuditEvent.OPERATION_ENDED, ended, call, now))
    project = Project(app_session=ended.app_session)
    if call.state is not CallState.DISPATCHED:
        return (project,)
    answer = _answer_of(ended)
    result_ms = world.configuration.limits.result_ms
    settled, result = concluded(call, answer, answer.event, now, result_ms=result_ms)
    tx.calls.save(settled, was=CallState.DISPATCHED)
    if result is not None:
        tx.calls.put_result(call.ref, result)
    tx.audit.append(audit.of_call(AuditEvent.CALL_ENDED, settled, now, cause=cause))
    noted_end(tx, settled, now)
    reach(Point.OPERATION_SETTLED)
    return (project, Told(call=settled, result=result))


def _answer_of(operation: Operation) -> Answer:
    if operation.state is OperationState.CANCELLED:
        return Answer(code=ErrorCode.CANCELLED, message="stopped at its caller's request")
    assert operation.answers is not None
    answers: dict[str, Any] = orjson.loads(operation.answers)
    return Answer(output=canonical(answers[operation.state.value]).decode())
