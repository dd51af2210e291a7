"""Asking the person: who is asked, what is shown, and what a decision does (design §5)."""

import json
from collections.abc import Callable
from typing import Any, Final

from gateway.domain import approvals, calls
from gateway.domain.approvals import Approval, ApprovalEvent, ApprovalState, digest_of
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState, ReceiptStatus
from gateway.domain.canonical import canonical
from gateway.domain.denials import DENIAL_MS, Denial
from gateway.domain.errors import ErrorCode
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.activation import activation_for, placed, waiting
from gateway.runtime.admission import await_executor
from gateway.runtime.callers import Caller, InDocument, InFrame, Person, app_label
from gateway.runtime.dispatch import dispatch, is_ready, re_check
from gateway.runtime.effects import After, AskChanged, Effect, Refused, Told
from gateway.runtime.ending import end, expire_if_due
from gateway.runtime.inventory import Resolved
from gateway.runtime.ports import Clock, Ids, Tx
from gateway.runtime.requests import CallRequest
from gateway.runtime.settlement import PageRefusal
from gateway.runtime.spine import Spine
from gateway.runtime.vault import Vault
from gateway.runtime.world import Live, LivePage, World
from policy.model import Decision
from policy.vocabulary import Effect as CallEffect

VERBS: Final = {CallEffect.READ: "read", CallEffect.WRITE: "change", CallEffect.DESTRUCTIVE: "delete"}

_RESTING: Final = {
    ApprovalState.APPROVED: ("approved", ErrorCode.REPLAY_DETECTED),
    ApprovalState.CONSUMED: ("approved", ErrorCode.REPLAY_DETECTED),
    ApprovalState.DENIED: ("denied", ErrorCode.REPLAY_DETECTED),
    ApprovalState.EXPIRED: ("expired", ErrorCode.APPROVAL_EXPIRED),
    ApprovalState.LAPSED: ("expired", ErrorCode.APPROVAL_LAPSED),
    ApprovalState.WITHDRAWN: ("withdrawn", ErrorCode.POLICY_CHANGED),
}


