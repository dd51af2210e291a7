"""Follows every call from its request to its end: one log line, one span, and what is counted on the way.

It is told of what was committed and of nothing else. Times of the person, the wait and the work come from the row,
so they are right after a restart too; what the gateway itself takes is measured where it happens.
"""

import time
from collections.abc import Iterator
from typing import Final, TypeVar

import structlog

from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.trace_context import TraceParent, read_traceparent, trace_id_of
from gateway.runtime.telemetry import names
from gateway.runtime.telemetry.ports import Attribute, Meter, Tracer
from policy.model import Decision

T = TypeVar("T")

REMEMBERED: Final = 8_192
"""Calls whose own times are kept at once; the oldest are told without them."""

_REFUSED_BY_LEDGER: Final = {
    ErrorCode.CALL_ID_CONFLICT: "conflict",
    ErrorCode.LEDGER_FULL: "full",
    ErrorCode.CALL_TOO_OLD: "too_old",
    ErrorCode.REPLAY_DETECTED: "retransmission",
}

_ABOUT_POLICY: Final = frozenset({ErrorCode.UNKNOWN_CAPABILITY, ErrorCode.FORBIDDEN, ErrorCode.REVOKED})


class CallWatch:
    """One per gateway; lives on the event loop."""

    def __init__(self, meter: Meter, tracer: Tracer) -> None:
        self._meter = meter
        self._tracer = tracer
        self._admit: dict[str, float] = {}
        self._answered: dict[str, float] = {}
        self._page_spans: dict[str, TraceParent] = {}
        self._approved = 0
        self._approved_at_once = 0
        self._log = structlog.get_logger("ostiary.call").bind()

    @property
    def subsecond_ratio(self) -> float:
        """The share of approvals given within a second."""
        return self._approved_at_once / self._approved if self._approved else 0.0

    # -- the request ------------------------------------------------------------------------------------------

    def decided(self, decision: Decision | None, refusal: GatewayError | None) -> None:
        """A request for a call met policy, or was refused before it could."""
        if decision is not None:
            self._meter.add(names.POLICY_DECISIONS, decision.verdict.value, decision.tier.value)
        elif refusal is not None and refusal.code in _ABOUT_POLICY:
            self._meter.add(names.POLICY_DECISIONS, "forbid", "none")

    def refused(self, entry: str, error: GatewayError) -> None:
        """A request left no call behind."""
        self._meter.add(names.CALLS_REFUSED, entry, error.code.wire)
        outcome = _REFUSED_BY_LEDGER.get(error.code)
        if outcome is not None:
            self._meter.add(names.IDEMPOTENCY, outcome)

    def admitted(self, call: Call, seconds: float) -> None:
        """A request became a call; its commit took `seconds` from the moment the request was read."""
        self._meter.add(names.IDEMPOTENCY, "new")
        self._meter.observe(names.CALL_STAGE, seconds, "admit")
        _keep(self._admit, call.ref, seconds)
        if call.state.is_terminal:
            # What only computes is settled by the transaction that accepted it.
            self._meter.add(names.CALLS, CallState.DISPATCHED.value, call.entry.value, call.risk.value)
            self._ended(call)
        elif call.state is not CallState.DISPATCHED:
            self._reached(call)

    def replayed(self) -> None:
        """A request found the call it had become before."""
        self._meter.add(names.IDEMPOTENCY, "replay")

    # -- the call ---------------------------------------------------------------------------------------------

    def dispatched(self, call: Call) -> None:
        """A call was handed to its executor."""
        self._reached(call)
        if call.dispatched_at is not None:
            since = call.admitted_at if call.approved_at is None else call.approved_at
            self._meter.observe(names.CALL_STAGE, _seconds(since, call.dispatched_at), "ready")

    def answered(self, ref: str) -> None:
        """An executor's answer is in; what follows is the settlement."""
        _keep(self._answered, ref, time.perf_counter())

    def ran_in(self, ref: str, traceparent: str) -> None:
        """The page did its work in a span of its own; a text that is no `traceparent` is ignored."""
        found = read_traceparent(traceparent)
        if found is not None and self._tracer.is_on:
            _keep(self._page_spans, ref, found)

    def told(self, call: Call) -> None:
        """A call moved, by a commit that is over."""
        if call.state.is_terminal or call.state is CallState.UNKNOWN:
            self._ended(call)
            return
        # The only other news of a commit is that the person agreed.
        self._question(call, "approved", call.approved_at)
        if call.state is not CallState.DISPATCHED:
            self._reached(call)

    def _question(self, call: Call, decision: str, at: int | None) -> None:
        if call.approval is None or at is None:
            return
        self._meter.add(names.APPROVALS, decision, call.risk.value)
        if decision not in ("approved", "denied"):
            return
        seconds = _seconds(call.admitted_at, at)
        self._meter.observe(names.CALL_STAGE, seconds, "approve")
        self._meter.observe(names.APPROVAL_LATENCY, seconds, decision)
        if decision == "approved":
            self._approved += 1
            self._approved_at_once += seconds < 1.0

    def _reached(self, call: Call) -> None:
        self._meter.add(names.CALLS, call.state.value, call.entry.value, call.risk.value)

    def _ended(self, call: Call) -> None:
        self._reached(call)
        if call.approval is not None and call.approved_at is None and not call.late:
            self._question(call, _unapproved(call), call.ended_at)
        answered, settle = self._answered.pop(call.ref, None), None
        if answered is not None:
            settle = time.perf_counter() - answered
            self._meter.observe(names.CALL_STAGE, settle, "settle")
        if call.dispatched_at is not None and call.ended_at is not None and not call.late:
            self._meter.observe(names.CALL_STAGE, _seconds(call.dispatched_at, call.ended_at), "dispatch")
        self._tell(call, self._admit.pop(call.ref, None), settle)
        self._trace(call)

    # -- the line and the span ----------------------------------------------------------------------------------

    def _tell(self, call: Call, admit: float | None, settle: float | None) -> None:
        self._log.info(
            "call",
            ref=call.ref,
            capability=call.capability,
            entry=call.entry.value,
            agent=call.agent or None,
            state=call.state.value,
            code=call.code.wire if call.code else None,
            admit_ms=_milliseconds(admit),
            approve_ms=_between(call.admitted_at, call.approved_at),
            ready_ms=_between(call.approved_at or call.admitted_at, call.dispatched_at),
            dispatch_ms=_between(call.dispatched_at, call.ended_at),
            settle_ms=_milliseconds(settle),
            trace_id=trace_id_of(call.traceparent),
        )

    def _trace(self, call: Call) -> None:
        page_span = self._page_spans.pop(call.ref, None)
        if not self._tracer.is_on:
            return
        attributes: dict[str, Attribute] = {
            names.CALL_REF: call.ref,
            names.CALL_CAPABILITY: call.capability,
            names.CALL_ENTRY: call.entry.value,
            names.CALL_STATE: call.state.value,
            names.CALL_EFFECT: call.effect.value,
            names.CALL_RISK: call.risk.value,
        }
        if call.code is not None:
            attributes[names.ERROR_TYPE] = call.code.wire
        moments = list(_moments(call))
        self._tracer.record(
            f"call {call.capability}",
            begun=call.admitted_at,
            ended=call.ended_at or max((at for _, at in moments), default=call.admitted_at),
            parent=read_traceparent(call.traceparent),
            links=() if page_span is None else (page_span,),
            attributes=attributes,
            moments=moments,
            failed=call.state in (CallState.FAILED, CallState.UNKNOWN),
        )


def _unapproved(call: Call) -> str:
    """What became of a question nobody said yes to."""
    if call.code is ErrorCode.DENIED:
        return "denied"
    return "expired" if call.code is ErrorCode.APPROVAL_EXPIRED else "withdrawn"


def _moments(call: Call) -> Iterator[tuple[str, int]]:
    for name, at in (("approved", call.approved_at), ("dispatched", call.dispatched_at)):
        if at is not None:
            yield name, at


def _keep(kept: dict[str, T], ref: str, value: T) -> None:
    if len(kept) >= REMEMBERED:
        del kept[next(iter(kept))]
    kept[ref] = value


def _seconds(since: int, until: int) -> float:
    return max(0, until - since) / 1_000


def _between(since: int | None, until: int | None) -> int | None:
    return None if since is None or until is None else max(0, until - since)


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1_000, 3)
