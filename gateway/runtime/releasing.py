"""Letting calls go that waited for their mini app: in the order they came, each judged again (seed 002 §4.3)."""

from collections.abc import Callable

from gateway.domain import activations, calls
from gateway.domain.activations import ActivationEvent, ActivationState, Goal, goal_of
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState, ReceiptStatus
from gateway.domain.instances import Instance
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.activation import activation_for, give_up_unwanted, placed, waiting
from gateway.runtime.admission import await_executor
from gateway.runtime.dispatch import dispatch
from gateway.runtime.effects import Effect
from gateway.runtime.ports import Ids, Tx
from gateway.runtime.world import World

Effects = tuple[Effect, ...]

Texts = Callable[[str], str | None]
"""Arguments that are only in memory, by ref."""


def release(tx: Tx, world: World, instance: Instance, texts: Texts, now: int) -> Effects:
    """Let everything go on that waited for what `instance` now is; the attempt ends once it has what it was after."""
    attempt = tx.activations.live_of_instance(instance.id)
    if attempt is None:
        return ()
    is_over = instance.has_reached(attempt.goal)
    if is_over:
        reached = activations.step(attempt, ActivationEvent.REACH, now=now)
        tx.activations.save(reached, was=ActivationState.STARTING)
        tx.audit.append(audit.of_activation(AuditEvent.ACTIVATION_REACHED, reached, now))
        reach(Point.ACTIVATION_REACHED)
    effects = Effects()
    for call in tx.calls.waiting_for(attempt.id):
        if not call.is_orphaned and instance.has_reached(_goal(world, call)):
            effects += _let_go(tx, world, call, texts, now)
    return effects if is_over else (*effects, *give_up_unwanted(tx, world, attempt, now))


def try_again(tx: Tx, world: World, ids: Ids, call: Call, texts: Texts, now: int) -> Effects:
    """Let a call go on that missed the moment its app was ready, because nobody waited for it then."""
    activation, effects = activation_for(tx, world, ids, call, now, host=_host(world, call))
    if activation is None:
        effects += _let_go(tx, world, call, texts, now)
        assert call.app is not None
        assert call.conversation is not None
        left = tx.activations.live(call.user, call.conversation, call.app)
        return effects if left is None else (*effects, *give_up_unwanted(tx, world, left, now))
    if activation.id != call.activation:
        tx.calls.save(waiting(call, activation), was=CallState.WAITING_ACTIVATION)
    return effects


def _host(world: World, call: Call) -> str | None:
    """The page session a call that comes back would have its app shown on: the one it named, or the best there is."""
    if call.page_selector in world.pages:
        return call.page_selector
    return next((page.id for page in world.pages_of(call.user, call.site) if page.has_workspace), None)


def _goal(world: World, call: Call) -> Goal:
    tool = world.apps.tools.get(call.capability)
    goal = None if tool is None else goal_of(tool.descriptor.readiness)
    # What is not declared any more is refused by the check of its dispatch, which needs no readiness.
    return goal or Goal.APP


def _let_go(tx: Tx, world: World, call: Call, texts: Texts, now: int) -> Effects:
    ready = await_executor(world, placed(tx, world, calls.step(call, CallEvent.ACTIVATED, now=now)), now)
    tx.calls.save(ready, was=CallState.WAITING_ACTIVATION)
    sent, effects = dispatch(tx, world, ready, now, arguments=texts(call.ref))
    if sent.state is CallState.DISPATCHED and sent.operation is None:
        # What began in this same commit has the stronger receipt already (rules F1).
        tx.calls.add_receipt(call.ref, ReceiptStatus.ACTIVATION_READY, reason=None, at=now)
    return effects
