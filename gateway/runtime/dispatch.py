"""The dispatch transaction: judge again, consume the approval, hand over — or say why not (design §3).

Functions of one unit of work: they read and write `tx` and return what must follow the commit.
"""

from typing import Final

from capabilities.builtin.documents import CALLBACK, DOCUMENTS
from capabilities.contract import Readiness
from gateway.domain import approvals, calls
from gateway.domain.approvals import ApprovalEvent, ApprovalState
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.callers import Caller, Person, found
from gateway.runtime.document_calls import carry_callback, carry_document
from gateway.runtime.document_judging import Prepared
from gateway.runtime.effects import Effect, Execute
from gateway.runtime.ending import end, expire_if_due
from gateway.runtime.inventory import question_of
from gateway.runtime.operations import begin_for_handler, carry
from gateway.runtime.ports import Tx
from gateway.runtime.surface_calls import carry_surface
from gateway.runtime.world import World
from policy.model import Decision

FOREGROUND_MS: Final = 60_000
"""How long a call waits for its page to come to the foreground (design §17)."""


def binding_text(decision: Decision) -> str:
    """The text of a decision that an approval, and every later check, is bound to."""
    return canonical(decision.binding).decode()


def re_check(tx: Tx, world: World, call: Call, now: int) -> GatewayError | None:
    """Whether anything a call was admitted on has changed: who asked, page, epoch, fingerprint, decision."""
    caller = found(tx, world, call, now)
    return caller if isinstance(caller, GatewayError) else world_check(tx, world, call, caller)


def world_check(tx: Tx, world: World, call: Call, caller: Caller) -> GatewayError | None:
    """The same for a caller that is known, as stored."""
    page = world.pages.get(call.page) if call.page else None
    if call.page is not None:
        row = tx.pages.find(call.page)
        if page is None or row is None or row.epoch != call.epoch or page.session.epoch != call.epoch:
            return GatewayError(ErrorCode.PAGE_NOT_CONNECTED, "the page was left or replaced")
    descriptor = world.declared_for(call)
    if descriptor is None:
        return GatewayError(ErrorCode.REVOKED, f"capability `{call.capability}` was withdrawn")
    if descriptor.fingerprint != call.capability_fingerprint:
        return GatewayError(ErrorCode.STALE_INVENTORY, f"capability `{call.capability}` has changed")
    withdrawn = app_check(tx, world, call.capability)
    if withdrawn is not None:
        return withdrawn
    if isinstance(caller, Person):
        page = caller.page
    elif call.app is not None and page is None and call.site is not None:
        page = next(iter(world.pages_of(call.user, call.site)), None)
    decision = world.decide(question_of(world, caller, descriptor, page, on_site=call.site))
    if binding_text(decision) != call.decision:
        return GatewayError(ErrorCode.POLICY_CHANGED, "the policy for this call has changed")
    return None


def app_check(tx: Tx, world: World, capability: str) -> GatewayError | None:
    """Whether the mini app of `capability`, if one declares it, is by its row still what `world` takes it for.

    The world follows the commit of a change; what runs in between must not meet an app that is gone already.
    """
    app = world.apps.app_of(capability)
    row = None if app is None else tx.mini_apps.find(app.id)
    # An app is removed only once it was disabled, and the world has followed that.
    if app is None or row is None:
        return None
    if not row.is_enabled:
        return GatewayError(ErrorCode.REVOKED, f"capability `{capability}` was withdrawn: app `{app.id}` is disabled")
    if row.digest != app.digest:
        return GatewayError(ErrorCode.STALE_INVENTORY, f"app `{app.id}` was replaced by another version")
    return None


def is_ready(world: World, call: Call) -> bool:
    """Whether the readiness the capability requires holds now. What waits for its mini app is let go by `releasing`."""
    if call.app is not None:
        return call.state is not CallState.WAITING_ACTIVATION
    page = world.pages.get(call.page) if call.page else None
    descriptor = world.declared_for(call)
    if page is None or descriptor is None or descriptor.readiness is not Readiness.FOREGROUND_REQUIRED:
        return True
    return page.visible


def is_reachable(world: World, call: Call) -> bool:
    """Whether the executor of the call is there to take it."""
    if call.page is None:
        return True
    page = world.pages.get(call.page)
    return page is not None and page.is_connected


def dispatch(
    tx: Tx, world: World, call: Call, now: int, *, arguments: str | None = None, is_new: bool = False
) -> tuple[Call, tuple[Effect, ...]]:
    """Dispatch a `ready` call, or end it, or leave it waiting for its page.

    `is_new`: the row is not written yet; its caller will insert what is returned, then let it be `handed_over`.
    """
    due = expire_if_due(tx, call, now)
    if due is not None:
        return due
    refusal = None if is_new else re_check(tx, world, call, now)
    if refusal is not None:
        return end(tx, call, CallEvent.WITHDRAW, now, refusal.code, refusal.message)
    if call.is_orphaned or not is_reachable(world, call):
        return call, ()
    text = arguments if arguments is not None else tx.calls.input_of(call.ref)
    if text is None:
        return end(tx, call, CallEvent.CANCEL, now, ErrorCode.CANCELLED, "its arguments are gone (restart)")
    moved = calls.step(call, CallEvent.DISPATCH, now=now)
    reach(Point.DISPATCH_JUDGED)
    _consume(tx, moved, now)
    if not is_new:
        tx.calls.save(moved, was=CallState.READY)
    tx.audit.append(audit.of_call(AuditEvent.CALL_DISPATCHED, moved, now))
    reach(Point.DISPATCH_WRITTEN)
    return (moved, ()) if is_new else handed_over(tx, world, moved, text, now)


def handed_over(
    tx: Tx, world: World, call: Call, arguments: str, now: int, *, prepared: Prepared | None = None
) -> tuple[Call, tuple[Effect, ...]]:
    """Give a dispatched call to its executor. What the runtime does itself is done here, in the same transaction."""
    if call.app is None and call.capability in DOCUMENTS:
        return carry_document(tx, world, call, arguments, now, prepared)
    if call.app is None and call.capability == CALLBACK.id:
        return carry_callback(tx, world, call, arguments, now)
    if call.app is None and call.capability in world.surfaces:
        return carry_surface(tx, world, call, arguments, now)
    declared = world.declared_for(call) if call.app is not None else None
    if declared is None:
        return call, (Execute(call=call, arguments=arguments),)
    if declared.runtime is not None:
        return carry(tx, world, call, declared, arguments, now)
    begin_for_handler(tx, call, declared, now)
    instance = None
    if call.page is not None:
        assert call.conversation is not None
        instance = tx.instances.live(call.user, call.conversation, call.app or "")
    return call, (Execute(call=call, arguments=arguments, instance=instance.id if instance else None),)


def _consume(tx: Tx, call: Call, now: int) -> None:
    if call.approval is None:
        return
    approval = tx.approvals.find(call.approval)
    # INVARIANT: an approval is used once, by the call it was given to, in the transaction that dispatches it.
    if approval is None or approval.call != call.ref:
        raise GatewayError(ErrorCode.APPROVAL_UNAVAILABLE, "the approval of this call is gone")
    consumed = approvals.step(approval, ApprovalEvent.CONSUME, now=now)
    tx.approvals.save(consumed, was=ApprovalState.APPROVED)
    tx.audit.append(audit.of_approval(AuditEvent.APPROVAL_CONSUMED, consumed, call, now))
    reach(Point.APPROVAL_CONSUMED)
