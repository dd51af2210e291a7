"""The admission transaction: one ledger row, receipt, quota, audit — or a refusal that leaves the call_id free.

`plan` is made on the loop from one `World`; `admit` is the unit of work. Admission and dispatch of a call
that is permitted and ready are one transaction.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import orjson

from capabilities.builtin.documents import DOCUMENTS
from capabilities.contract import Descriptor, HandlerKind
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.approvals import Approval
from gateway.domain.audit import AuditEvent, AuditRecord
from gateway.domain.calls import OPEN, Call, CallState, ReceiptStatus, Result
from gateway.domain.canonical import canonical, sha256_hex
from gateway.domain.conversations import Following
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.inventory import Baseline
from gateway.domain.workers import STOP_MS
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.activation import activation_for, placed, waiting
from gateway.runtime.callers import Caller, InDocument, Person, conversation_of, still
from gateway.runtime.dispatch import (
    FOREGROUND_MS,
    app_check,
    binding_text,
    dispatch,
    handed_over,
    is_reachable,
    is_ready,
    world_check,
)
from gateway.runtime.document_calls import refusal as document_refusal
from gateway.runtime.document_judging import Prepared
from gateway.runtime.document_records import no_room_for_action, noted_action
from gateway.runtime.effects import After, Ask, AskChanged, Effect, Told, TryDispatch
from gateway.runtime.effects import Refused as FrameRefused
from gateway.runtime.horizons import call_horizon, nonce_horizon
from gateway.runtime.inventory import Resolved
from gateway.runtime.ports import Ids, LedgerFull, Tx
from gateway.runtime.requests import Admitted, CallRequest, Refused
from gateway.runtime.settlement import Answer, concluded
from gateway.runtime.world import LivePage, World
from policy.patterns import PatternSet
from policy.vocabulary import Effect as CallEffect
from policy.vocabulary import Risk, Verdict


def request_fingerprint(capability: str, arguments: str, page: str | None) -> str:
    """SHA-256 over RFC 8785 of {v, capability, arguments, page} (design §6); `arguments` is canonical already.

    `page` is the selector of an agent, or the frame in which a person acts.
    """
    tail = b"" if page is None else b',"page":' + canonical(page)
    # RFC 8785 orders members by name: arguments, capability, page, v.
    return sha256_hex(b'{"arguments":%b,"capability":%b%b,"v":1}' % (arguments.encode(), canonical(capability), tail))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A judged request, ready to become a row: what it means, or why it is refused."""

    request: CallRequest
    ref: str
    arguments: str
    fingerprint: str
    digest: str
    policy_revision: str
    inventory_revision: int
    generation: int
    join_ms: int
    ids: Ids
    resolved: Resolved | None = None
    refusal: GatewayError | None = None
    baseline: Baseline | None = None
    stale: str | None = None
    asker: LivePage | None = None
    keep_in_memory: bool = False
    peer: str | None = None
    """The address the request came from, where it came over a network of ours."""
    approval: Callable[[Call, LivePage, bool], Approval] | None = None
    compute: Callable[[], Answer] | None = None
    """What the call comes to, where its handler only computes."""
    prepared: Prepared | None = None
    """What the call shows, judged already."""


def admit(
    tx: Tx,
    world: World,
    plan: Plan,
    now: int,
    *,
    is_attended: Callable[[str], bool],
) -> After:
    """Find the call this request already is, or make it one, or refuse it. Value: `Admission`.

    `is_attended`: whether an equal call still has a waiter, or its result was taken; such a one is not joined.
    """
    request = plan.request
    earlier = _earlier(tx, plan, now, is_attended)
    is_own = earlier is not None and _is_own(request.caller, earlier)
    if request.nonce is not None:
        if request.nonce_until < nonce_horizon(tx):
            return _refuse(tx, plan, now, GatewayError(ErrorCode.CALL_TOO_OLD, "the timestamp is too old"))
        ref = earlier.ref if earlier is not None and is_own else plan.ref
        seen = tx.nonces.add(request.principal.session, request.nonce, ref=ref, until=request.nonce_until)
        reach(Point.NONCE_REMEMBERED)
        if seen is not None:
            error = GatewayError(ErrorCode.REPLAY_DETECTED, "this very transmission came before", ref=seen)
            return _refuse(tx, plan, now, error)
    if earlier is not None:
        if is_own and earlier.request_fingerprint == plan.fingerprint:
            return replayed(tx, earlier, now, request.following)
        # To whom may not see the call, its capability is as unknown as ever.
        return _refuse(tx, plan, now, _conflict(plan, earlier) if is_own else plan.refusal or _conflict(plan))
    refusal = plan.refusal or _late_refusal(tx, world, plan, now)
    if refusal is not None:
        return _refuse(tx, plan, now, refusal)
    return _accept(tx, world, plan, now)


