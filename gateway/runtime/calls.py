"""The one use case every door enters: submit a call, wait for it, ask for its status, cancel it (design §3).

Owns the order of the steps; the transactions are in `admission`, `dispatch` and `settlement`.
Knows nothing of MCP, HTTP or sockets.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, Final

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState, Entry
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.admission import Plan, admit, may_see, rearm, record_of, replayed
from gateway.runtime.approvals import Approvals
from gateway.runtime.attendance import Attendance, News, Places, Waiter
from gateway.runtime.effects import After, CancelWork, Effect, Told
from gateway.runtime.ending import end
from gateway.runtime.inventories import Inventories
from gateway.runtime.planning import Planner
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.requests import Admission, Admitted, CallRequest, Outcome, Refused
from gateway.runtime.settlement import request_cancel
from gateway.runtime.spine import Spine
from gateway.runtime.telemetry import CallWatch, this_request
from gateway.runtime.vault import Vault
from gateway.runtime.world import Live

TAKEN_MS: Final = 200
"""How long taken results gather before one transaction notes them."""

CALL_ID_GRAMMAR: Final = r"[A-Za-z0-9._:-]{8,64}"


class Calls:
    """Use cases over the ledger."""

    def __init__(
        self,
        *,
        spine: Spine,
        live: Live,
        clock: Clock,
        planner: Planner,
        inventories: Inventories,
        approvals: Approvals,
        vault: Vault,
        watch: CallWatch,
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._planner = planner
        self._inventories = inventories
        self._approvals = approvals
        self._vault = vault
        self._watch = watch
        self._places = Places()
        self.attendance = Attendance(self._last_waiter_left)
        self._taken: set[str] = set()
        self._is_noting = False
        self._listeners: list[Callable[[Call], None]] = []
        self._is_closed = False
        spine.on(Told, self._tell)

    def on_change(self, listener: Callable[[Call], None]) -> None:
        """Call `listener` with every call that moved."""
        self._listeners.append(listener)

    def close(self) -> None:
        """Admit nothing more: the gateway stops."""
        self._is_closed = True

    def place(self, session: AgentSession) -> AbstractContextManager[None]:
        """A place to wait in for one request of `session`, taken before anything is done for it.

        Raises:
            GatewayError: `busy`, all of its places are taken.
        """
        return self._places.one(session.id, self._live.world.configuration.limits.waiting_per_session)

    async def submit(self, request: CallRequest) -> tuple[Outcome, Waiter]:
        """Admit `request`, or find the call it already is, and start what may start.

        The returned waiter is the caller's: it must `wait`, `leave` or be hung up.

        Raises:
            GatewayError: the request is refused; nothing of it is kept but the audit record.
        """
        if self._is_closed:
            raise GatewayError(ErrorCode.BUSY, "the gateway is shutting down; try again")
        began = time.perf_counter()
        plan = await self._planner.plan(request)
        self._watch.decided(plan.resolved.entry.decision if plan.resolved else None, plan.refusal)
        waiter = self.attendance.join(plan.ref)
        landed: list[Admission] = []
        try:
            admission = await self._admit(plan, landed)
            if isinstance(admission, Admitted) and admission.call.ref != plan.ref:
                admission = await self._catch_up(admission, waiter)
        except asyncio.CancelledError:
            # The commit goes on without its caller: what it makes is an orphan, not a call nobody waits for.
            self._spine.spawn(self._abandon(plan, waiter, landed))
            raise
        except BaseException:
            self.attendance.leave(waiter)
            self._vault.drop(plan.ref)
            raise
        if isinstance(admission, Refused):
            self.attendance.leave(waiter)
            admission.error.is_audited = True
            self._watch.refused(request.entry, admission.error)
            this_request().code = admission.error.code.wire
            raise admission.error
        call = admission.call
        if admission.replayed:
            self._watch.replayed()
        else:
            self._watch.admitted(call, time.perf_counter() - began)
        for listener in self._listeners:
            listener(call)
        return Outcome(call=call, result=admission.result, replayed=admission.replayed), waiter

    async def rejoin(self, ref: str) -> tuple[Outcome, Waiter]:
        """Find a call that its person asks for again, by the gateway's own name of it; what a repeated request is told.

        The returned waiter is the caller's, as that of `submit`.
        """
        waiter = self.attendance.join(ref)
        now = self._clock.now()

        def work(tx: Tx) -> After:
            call = tx.calls.find(ref)
            if call is None:
                raise GatewayError(ErrorCode.UNKNOWN_CALL, "the call is forgotten")
            return replayed(tx, call, now, None)

        try:
            found: Admitted = await self._spine.run(work)
        except BaseException:
            self.attendance.leave(waiter)
            raise
        self._watch.replayed()
        return Outcome(call=found.call, result=found.result, replayed=True), waiter

    async def _catch_up(self, found: Admitted, waiter: Waiter) -> Admitted:
        """Wait for a call that was there before, from its present state on."""
        self.attendance.move(waiter, found.call.ref)
        if is_finished(found.call):
            return found
        now = self._clock.now()

        def work(tx: Tx) -> After:
            call = tx.calls.find(found.call.ref)
            assert call is not None
            effects: tuple[Effect, ...] = ()
            if call.is_orphaned and call.state.is_undispatched:
                call, effects = rearm(tx, call, now)
            return After(replace(found, call=call, result=tx.calls.result_of(call.ref)), effects)

        # What it did between the commit and the move was told to others only.
        return await self._spine.run(work)

    async def _abandon(self, plan: Plan, waiter: Waiter, landed: list[Admission]) -> None:
        """Hang up for a caller that left while its request was admitted: `landed` tells what it became."""
        try:
            # Behind the admission in the store's queue.
            await self._spine.run(lambda _: After(None))
        finally:
            admission = landed[0] if landed else None
            if isinstance(admission, Admitted) and admission.call.ref != waiter.ref:
                self.attendance.move(waiter, admission.call.ref)
            if not isinstance(admission, Admitted) or admission.replayed:
                self._vault.drop(plan.ref)
            self.attendance.hang_up(waiter)

    async def wait(self, outcome: Outcome, waiter: Waiter, seconds: float) -> Outcome:
        """The call's newest state, as soon as it is finished (terminal or `unknown`) or after `seconds`."""
        until = time.monotonic() + seconds
        while not is_finished(outcome.call):
            remaining = until - time.monotonic()
            news = await waiter.next_news(max(0.0, remaining))
            if news is None:
                break
            outcome = replace(outcome, call=news.call, result=news.result)
        return outcome

    async def status(self, session: AgentSession, name: str) -> tuple[Outcome, Waiter]:
        """Find one call by `ref` or own call_id, for the session that made it or an equal one.

        Raises:
            GatewayError: `unknown_call`, the same for a call that is not the asker's.
        """
        now = self._clock.now()

        def find(tx: Tx) -> After:
            call = self._visible(tx, session, name)
            effects: tuple[Any, ...] = ()
            if call.is_orphaned and call.state.is_undispatched:
                call, effects = rearm(tx, call, now)
            return After(Outcome(call=call, result=tx.calls.result_of(call.ref)), effects)

        outcome: Outcome = await self._spine.run(find)
        waiter = self.attendance.join(outcome.call.ref)
        # The call may have moved between the read and the joining: read once more.
        if not is_finished(outcome.call):
            outcome = await self._spine.run(find)
        return outcome, waiter

    async def with_receipt(self, outcome: Outcome) -> Outcome:
        """The same, with the newest receipt of a mini app's call that is not finished (rules F1)."""
        call = outcome.call
        if call.app is None or is_finished(call):
            return outcome
        receipts = await self._spine.store.run(lambda tx: tx.calls.receipts_of(call.ref))
        return replace(outcome, receipt=receipts[-1])

    async def cancel(self, session: AgentSession, name: str) -> Outcome:
        """End an undispatched call at once; of dispatched work it is a request (design §3).

        Raises:
            GatewayError: `unknown_call`.
        """
        now = self._clock.now()

        def work(tx: Tx) -> After:
            call = self._visible(tx, session, name)
            if call.state.is_undispatched:
                ended, effects = end(tx, call, CallEvent.CANCEL, now, ErrorCode.CANCELLED, "cancelled by its caller")
                reach(Point.CANCEL_WRITTEN)
                return After(Outcome(call=ended), effects)
            if call.state is CallState.DISPATCHED and not call.cancel_requested:
                asked = request_cancel(tx, call, now)
                return After(Outcome(call=asked), (CancelWork(call=asked),))
            return After(Outcome(call=call, result=tx.calls.result_of(call.ref)))

        return await self._spine.run(work)

    async def hand_out(self, ref: str) -> Call:
        """Note that a pending answer (or a task) was given: from now on a hang-up does not orphan the call."""

        def work(tx: Tx) -> After:
            call = tx.calls.find(ref)
            assert call is not None
            if call.handed_out or is_finished(call):
                return After(call)
            handed = replace(call, handed_out=True)
            tx.calls.save(handed, was=call.state)
            reach(Point.HANDED_OUT)
            return After(handed)

        return await self._spine.run(work)

    def take(self, call: Call) -> None:
        """Note that the final result reached its caller; stored soon, in one transaction with others."""
        if not is_finished(call) or call.taken:
            return
        self._taken.add(call.ref)
        reach(Point.TAKEN_NOTED)
        if not self._is_noting:
            self._is_noting = True
            self._spine.spawn(self._store_taken())

    async def _store_taken(self) -> None:
        # What a failing store does not take stays noted here, and goes with what is taken next.
        await self._clock.sleep_until(self._clock.now() + TAKEN_MS)
        self._is_noting = False
        refs = frozenset(self._taken)
        erase_at = self._clock.now() + self._live.world.configuration.limits.taken_result_ms

        def work(tx: Tx) -> None:
            tx.calls.mark_taken(refs, erase_at=erase_at)
            reach(Point.TAKEN_WRITTEN)

        await self._spine.store.run(work)
        self._taken -= refs

    # -- admitting -------------------------------------------------------------------------------------

    async def _admit(self, plan: Plan, landed: list[Admission]) -> Admission:
        now = self._clock.now()
        plan = self._planner.held_to_rate(plan)
        if plan.keep_in_memory:
            self._vault.put(plan.ref, plan.arguments)

        def work(tx: Tx) -> After:
            after = admit(tx, self._live.world, plan, now, is_attended=self._is_attended_by_others(plan.ref))
            landed[:] = [after.value]
            return after

        reach(Point.REQUEST_PLANNED)
        try:
            admission: Admission = await self._spine.run(work)
        except GatewayError as refusal:
            await self._spine.run(partial(self._audit_refusal, plan=plan, now=now, error=refusal))
            admission = Refused(error=refusal)
        reach(Point.ADMISSION_COMMITTED)
        if isinstance(admission, Refused) or admission.replayed or admission.call.state.is_terminal:
            self._vault.drop(plan.ref)
        session = plan.request.caller
        if isinstance(session, AgentSession) and plan.baseline is not None and _counts_as_told(admission):
            self._inventories.remember(session, plan.baseline, stale=plan.stale)
        return admission

    def _is_attended_by_others(self, own: str) -> Callable[[str], bool]:
        return lambda ref: ref != own and (self.attendance.has_waiter(ref) or ref in self._taken)

    def _audit_refusal(self, tx: Tx, *, plan: Plan, now: int, error: GatewayError) -> After:
        tx.audit.append(record_of(plan, error, now))
        return After(None)

    # -- waiting ------------------------------------------------------------------------------------------

    def _tell(self, effect: Told) -> None:
        if effect.progress is None:
            self._watch.told(effect.call)
        if is_finished(effect.call) and not effect.call.state.is_undispatched:
            self._vault.drop(effect.call.ref)
        self.attendance.tell(News(call=effect.call, result=effect.result, progress=effect.progress))
        reach(Point.WAITERS_WOKEN)
        for listener in self._listeners:
            listener(effect.call)

    def _last_waiter_left(self, ref: str) -> None:
        reach(Point.HANG_UP_SEEN)
        self._spine.spawn(self._orphan(ref))

    async def _orphan(self, ref: str) -> None:
        now = self._clock.now()

        def work(tx: Tx) -> After:
            call = tx.calls.find(ref)
            if call is None or call.handed_out or not call.state.is_undispatched:
                return After(None)
            if call.is_orphaned or self.attendance.has_waiter(ref):
                return After(None)
            orphaned = replace(call, orphaned_at=now)
            tx.calls.save(orphaned, was=call.state)
            tx.audit.append(audit.of_call(AuditEvent.CALL_ORPHANED, orphaned, now))
            reach(Point.ORPHAN_MARKED)
            return After(None, self._approvals.greyed(tx, orphaned))

        await self._spine.insist(partial(self._spine.run, work))

    def _visible(self, tx: Tx, session: AgentSession, name: str) -> Call:
        call = None
        # No call has a NUL in its name, and one of the stores cannot be asked for one.
        if "\0" not in name:
            call = tx.calls.find(name) or tx.calls.find_by_key(session.agent, session.user, Entry.AGENT_TOOL, name)
        if call is None or not may_see(session, call):
            raise GatewayError(ErrorCode.UNKNOWN_CALL, f"call `{name[:80]}` is not known here")
        return call


def _counts_as_told(admission: Admission) -> bool:
    # Only the answer that holds the new description tells it; a replay or another refusal does not.
    if isinstance(admission, Refused):
        return admission.error.code is ErrorCode.STALE_INVENTORY
    return not admission.replayed


def is_finished(call: Call) -> bool:
    """Whether its caller has something final to read: terminal, or `unknown`."""
    return call.state.is_terminal or call.state is CallState.UNKNOWN
