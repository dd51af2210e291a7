"""Makes a request for a call into a plan: what it means, what it comes to, why it may be refused. Nothing is kept.

Runs on the loop, over one `World`; what only the transaction can know is judged by `admission`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from capabilities.contract import Computation, Handler
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.admission import Plan, request_fingerprint
from gateway.runtime.approvals import Approvals
from gateway.runtime.audit import Digester
from gateway.runtime.callers import Caller, Person
from gateway.runtime.computing import computed
from gateway.runtime.document_judging import Prepared, prepared
from gateway.runtime.inventories import Inventories, Meaning
from gateway.runtime.inventory import Resolved, resolve_own
from gateway.runtime.limiter import Limiter
from gateway.runtime.ports import Clock, Ids, Store
from gateway.runtime.requests import CallRequest
from gateway.runtime.settlement import Answer
from gateway.runtime.telemetry import this_request
from gateway.runtime.validators import UI, validator_of
from gateway.runtime.world import Live
from policy.vocabulary import Verdict

UI_ARGUMENT_BYTES: Final = 260 * 1024
"""Largest canonical text of the arguments of a `ui.` call: a whole document and what stands beside it (rules A1)."""


class Planner:
    """One per gateway."""

    def __init__(
        self,
        *,
        live: Live,
        clock: Clock,
        ids: Ids,
        inventories: Inventories,
        approvals: Approvals,
        digester: Digester,
        handlers: Mapping[str, Handler],
        store: Store,
    ) -> None:
        self._store = store
        self._live = live
        self._clock = clock
        self._ids = ids
        self._inventories = inventories
        self._approvals = approvals
        self._digester = digester
        self._handlers = handlers
        self._agents = Limiter()
        self._people = Limiter()

    async def plan(self, request: CallRequest) -> Plan:
        """Judge `request` by the world of this moment; a refusal is part of the plan, so that it is audited."""
        world = self._live.world
        is_ui = request.capability.startswith(UI)
        most = UI_ARGUMENT_BYTES if is_ui else world.configuration.limits.argument_bytes
        text, refusal = _canonical(request.arguments, most)
        ref = self._ids.ref()
        meaning, revision = await self._meaning(request)
        resolved = meaning.resolved
        asks = resolved is not None and resolved.entry.decision.verdict is Verdict.ASK
        refusal = refusal or meaning.refusal or self._judge(request, meaning)
        shown = None if refusal is not None else await self._shown(request)
        return Plan(
            request=request,
            ref=ref,
            arguments=text,
            fingerprint=request_fingerprint(request.capability, text, request.place),
            digest=self._digester.digest(text),
            peer=this_request().peer,
            policy_revision=world.configuration.revision,
            inventory_revision=revision,
            generation=world.generation,
            ids=self._ids,
            join_ms=world.configuration.limits.join_ms,
            resolved=resolved,
            refusal=refusal,
            prepared=shown,
            baseline=meaning.baseline,
            stale=meaning.stale,
            asker=self._approvals.asker(world, request.caller, resolved) if resolved and asks else None,
            keep_in_memory=resolved is not None and validator_of(resolved.descriptor).holds_secrets,
            approval=self._approvals.opener(world, resolved, text, request) if resolved and asks else None,
            compute=self._compute(resolved, text, ref) if resolved else None,
        )

    async def _shown(self, request: CallRequest) -> Prepared | None:
        """What the request shows, judged; a document that is refused is refused in the transaction, for what it knows
        comes first."""
        most = self._live.world.configuration.documents.max_bytes
        return await prepared(self._store, request.capability, request.arguments, max_bytes=most)

    async def _meaning(self, request: CallRequest) -> tuple[Meaning, int]:
        """What the capability means to whoever asks, and the inventory revision they decided by; 0 is none."""
        caller, decided_by = request.caller, request.inventory_revision
        if isinstance(caller, Person):
            try:
                return Meaning(resolved=resolve_own(self._live.world, caller, request.capability)), 0
            except GatewayError as refusal:
                return Meaning(refusal=refusal), 0
        meaning = await self._inventories.meaning(
            caller, request.capability, request.page, request.arrival, decided_by=decided_by
        )
        baseline = await self._inventories.baseline(caller)
        return meaning, baseline.revision if decided_by is None else decided_by

    def held_to_rate(self, plan: Plan) -> Plan:
        """`plan`, refused where its agent makes too many calls, or its person on their site."""
        wait = self._wait_of(plan.request.caller)
        if wait is None:
            return plan
        limited = GatewayError(ErrorCode.RATE_LIMITED, f"too many calls; try again in {wait} ms", retry_after_ms=wait)
        return replace(plan, refusal=limited, baseline=None)

    def _wait_of(self, caller: Caller) -> int | None:
        """None when `caller` may make one more call now, else how many milliseconds until it may."""
        configuration, now = self._live.world.configuration, self._clock.monotonic()
        if not isinstance(caller, Person):
            limits = configuration.limits
            return self._agents.take(
                caller.agent, per_minute=limits.calls_per_minute, burst=limits.calls_burst, now=now
            )
        where = caller.page.session
        limits = configuration.limits_of(where.site)
        return self._people.take(
            (where.user, where.site), per_minute=limits.actions_per_minute, burst=limits.actions_burst, now=now
        )

    def _compute(self, resolved: Resolved, arguments: str, ref: str) -> Callable[[], Answer] | None:
        handler, descriptor = self._handlers.get(resolved.descriptor.id), resolved.descriptor
        if resolved.page is not None or not isinstance(handler, Computation):
            return None
        return partial(computed, handler, descriptor, validator_of(descriptor), arguments, ref)

    def _judge(self, request: CallRequest, meaning: Meaning) -> GatewayError | None:
        now = self._clock.now()
        limits = self._live.world.configuration.limits
        if request.issued_at is not None and request.issued_at < now - limits.call_age_ms:
            return GatewayError(ErrorCode.CALL_TOO_OLD, "the request was issued too long ago")
        # A stamp from the future would be young again after its call is forgotten.
        if request.issued_at is not None and request.issued_at > now + limits.nonce_window_ms:
            return GatewayError(ErrorCode.CLOCK_SKEW, "the request was issued in the future; check the clock")
        if request.expires_at is not None and request.expires_at <= now:
            return GatewayError(ErrorCode.CALL_TOO_OLD, "the request has expired")
        assert meaning.resolved is not None
        app = self._live.world.apps.app_of(request.capability)
        if app is not None and app.fault is not None:
            # What exactly is for its administrator, who finds it in `ostiary app list`.
            return GatewayError(ErrorCode.NOT_AVAILABLE, f"app `{app.id}` is out of order; ask who runs this gateway")
        problem = validator_of(meaning.resolved.descriptor).first_input_error(request.arguments)
        if problem is not None:
            return GatewayError(
                problem.code,
                f"arguments of `{request.capability}` at `{problem.pointer or '/'}`: {problem.reason}",
                pointer=problem.pointer,
            )
        return None


def _canonical(arguments: dict[str, Any], limit: int) -> tuple[str, GatewayError | None]:
    try:
        text = canonical(arguments).decode()
    except (ValueError, RecursionError) as error:
        return "{}", GatewayError(ErrorCode.UNSAFE_INTEGER, f"arguments cannot be carried unchanged: {error}")
    if len(text.encode()) > limit:
        return text, GatewayError(ErrorCode.BODY_TOO_LARGE, f"the arguments are larger than {limit} bytes")
    return text, None