class Approvals:
    """Use cases over approvals of tier `user_confirmation`."""

    def __init__(self, *, spine: Spine, live: Live, clock: Clock, ids: Ids, vault: Vault) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._ids = ids
        self._vault = vault

    def asker(self, world: World, caller: Caller, resolved: Resolved) -> LivePage | None:
        """The document on which the person is asked: the call's own page, else the user's best one in reach."""
        if resolved.page is not None or isinstance(caller, Person):
            return resolved.page
        pages = [page for site in caller.sites for page in world.pages_of(caller.user, site)]
        return max((p for p in pages if p.is_connected), key=lambda page: page.rank, default=None)

    def opener(
        self, world: World, resolved: Resolved, arguments: str, request: CallRequest
    ) -> Callable[[Call, LivePage, bool], Approval]:
        """How to open the approval of the call `request` becomes; pure but for fresh names made here."""
        name, nonce, now = self._ids.name("appr"), self._ids.secret(), self._clock.now()

        def open_approval(call: Call, page: LivePage, changed: bool) -> Approval:
            payload = payload_of(
                world,
                resolved,
                call,
                page,
                approval=name,
                nonce=nonce,
                arguments=arguments,
                changed=changed,
                request=request,
            )
            return Approval(
                id=name,
                call=call.ref,
                nonce=nonce,
                payload=payload,
                digest=digest_of(payload),
                page=page.id,
                epoch=page.session.epoch,
                user=call.user,
                decision=call.decision,
                state=ApprovalState.OPEN,
                opened_at=now,
                expires_at=now + world.configuration.limits_of(page.session.site).approval_ms,
            )

        return open_approval

    def payload(self, approval: Approval) -> str | None:
        """The text to show for an open approval; None when it is gone."""
        return approval.payload or self._vault.find(approval.id)

    def greyed(self, tx: Tx, call: Call) -> tuple[Effect, ...]:
        """What the dialog of an orphaned call is told."""
        approval = tx.approvals.find(call.approval) if call.approval else None
        if approval is None or approval.state is not ApprovalState.OPEN:
            return ()
        return (_changed(approval, "agent_left"),)

    async def decide(
        self,
        page: LivePage,
        *,
        approval: str,
        nonce: str,
        digest: str,
        approve: bool,
        visible: bool,
    ) -> None:
        """Take the person's decision from the document it was shown on; the answer goes there as an effect.

        Whatever does not count is refused, told to the page and audited.
        """
        world = self._live.world
        reach(Point.DECISION_RECEIVED)

        def work(tx: Tx) -> After:
            now = self._clock.now()
            found = tx.approvals.find(approval)
            call = tx.calls.find(found.call) if found else None
            if found is None or call is None or (found.page, found.epoch) != (page.id, page.session.epoch):
                code = ErrorCode.UNKNOWN_CALL
                record = audit.of_page(
                    AuditEvent.APPROVAL_REFUSED, page.session, now, approval=approval[:80], code=code.wire
                )
                return After(None, (_unknown(page, approval), Refused(peer=page.id, code=code, record=record)))
            refusal = _refusal(
                world,
                page,
                found,
                call,
                is_same=(nonce, digest) == (found.nonce, found.digest),
                approve=approve,
                visible=visible,
            )
            if refusal is not None:
                return _refused(found, call, refusal, now)
            overdue = expire_if_due(tx, call, now)
            if overdue is not None:
                return After(None, overdue[1])
            decide = self._approve if approve else self._deny
            return After(None, decide(tx, world, found, call, now))

        await self._spine.run(work)
        reach(Point.DECISION_COMMITTED)

    def _approve(self, tx: Tx, world: World, approval: Approval, call: Call, now: int) -> tuple[Effect, ...]:
        changed = re_check(tx, world, call, now)
        if changed is not None:
            return end(tx, call, CallEvent.WITHDRAW, now, changed.code, changed.message)[1]
        approved = approvals.step(approval, ApprovalEvent.APPROVE, now=now, use_within=calls.LAPSE_MS)
        tx.approvals.save(approved, was=ApprovalState.OPEN)
        tx.approvals.note_approved(call.user, call.capability, call.capability_fingerprint)
        moved, effects = self._going_on(tx, world, approval, call, now)
        tx.calls.save(moved, was=CallState.AWAITING_APPROVAL)
        tx.audit.append(audit.of_approval(AuditEvent.APPROVAL_DECIDED, approved, moved, now))
        reach(Point.APPROVAL_WRITTEN)
        told = _changed(approved, "approved")
        if moved.state is CallState.WAITING_ACTIVATION and moved.activation is not None:
            tx.calls.add_receipt(moved.ref, ReceiptStatus.STARTING, reason=None, at=now)
        if moved.state is not CallState.READY:
            return (told, Told(call=moved), *effects)
        sent, more = dispatch(tx, world, moved, now, arguments=self._vault.find(call.ref))
        return (told, Told(call=sent), *effects, *more)

    def _going_on(
        self, tx: Tx, world: World, approval: Approval, call: Call, now: int
    ) -> tuple[Call, tuple[Effect, ...]]:
        """The call the person agreed to: ready, or waiting for its page or its mini app."""
        if call.app is None:
            event = CallEvent.APPROVE if is_ready(world, call) else CallEvent.APPROVE_UNREADY
            return await_executor(world, calls.step(call, event, now=now), now), ()
        activation, effects = activation_for(tx, world, self._ids, call, now, host=approval.page)
        if activation is None:
            ready = placed(tx, world, calls.step(call, CallEvent.APPROVE, now=now))
            return await_executor(world, ready, now), effects
        return waiting(calls.step(call, CallEvent.APPROVE_UNREADY, now=now), activation), effects

    def _deny(self, tx: Tx, world: World, approval: Approval, call: Call, now: int) -> tuple[Effect, ...]:
        denied = approvals.step(approval, ApprovalEvent.DENY, now=now)
        tx.approvals.save(denied, was=ApprovalState.OPEN)
        tx.audit.append(audit.of_approval(AuditEvent.APPROVAL_DECIDED, denied, call, now))
        tx.denials.put(
            Denial(
                agent=call.agent,
                user=call.user,
                request_fingerprint=call.request_fingerprint,
                capability=call.capability,
                title=_title(world, call),
                until=now + DENIAL_MS,
            )
        )
        reach(Point.DENIAL_WRITTEN)
        ended = end(tx, call, CallEvent.DENY, now, ErrorCode.DENIED, "the person refused it")[1]
        return (_changed(denied, "denied"), *ended)

    async def refused_by_page(self, page: LivePage, ref: str, code: ErrorCode, why: PageRefusal) -> None:
        """The page cannot do it or finds the arguments invalid: nobody is asked, the call fails (rules B7)."""

        def work(tx: Tx) -> After:
            now = self._clock.now()
            call = tx.calls.find(ref)
            approval = tx.approvals.find(call.approval) if call and call.approval else None
            if call is None or approval is None or call.state is not CallState.AWAITING_APPROVAL:
                return After(None)
            if (approval.page, approval.epoch) != (page.id, page.session.epoch):
                return After(None)
            return After(None, end(tx, call, CallEvent.REFUSED_BY_PAGE, now, code, why.told(tx, ref))[1])

        await self._spine.run(work)


