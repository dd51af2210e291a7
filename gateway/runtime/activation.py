"""Making a mini app ready for the calls that wait for it (design §7, rules F2, F3): parts of units of work.

There is one instance and one attempt at a time for (user, conversation, app). What waits goes on in `releasing`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from capabilities.contract import HandlerKind
from gateway.domain import activations, calls, instances
from gateway.domain.activations import (
    ACTIVATION_MS,
    Activation,
    ActivationEvent,
    ActivationState,
    FailureReason,
    Goal,
    goal_of,
)
from gateway.domain.app_sessions import AppSession
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState, ReceiptStatus, Result
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode
from gateway.domain.instances import Instance, InstanceEvent, InstanceState
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.effects import Activate, CloseInstance, Effect, Told
from gateway.runtime.ending import end, release_approval
from gateway.runtime.ports import Ids, Tx
from gateway.runtime.settlement import lose
from gateway.runtime.world import World

Effects = tuple[Effect, ...]


def activation_for(
    tx: Tx, world: World, ids: Ids, call: Call, now: int, *, host: str | None
) -> tuple[Activation | None, Effects]:
    """The attempt `call` has to wait for, begun where there is none; None when its app is as it must be.

    `host` is the page session a new instance is shown on.
    """
    goal = _goal(world, call)
    if goal is None:
        return None, ()
    instance, effects = _instance(tx, world, ids, call, host, now)
    live = tx.activations.live_of_instance(instance.id)
    if instance.has_reached(goal) and _has_place(world, instance) and not _is_behind(tx, world, call, instance, live):
        return None, effects
    if live is None:
        live = _begun(tx, ids, call, instance, goal, now)
    elif live.goal is goal or goal is Goal.APP:
        return live, effects
    else:
        live = activations.raised(live, goal)
        tx.activations.save(live, was=live.state)
    reach(Point.ACTIVATION_WRITTEN)
    return live, (*effects, Activate(activation=live, instance=instance))


def waiting(call: Call, activation: Activation) -> Call:
    """`call` as it waits for `activation`."""
    return calls.replaced(call, state=CallState.WAITING_ACTIVATION, activation=activation.id, approve_by=None)


def placed(tx: Tx, world: World, call: Call) -> Call:
    """`call` bound to the document whose frame is to run it, where its handler is in one."""
    tool = world.apps.tools.get(call.capability)
    if tool is None or tool.descriptor.handler is not HandlerKind.MINIAPP_SDK:
        return call
    assert call.app is not None
    assert call.conversation is not None
    instance = tx.instances.live(call.user, call.conversation, call.app)
    page = world.pages.get(instance.page) if instance and instance.page else None
    return call if page is None else calls.replaced(call, page=page.id, epoch=page.session.epoch)


def fail(
    tx: Tx,
    world: World,
    activation: Activation,
    reason: str,
    now: int,
    *,
    event: ActivationEvent = ActivationEvent.FAIL,
    message: str | None = None,
) -> Effects:
    """End an attempt without success: every call that waited gets its answer, and an app that never ran is closed.

    `reason` is told to agents; `message` is what the app said, if it said something.
    """
    ended = activations.step(activation, event, now=now, reason=reason)
    tx.activations.save(ended, was=ActivationState.STARTING)
    is_cancel = event is ActivationEvent.CANCEL
    record = AuditEvent.ACTIVATION_CANCELLED if is_cancel else AuditEvent.ACTIVATION_FAILED
    tx.audit.append(audit.of_activation(record, ended, now))
    effects: Effects = ()
    for call in tx.calls.waiting_for(activation.id):
        effects += _unready(tx, world, call, ended, now, message)
    instance = tx.instances.find(activation.instance)
    if instance is not None and instance.state is InstanceState.STARTING:
        effects += close(tx, instance, reason, now)
    reach(Point.ACTIVATION_ENDED)
    return effects


def give_up_unwanted(tx: Tx, world: World, attempt: Activation, now: int) -> Effects:
    """End an attempt nobody waits for any more; an app that runs goes on running."""
    if tx.calls.waiting_for(attempt.id):
        return ()
    return fail(tx, world, attempt, FailureReason.NOBODY_WAITS, now, event=ActivationEvent.CANCEL)


def close(tx: Tx, instance: Instance, reason: str, now: int) -> Effects:
    """Close an instance and its app session. What its frame was doing is lost with it; nothing may wait for it now."""
    effects = Effects()
    for call in _in_frame(tx, instance):
        if call.state is CallState.DISPATCHED:
            message = "its frame was closed before an answer came; whether it ran is unknown"
            effects += lose(tx, call, now, ErrorCode.OUTCOME_UNKNOWN, message)[1]
        elif call.state is CallState.READY:
            message = "its frame was closed before it could run"
            effects += end(tx, call, CallEvent.WITHDRAW, now, ErrorCode.PAGE_NOT_CONNECTED, message)[1]
    for call in tx.calls.open_of_instance(instance.id):
        if call.state.is_undispatched:
            message = "the mini app it was asked for in was closed"
            effects += end(tx, call, CallEvent.WITHDRAW, now, ErrorCode.PAGE_NOT_CONNECTED, message)[1]
    closed = instances.step(instance, InstanceEvent.CLOSE, now=now, reason=reason)
    tx.instances.save(closed, was=instance.state)
    session = tx.app_sessions.find(instance.app_session)
    if session is not None and session.ended_at is None:
        tx.app_sessions.save(session.ended(now))
    tx.audit.append(audit.of_instance(AuditEvent.INSTANCE_CLOSED, closed, now))
    return (*effects, CloseInstance(instance=closed))


def has_worked(tx: Tx, instance: Instance) -> bool:
    """Whether anything was done with an instance, or is about to be: it is there for more than one attempt's sake."""
    return bool(
        tx.app_sessions.entries(instance.app_session, limit=1)
        or _in_frame(tx, instance)
        or tx.calls.open_of_instance(instance.id)
    )