def may_see(session: AgentSession, call: Call) -> bool:
    """Whether `session` made `call`, or one of the same agent and user whose scope and sites cover it (design §6)."""
    if call.session == session.id:
        return True
    return (
        (call.agent, call.user) == (session.agent, session.user)
        and (call.site is None or call.site in session.sites)
        and PatternSet.of(session.scope).matches(call.capability)
    )


def _is_own(caller: Caller, call: Call) -> bool:
    if isinstance(caller, Person):
        return call.instance == caller.place
    return may_see(caller, call)


def _conflict(plan: Plan, earlier: Call | None = None) -> GatewayError:
    facts = {} if earlier is None else {"ref": earlier.ref}
    message = f"call_id `{plan.request.call_id}` was used for another request; use a new one"
    return GatewayError(ErrorCode.CALL_ID_CONFLICT, message, **facts)


def _earlier(tx: Tx, plan: Plan, now: int, is_attended: Callable[[str], bool]) -> Call | None:
    request = plan.request
    who = request.principal
    if request.call_id is not None:
        return tx.calls.find_by_key(who.agent, who.user, request.entry, request.call_id)
    is_read = plan.resolved is not None and plan.resolved.entry.effective.effect is CallEffect.READ
    if not request.may_join or is_read:
        return None
    since = now - plan.join_ms
    # Among equal calls made at once, only the one whose caller left may be the one that is asked for again.
    equals = tx.calls.equals(who.session, request.capability, plan.fingerprint, ended_after=since)
    return next((call for call in equals if not is_attended(call.ref)), None)


def replayed(tx: Tx, call: Call, now: int, following: Following | None) -> After:
    """Find a call as it is for who asks for it again. Value: `Admitted`."""
    effects: tuple[Effect, ...] = ()
    if following is not None and call.state in OPEN:
        tx.conversations.follow(call.ref, following)
        call = replace(call, handed_out=True)
        tx.calls.save(call, was=call.state)
    if call.is_orphaned and call.state.is_undispatched:
        call, effects = rearm(tx, call, now)
    tx.audit.append(audit.of_call(AuditEvent.CALL_REPLAYED, call, now))
    reach(Point.REPLAY_WRITTEN)
    return After(Admitted(call=call, replayed=True, result=tx.calls.result_of(call.ref)), effects)


def rearm(tx: Tx, call: Call, now: int) -> tuple[Call, tuple[Effect, ...]]:
    """Take the orphan mark off: its caller is back."""
    armed = replace(call, orphaned_at=None)
    tx.calls.save(armed, was=call.state)
    tx.audit.append(audit.of_call(AuditEvent.CALL_REARMED, armed, now))
    reach(Point.ORPHAN_REARMED)
    if armed.state is not CallState.AWAITING_APPROVAL:
        # What it waits for may have come while nobody was there to run it for.
        return armed, (TryDispatch(ref=armed.ref),)
    approval = tx.approvals.find(armed.approval) if armed.approval else None
    if approval is None:
        return armed, ()
    return armed, (AskChanged(approval=approval.id, page=approval.page, epoch=approval.epoch, state="open"),)


def _late_refusal(tx: Tx, world: World, plan: Plan, now: int) -> GatewayError | None:
    """What only the transaction can know: who asks as stored, remembered denials, used nonces, what is open."""
    request = plan.request
    caller = still(tx, world, request.caller, now)
    if isinstance(caller, GatewayError):
        return caller
    if isinstance(request.caller, Person) and (refusal := _too_many(tx, world, request.caller)) is not None:
        return refusal
    if request.issued_at is not None and request.issued_at < call_horizon(tx):
        return GatewayError(ErrorCode.CALL_TOO_OLD, "the request was issued before what is still remembered")
    if isinstance(caller, AgentSession) and request.capability in DOCUMENTS:
        shown = document_refusal(tx, world, caller, request.capability, request.arguments, plan.prepared)
        if shown is not None:
            return shown
    withdrawn = app_check(tx, world, request.capability)
    if withdrawn is None and plan.resolved is not None and plan.resolved.entry.decision.verdict is Verdict.ASK:
        return _cannot_ask(tx, world, plan, now)
    return withdrawn


def _too_many(tx: Tx, world: World, person: Person) -> GatewayError | None:
    """Refuse one call more than the mini apps of one page, or a document, may have open together."""
    most = world.configuration.limits_of(person.page.session.site).open_actions_per_page
    if isinstance(person, InDocument):
        return no_room_for_action(tx, person, most)
    on_page = tx.instances.live_on_page(person.page.id)
    if sum(len(tx.calls.open_of_instance(instance.id)) for instance in on_page) < most:
        return None
    return GatewayError(ErrorCode.BUSY, f"{most} actions of this page's mini apps are under way; let one of them end")


