"""Judging again what waits, when what it stands on has changed (design §5): equal decisions keep it, others end it."""

from gateway.domain.calls import CallEvent
from gateway.runtime.callers import page_of
from gateway.runtime.dispatch import re_check
from gateway.runtime.effects import Effect
from gateway.runtime.ending import end
from gateway.runtime.ports import Tx
from gateway.runtime.world import World


def withdraw_changed(tx: Tx, world: World, now: int) -> tuple[Effect, ...]:
    """End every call that was not handed out and that `world` has another answer to than it was admitted on."""
    effects: list[Effect] = []
    for call in tx.calls.open_calls():
        if not call.state.is_undispatched:
            continue
        page = page_of(tx, call)
        # A page that is not back yet is judged again when it is, at dispatch at the latest.
        if page is not None and page not in world.pages:
            continue
        refusal = re_check(tx, world, call, now)
        if refusal is not None:
            effects += end(tx, call, CallEvent.WITHDRAW, now, refusal.code, refusal.message)[1]
    return tuple(effects)