def _refusal(
    world: World,
    page: LivePage,
    approval: Approval,
    call: Call,
    *,
    is_same: bool,
    approve: bool,
    visible: bool,
) -> ErrorCode | None:
    if approval.state is not ApprovalState.OPEN:
        return _RESTING[approval.state][1]
    if not is_same:
        return ErrorCode.BAD_REQUEST
    if not approve:
        return None
    site = world.configuration.sites.get(page.session.site)
    if not visible or (page.automated and not (site and site.allow_automated_approval)):
        return ErrorCode.FORBIDDEN
    return ErrorCode.AGENT_LEFT if call.is_orphaned else None


def _refused(approval: Approval, call: Call, code: ErrorCode, now: int) -> After:
    record = audit.of_approval(AuditEvent.APPROVAL_REFUSED, approval, call, now, code=code.wire)
    if approval.state is ApprovalState.OPEN:
        state = "agent_left" if code is ErrorCode.AGENT_LEFT else "open"
    else:
        state = _RESTING[approval.state][0]
    told = _changed(approval, state, code.wire)
    return After(None, (told, Refused(peer=approval.page, code=code, record=record)))


def _changed(approval: Approval, state: str, code: str | None = None) -> AskChanged:
    return AskChanged(approval=approval.id, page=approval.page, epoch=approval.epoch, state=state, code=code)


def _unknown(page: LivePage, approval: str) -> AskChanged:
    return AskChanged(
        approval=approval, page=page.id, epoch=page.session.epoch, state="withdrawn", code="unknown_call"
    )


def _title(world: World, call: Call) -> str:
    descriptor = world.declared_for(call)
    return (descriptor.title if descriptor else "") or call.capability


def payload_of(
    world: World,
    resolved: Resolved,
    call: Call,
    page: LivePage,
    *,
    approval: str,
    nonce: str,
    arguments: str,
    changed: bool,
    request: CallRequest,
) -> str:
    """The approval payload: RFC 8785 text, made by the gateway, shown by the page byte for byte."""
    return canonical(
        {
            "v": 1,
            "ref": call.ref,
            "approval": approval,
            "nonce": nonce,
            "capability": call.capability,
            "fingerprint": call.capability_fingerprint,
            "summary": _summary(world, resolved, call, page, arguments, changed=changed, request=request),
            "input": arguments,
            "page": page.id,
            "epoch": page.session.epoch,
            "decision": _binding(resolved.entry.decision),
            "approver": {"user": call.user},
            "expires_in": world.configuration.limits_of(page.session.site).approval_ms,
        }
    ).decode()


def _summary(
    world: World,
    resolved: Resolved,
    call: Call,
    page: LivePage,
    arguments: str,
    *,
    changed: bool,
    request: CallRequest,
) -> dict[str, Any]:
    return {
        **_asking(world, request),
        "verb": VERBS[call.effect],
        "object": resolved.descriptor.title or call.capability,
        "origin": page.session.origin,
        "effect": call.effect.value,
        "risk": resolved.entry.decision.tier.value,
        "description": resolved.descriptor.description,
        "arguments": _shown_arguments(arguments),
        "changed": changed,
    }


def _asking(world: World, request: CallRequest) -> dict[str, Any]:
    """Who asks, in the gateway's words, and an agent's own words for why."""
    if isinstance(request.caller, InFrame):
        return {"agent": "", "app": app_label(world, request.caller.instance)}
    if isinstance(request.caller, InDocument):
        # The person pressed it; whose button it was is what they have to know.
        return {"agent": world.configuration.agent_label(request.caller.document.agent), "document": True}
    said = {} if request.reason is None else {"reason": request.reason}
    return {"agent": world.configuration.agent_label(request.caller.agent), **said}


def _shown_arguments(arguments: str) -> list[dict[str, Any]]:
    members: dict[str, Any] = json.loads(arguments)
    shown: list[dict[str, Any]] = []
    for name, value in members.items():
        entry: dict[str, Any] = {"name": name, "value": canonical(value).decode()}
        if isinstance(value, str):
            entry["length"] = len(value)
        shown.append(entry)
    return shown


def _binding(decision: Decision) -> dict[str, object]:
    return decision.binding