def _cannot_ask(tx: Tx, world: World, plan: Plan, now: int) -> GatewayError | None:
    who = plan.request.principal
    assert plan.resolved is not None
    if plan.resolved.entry.decision.tier is not Risk.USER_CONFIRMATION:
        return GatewayError(
            ErrorCode.APPROVAL_UNAVAILABLE,
            f"`{plan.request.capability}` needs `{plan.resolved.entry.decision.tier}`; nobody can give that here yet",
        )
    if plan.asker is None:
        return GatewayError(
            ErrorCode.APPROVAL_UNAVAILABLE, "it must be approved on a page, and no page of the user is open"
        )
    if tx.denials.find(who.agent, who.user, plan.fingerprint, now) is not None:
        return GatewayError(ErrorCode.DENIED, "the person refused this very request a short while ago")
    most = world.configuration.limits_of(plan.asker.session.site).open_approvals_per_page
    if len(tx.approvals.open_on_page(plan.asker.id)) >= most:
        return GatewayError(ErrorCode.BUSY, "too many questions are open on that page")
    return None


def _refuse(tx: Tx, plan: Plan, now: int, error: GatewayError) -> After:
    caller, record = plan.request.caller, record_of(plan, error, now)
    if isinstance(caller, Person) and error.code is ErrorCode.RATE_LIMITED:
        # The code of a frame can say this as often as it likes: a flood is counted, not listed.
        return After(Refused(error=error), (FrameRefused(peer=caller.page.id, code=error.code, record=record),))
    tx.audit.append(record)
    if plan.baseline is not None and error.code is ErrorCode.STALE_INVENTORY:
        tx.baselines.put(plan.request.principal.session, plan.baseline)
    reach(Point.REFUSAL_WRITTEN)
    return After(Refused(error=error))


def record_of(plan: Plan, error: GatewayError, now: int) -> AuditRecord:
    """The record of a request that is refused."""
    request = plan.request
    caller = request.caller
    return audit.of_refusal(
        request.entry,
        request.principal,
        error,
        now,
        capability=request.capability,
        call_id=request.call_id,
        arguments=plan.digest,
        peer=plan.peer,
        traceparent=request.trace_context,
        frame=(caller.page.id, caller.place) if isinstance(caller, Person) else ("", ""),
    )


def _accept(tx: Tx, world: World, plan: Plan, now: int) -> After:
    assert plan.resolved is not None
    row = _row(world, plan, plan.resolved, now)
    if world.generation != plan.generation:
        # The request waited for its transaction while something changed.
        caller = still(tx, world, plan.request.caller, now)
        changed = caller if isinstance(caller, GatewayError) else world_check(tx, world, row, caller)
        if changed is not None:
            return _refuse(tx, plan, now, changed)
    effects: tuple[Effect, ...] = ()
    approval: Approval | None = None
    if row.state is CallState.READY and row.app is not None:
        row, effects = _of_app(tx, world, plan, row, now)
    if row.state is CallState.AWAITING_APPROVAL:
        assert plan.approval is not None
        assert plan.asker is not None
        last = tx.approvals.last_approved_fingerprint(row.user, row.capability)
        approval = plan.approval(row, plan.asker, last not in (None, row.capability_fingerprint))
        row = replace(row, approval=approval.id, approve_by=approval.expires_at)
    tx.audit.append(audit.of_call(AuditEvent.CALL_ADMITTED, row, now))
    result: Result | None = None
    if row.state is CallState.READY:
        row, ended = dispatch(tx, world, row, now, arguments=plan.arguments, is_new=True)
        effects += ended
    if row.state is CallState.DISPATCHED and plan.compute is not None:
        # INVARIANT: it touched nothing outside this transaction, so run and record are kept or lost together.
        answer, effects = plan.compute(), ()
        row, result = concluded(row, answer, answer.event, now, result_ms=world.configuration.limits.result_ms)
        tx.audit.append(audit.of_call(AuditEvent.CALL_ENDED, row, now))
        reach(Point.COMPUTED)
    _write(tx, plan, row, result, now)
    if row.state is CallState.DISPATCHED:
        row, handed = handed_over(tx, world, row, plan.arguments, now, prepared=plan.prepared)
        if row.state.is_terminal:
            # Its caller hears of the end as the answer, and nobody else can have waited for it yet.
            result = tx.calls.result_of(row.ref)
            handed = tuple(e for e in handed if not (isinstance(e, Told) and e.call.ref == row.ref))
        effects += handed
    if approval is not None:
        tx.approvals.add(replace(approval, payload="") if plan.keep_in_memory else approval)
        reach(Point.QUESTION_OPENED)
        tx.audit.append(audit.of_approval(AuditEvent.APPROVAL_OPENED, approval, row, now))
        effects = (Ask(approval=approval, is_secret=plan.keep_in_memory),)
    if plan.baseline is not None:
        tx.baselines.put(plan.request.principal.session, plan.baseline)
    return After(Admitted(call=row, result=result), effects)