def _in_frame(tx: Tx, instance: Instance) -> Sequence[Call]:
    """The calls its frame has, or is to have as soon as its page can be reached."""
    on_page = tx.calls.open_on_page(instance.page) if instance.page else ()
    return [call for call in on_page if (call.app, call.conversation) == (instance.app, instance.conversation)]


def _goal(world: World, call: Call) -> Goal | None:
    tool = world.apps.tools.get(call.capability) if call.app else None
    return None if tool is None else goal_of(tool.descriptor.readiness)


def _is_behind(tx: Tx, world: World, call: Call, instance: Instance, live: Activation | None) -> bool:
    """Whether others wait who may go as well, and so before `call`: its page is back and has not said so yet."""
    if live is None:
        return False
    return any(
        other.ref != call.ref and not other.is_orphaned and instance.has_reached(_goal(world, other) or Goal.APP)
        for other in tx.calls.waiting_for(live.id)
    )


def _has_place(world: World, instance: Instance) -> bool:
    return instance.page is None or instance.page in world.pages


def _instance(tx: Tx, world: World, ids: Ids, call: Call, host: str | None, now: int) -> tuple[Instance, Effects]:
    assert call.app is not None
    assert call.conversation is not None
    app, effects = world.apps.apps[call.app], Effects()
    live = tx.instances.live(call.user, call.conversation, call.app)
    if live is not None and live.digest == app.digest:
        return live, ()
    if live is not None:
        effects = replace_app(tx, world, live, now)
    session = AppSession(
        id=ids.name("apps"), app=call.app, user=call.user, conversation=call.conversation, opened_at=now
    )
    page = world.pages.get(host) if host and app.surface else None
    instance = Instance(
        id=ids.name("inst"),
        app=call.app,
        digest=app.digest,
        user=call.user,
        conversation=call.conversation,
        app_session=session.id,
        state=InstanceState.STARTING,
        opened_at=now,
        site=page.session.site if page else None,
        page=page.id if page else None,
    )
    tx.app_sessions.add(session)
    tx.instances.add(instance)
    tx.audit.append(audit.of_instance(AuditEvent.INSTANCE_OPENED, instance, now))
    return instance, effects


def replace_app(tx: Tx, world: World, instance: Instance, now: int) -> Effects:
    """Take down an instance of a package that is not the enabled one any more, with the attempt that made it."""
    return take_down(tx, world, instance, FailureReason.APP_WITHDRAWN, now)


def take_down(tx: Tx, world: World, instance: Instance, reason: str, now: int) -> Effects:
    """Close an instance that must not be there any more, with the attempt that made it."""
    live, effects = tx.activations.live_of_instance(instance.id), Effects()
    if live is not None:
        effects = fail(tx, world, live, reason, now)
    still = tx.instances.find(instance.id)
    if still is not None and still.is_live:
        effects += close(tx, still, reason, now)
    return effects


def _begun(tx: Tx, ids: Ids, call: Call, instance: Instance, goal: Goal, now: int) -> Activation:
    activation = Activation(
        id=ids.name("actv"),
        instance=instance.id,
        app=instance.app,
        user=instance.user,
        conversation=instance.conversation,
        goal=goal,
        state=ActivationState.STARTING,
        started_at=now,
        due_at=now + ACTIVATION_MS,
    )
    tx.activations.add(activation)
    record = audit.of_activation(AuditEvent.ACTIVATION_STARTED, activation, now, entry=call.entry, ref=call.ref)
    tx.audit.append(record)
    return activation


def _unready(tx: Tx, world: World, call: Call, activation: Activation, now: int, message: str | None) -> Effects:
    event, code, status, words = _ENDS[activation.state]
    tx.calls.add_receipt(call.ref, status, reason=activation.reason, at=now)
    answer = _business_answer(world, call)
    if answer is None:
        told = f"{words}: `{activation.reason}`" + (f": {message}" if message else "")
        return end(tx, call, event, now, code, told)[1]
    ended = calls.step(call, CallEvent.ANSWER, now=now)
    tx.calls.save(ended, was=CallState.WAITING_ACTIVATION)
    result_ms = world.configuration.limits.result_ms
    result = Result(output=canonical(dict(answer)).decode(), evidence=None, at=now, erase_at=now + result_ms)
    tx.calls.put_result(call.ref, result)
    tx.audit.append(audit.of_call(AuditEvent.CALL_ENDED, ended, now, reason=activation.reason))
    return (Told(call=ended, result=result), *release_approval(tx, ended, now))


def _business_answer(world: World, call: Call) -> Mapping[str, Any] | None:
    """What the capability promised to say of a start that failed (rules F3); only its own declaration speaks."""
    tool = world.apps.tools.get(call.capability)
    if tool is None or tool.descriptor.fingerprint != call.capability_fingerprint:
        return None
    return tool.descriptor.not_started


_ENDS: Final = {
    ActivationState.FAILED: (
        CallEvent.ACTIVATION_FAILED,
        ErrorCode.APP_ACTIVATION_FAILED,
        ReceiptStatus.ACTIVATION_FAILED,
        "the app could not be started",
    ),
    ActivationState.CANCELLED: (
        CallEvent.ACTIVATION_CANCELLED,
        ErrorCode.APP_ACTIVATION_CANCELLED,
        ReceiptStatus.ACTIVATION_CANCELLED,
        "the start of the app was cancelled",
    ),
}
