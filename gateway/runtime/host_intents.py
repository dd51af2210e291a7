"""What follows from what the person or the browser did to a mini app's frame (rules F8): parts of units of work.

A host intent is a fact. It is no call, has no agent, and ends operations only by the rules the app declared.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from capabilities.contract import Leave, Leaving
from gateway.domain.activations import FailureReason
from gateway.domain.audit import AuditEvent
from gateway.domain.instances import Instance
from gateway.domain.intents import HostIntent
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.activation import close, fail
from gateway.runtime.effects import Effect
from gateway.runtime.operations import interrupt
from gateway.runtime.ports import Tx
from gateway.runtime.releasing import Texts, release
from gateway.runtime.world import World

Effects = tuple[Effect, ...]

_SHOWS: Final[Mapping[HostIntent, bool]] = MappingProxyType(
    {
        HostIntent.FOREGROUNDED: True,
        HostIntent.BACKGROUNDED: False,
        HostIntent.LEFT_WORKSPACE: False,
        HostIntent.CLOSED: False,
    }
)
"""Whether the person looks at it afterwards; what is not named here changes nothing about that."""

_LEAVES: Final[Mapping[HostIntent, Callable[[Leaving], Leave]]] = MappingProxyType(
    {
        HostIntent.LEFT_WORKSPACE: lambda leaving: leaving.left_workspace,
        HostIntent.CLOSED: lambda leaving: leaving.closed,
    }
)
"""Which declared rule an intent calls for. A hidden tab and a locked screen call for none."""


def rule(tx: Tx, world: World, instance: Instance, intent: HostIntent, texts: Texts, now: int) -> Effects:
    """Record `intent` and do what follows from it."""
    tx.audit.append(audit.of_intent(AuditEvent.INTENT_REPORTED, instance, now, intent=intent.value))
    shown = replace(instance, is_foreground=_SHOWS.get(intent, instance.is_foreground))
    if shown != instance:
        tx.instances.save(shown, was=instance.state)
    effects = _left(tx, world, shown, intent, now)
    if intent is HostIntent.CLOSED:
        effects += _closed(tx, world, shown, now)
    elif shown.is_foreground:
        effects += release(tx, world, shown, texts, now)
    reach(Point.INTENT_RULED)
    return effects


def _left(tx: Tx, world: World, instance: Instance, intent: HostIntent, now: int) -> Effects:
    named = _LEAVES.get(intent)
    app = world.apps.apps.get(instance.app)
    # An app that is gone cannot say any more that its work should go on without it.
    if named is None or (app is not None and named(app.leaving) is Leave.KEEP):
        return ()
    where = (instance.user, instance.conversation, instance.app)
    return interrupt(tx, world, *where, cause=intent.value, now=now)


def _closed(tx: Tx, world: World, instance: Instance, now: int) -> Effects:
    effects, attempt = Effects(), tx.activations.live_of_instance(instance.id)
    if attempt is not None:
        effects += fail(tx, world, attempt, FailureReason.APP_CLOSED, now)
    still = tx.instances.find(instance.id)
    if still is not None and still.is_live:
        effects += close(tx, still, HostIntent.CLOSED, now)
    return effects