def _write(tx: Tx, plan: Plan, row: Call, result: Result | None, now: int) -> None:
    assert plan.resolved is not None
    try:
        stored = None if plan.keep_in_memory or row.state.is_terminal else plan.arguments
        tx.calls.add(row, stored, promise=_promise(plan.resolved))
    except LedgerFull:
        raise GatewayError(ErrorCode.LEDGER_FULL, "the ledger is full; nothing is evicted") from None
    reach(Point.CALL_ADDED)
    if isinstance(plan.request.caller, InDocument):
        tx.documents.add_action(noted_action(plan.request.caller, row, now))
    if plan.request.following is not None:
        tx.conversations.follow(row.ref, plan.request.following)
        reach(Point.CALL_FOLLOWED)
    tx.calls.add_receipt(row.ref, ReceiptStatus.ACCEPTED, reason=None, at=now)
    if result is not None:
        tx.calls.put_result(row.ref, result)
    if row.state.is_terminal:
        tx.conversations.told_end(row, now)
    reach(Point.RECEIPT_ADDED)
    if row.state is CallState.WAITING_ACTIVATION and row.activation is not None:
        tx.calls.add_receipt(row.ref, ReceiptStatus.STARTING, reason=None, at=now)


def _of_app(tx: Tx, world: World, plan: Plan, row: Call, now: int) -> tuple[Call, tuple[Effect, ...]]:
    """The row of a mini app's call as it may go on: at once, or once the app is ready."""
    assert plan.resolved is not None
    page = plan.resolved.page
    activation, effects = activation_for(tx, world, plan.ids, row, now, host=page.id if page else None)
    if activation is not None:
        return waiting(row, activation), effects
    return await_executor(world, placed(tx, world, row), now), effects


def _promise(resolved: Resolved) -> str | None:
    """What a page's answer is judged by, should it come when nothing else is left of the declaration."""
    schema = resolved.descriptor.output_schema
    return None if resolved.page is None or schema is None else orjson.dumps(dict(schema)).decode()


def _row(world: World, plan: Plan, resolved: Resolved, now: int) -> Call:
    request, who, entry = plan.request, plan.request.principal, resolved.entry
    limits = world.configuration.limits
    deadline = min(now + limits.call_ms, request.expires_at or now + limits.call_ms)
    app = resolved.descriptor.app_scope
    # A mini app may outlive the document it was first shown on: its calls are bound to one when they run there.
    page = resolved.page if app is None else None
    call = Call(
        ref=plan.ref,
        entry=request.entry,
        agent=who.agent,
        user=who.user,
        session=who.session,
        call_id=request.call_id or plan.ref,
        minted=request.call_id is None,
        request_fingerprint=plan.fingerprint,
        arguments_digest=plan.digest,
        capability=request.capability,
        capability_fingerprint=resolved.descriptor.fingerprint,
        effect=entry.effective.effect,
        risk=entry.effective.risk,
        state=CallState.READY,
        decision=binding_text(entry.decision),
        policy_revision=plan.policy_revision,
        inventory_revision=plan.inventory_revision,
        site=entry.site,
        page_selector=request.page,
        page=page.id if page else None,
        epoch=page.session.epoch if page else None,
        app=app,
        conversation=conversation_of(request.caller) if app else None,
        instance=request.caller.place if isinstance(request.caller, Person) else None,
        timeout_ms=_execution_ms(resolved.descriptor),
        admitted_at=now,
        deadline=deadline,
        input_in_memory=plan.keep_in_memory,
        traceparent=request.trace_context,
        handed_out=request.following is not None,
    )
    if entry.decision.verdict is Verdict.ASK:
        return replace(call, state=CallState.AWAITING_APPROVAL)
    return await_executor(world, call, now)


def _execution_ms(declared: Descriptor) -> int:
    """How long the work may take. A worker tells its handler to stop in time, and hears whether it did."""
    return declared.timeout_ms + (STOP_MS if declared.handler is HandlerKind.PYTHON else 0)


def await_executor(world: World, call: Call, now: int) -> Call:
    """Bound the wait of a call whose page is dropped or in the background; unchanged when it can go."""
    if not is_ready(world, call):
        return replace(call, state=CallState.WAITING_ACTIVATION, approve_by=now + FOREGROUND_MS)
    if not is_reachable(world, call):
        return replace(call, approve_by=now + world.configuration.limits.page_grace_ms)
    return call
