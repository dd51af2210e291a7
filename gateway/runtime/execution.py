"""Hands dispatched work to its one executor and takes the answer back: a page, a worker, or a runtime built-in."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

import orjson

from capabilities.contract import Computation, Descriptor, Handler, HandlerKind
from gateway.domain.calls import Call, CallState, ReceiptStatus
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode
from gateway.failpoints import Point, reach
from gateway.runtime.app_record import noted_start
from gateway.runtime.computing import computed, failed
from gateway.runtime.effects import After, CancelWork, Execute, Receipted, Told
from gateway.runtime.genui import parted
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.settlement import Answer, PageRefusal, judged, not_delivered, settle
from gateway.runtime.spine import Spine
from gateway.runtime.surface_events import is_waiting
from gateway.runtime.telemetry import CallWatch
from gateway.runtime.validators import broken_promise, validator_of
from gateway.runtime.workers import Reports, WorkerCalls
from gateway.runtime.world import Live

ON_PAGE_MAX: Final = 4_096
"""Calls on pages remembered at once; the store knows the others."""

STARTED_SECONDS: Final = 0.2
"""How long a `started` may wait to be stored together with the result."""


class PageLink(Protocol):
    """How work reaches a page; only the live document at `epoch` may get it."""

    def invoke(self, call: Call, arguments: str) -> bool:
        """Write the invoke frame; False when that document is not connected."""
        ...

    def cancel(self, call: Call) -> None:
        """Ask the document to stop."""
        ...


class FrameExecutor(Protocol):
    """How work reaches the bundle of a mini app on a page."""

    def invoke(self, call: Call, arguments: str, instance: str) -> bool:
        """Hand it to the frame of `instance`; False when its document is not connected."""
        ...

    def cancel(self, call: Call) -> None:
        """Ask the frame to stop."""
        ...


class OperationCanceller(Protocol):
    """Who stops what the runtime carries itself."""

    async def cancel(self, call: Call) -> None:
        """End the operation of `call`, or its wait, as cancelled."""
        ...


@dataclass(frozen=True, slots=True)
class _OnPage:
    """A call handed to a page, with what its answer is judged by: the declaration, or the promise kept in the store."""

    call: Call
    declared: Descriptor | None = None
    promise: str | None = None


@dataclass(frozen=True, slots=True)
class BuiltinContext:
    """What a runtime built-in may touch."""

    ref: str
    execution: "Execution"
    call: Call

    async def progress(self, n: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the waiters; a cancelled handler is interrupted here at the latest."""
        self.execution.progressed(self.call, n, total, message)
        await asyncio.sleep(0)


class Execution:
    """Executors by handler kind, and the one way an answer becomes a settlement."""

    def __init__(
        self,
        *,
        spine: Spine,
        live: Live,
        clock: Clock,
        handlers: Mapping[str, Handler],
        workers: WorkerCalls,
        watch: CallWatch,
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._handlers = handlers
        self._workers = workers
        self._watch = watch
        self._running: dict[str, asyncio.Task[None]] = {}
        self._pages: PageLink | None = None
        self._frames: FrameExecutor | None = None
        self._operations: OperationCanceller | None = None
        self._waits: OperationCanceller | None = None
        self._on_page: dict[str, _OnPage] = {}
        self._started: dict[str, int] = {}
        self._is_storing = False
        workers.report_to(Reports(self._note_started, self.progressed, self._answered_by_worker))
        spine.on(Execute, self._execute)
        spine.on(CancelWork, self._cancel)

    def connect_pages(self, pages: PageLink) -> None:
        """Give it the way to pages."""
        self._pages = pages

    def connect_apps(self, frames: FrameExecutor, operations: OperationCanceller) -> None:
        """Give it the way to mini apps."""
        self._frames = frames
        self._operations = operations

    def connect_waits(self, waits: OperationCanceller) -> None:
        """Give it the way to calls that wait for what happens in surfaces."""
        self._waits = waits

    def progressed(self, call: Call, n: float, total: float | None, message: str | None) -> None:
        """Tell waiters how far a running call is; never stored, never a result."""
        text = message or (f"{n:g} of {total:g}" if total is not None else f"{n:g}")
        self._spine.perform(Told(call=call, progress=text[:200]))
        reach(Point.PROGRESS_TOLD)

    async def answer(
        self,
        call: Call,
        answer: Answer,
        *,
        declared: Descriptor | None = None,
        promise: str | None = None,
        page: str | None = None,
        epoch: int | None = None,
    ) -> bool:
        """Judge and record an executor's answer; False when it was dropped.

        `declared` is the declaration the call was dispatched under, if its executor still knows it; `promise`
        the output schema kept with the call, if it does not.
        """
        self._watch.answered(call.ref)
        if call.app is not None:
            answer = parted(answer)
        violation = None
        if answer.code is None and answer.output is not None:
            violation = self._violation(call, orjson.loads(answer.output), declared, promise)
        final = judged(answer, violation, call.capability)
        limits = self._live.world.configuration.limits

        started = self._started.pop(call.ref, None)
        reach(Point.RESULT_JUDGED)

        def work(tx: Tx) -> After:
            if started is not None:
                _store_start(tx, call.ref, started)
            ended, effects = settle(
                tx, call.ref, final, self._clock.now(), result_ms=limits.result_ms, page=page, epoch=epoch
            )
            return After(ended is not None, effects)

        is_taken = await self._spine.run(work)
        reach(Point.SETTLEMENT_COMMITTED)
        return is_taken

    def _violation(self, call: Call, output: object, declared: Descriptor | None, promise: str | None) -> str | None:
        if promise is not None:
            return broken_promise(promise, output)
        descriptor = declared or self._descriptor(call)
        return None if descriptor is None else validator_of(descriptor).output_violation(output)

    # -- what a page says of its work -------------------------------------------------------------------------

    async def answered_by_page(
        self, page: str, epoch: int, ref: str, answer: Answer, *, span: str = ""
    ) -> bool | None:
        """Judge and record what the document at `epoch` says came of `ref`; `span` is where in a trace it ran there.

        False when it was dropped, None when that document never had such a call.
        """
        reach(Point.RESULT_RECEIVED)
        handed = await self._handed(page, epoch, ref)
        if handed is None:
            return None
        self._watch.ran_in(ref, span)
        is_taken = await self.answer(
            handed.call, answer, declared=handed.declared, promise=handed.promise, page=page, epoch=epoch
        )
        self._on_page.pop(ref, None)
        return is_taken

    async def refused_by_page(
        self, page: str, epoch: int, ref: str, code: ErrorCode, why: PageRefusal
    ) -> bool | None:
        """The document did not run dispatched work: `not_available`, or it counts as not delivered.

        False when it is not dispatched, None when that document never had such a call.
        """
        if await self._handed(page, epoch, ref) is None:
            return None
        self._on_page.pop(ref, None)

        def work(tx: Tx) -> After:
            row, now = tx.calls.find(ref), self._clock.now()
            if row is None or row.state is not CallState.DISPATCHED:
                return After(False)
            message = why.told(tx, ref)
            if code is ErrorCode.NOT_AVAILABLE:
                refused = Answer(code=code, message=message)
                return After(True, settle(tx, ref, refused, now, result_ms=0, page=page, epoch=epoch)[1])
            return After(True, not_delivered(tx, row, now, message)[1])

        return await self._spine.run(work)

    async def progressed_on_page(
        self, page: str, epoch: int, ref: str, n: float, total: float | None, message: str | None
    ) -> bool:
        """Tell waiters how far the document is with `ref`; False when it is not running there."""
        handed = await self._handed(page, epoch, ref)
        if handed is None or handed.call.state is not CallState.DISPATCHED:
            return False
        self.progressed(handed.call, n, total, message)
        return True

    def started_on_page(self, page: str, epoch: int, ref: str, *, span: str = "") -> None:
        """Note that the handler is about to run; stored with the result, or a moment later without one."""
        handed = self._on_page.get(ref)
        if handed is None or (handed.call.page, handed.call.epoch) != (page, epoch):
            return
        self._watch.ran_in(ref, span)
        self._note_started(ref)

    def _note_started(self, ref: str) -> None:
        self._started.setdefault(ref, self._clock.now())
        reach(Point.STARTED_NOTED)
        # A commit of its own, now, would stand between a quick handler's result and its caller.
        if not self._is_storing:
            self._is_storing = True
            self._spine.spawn(self._store_started())

    async def _answered_by_worker(self, call: Call, answer: Answer, declared: Descriptor) -> bool:
        return await self.answer(call, answer, declared=declared)

    async def _store_started(self) -> None:
        await asyncio.sleep(STARTED_SECONDS)
        self._is_storing = False
        started, self._started = self._started, {}

        def work(tx: Tx) -> After:
            stored = [_store_start(tx, ref, at) for ref, at in started.items()]
            reach(Point.STARTED_STORED)
            return After(None, (Receipted(calls=tuple(call for call in stored if call is not None)),))

        if started:
            await self._spine.insist(partial(self._spine.run, work))

    async def _handed(self, page: str, epoch: int, ref: str) -> _OnPage | None:
        """The call the document at `epoch` was handed: from memory, after a restart from the store."""

        def find(tx: Tx) -> _OnPage | None:
            call = tx.calls.find(ref)
            # A page may have declared nothing yet, or something else by now; the promise was made before.
            return None if call is None else _OnPage(call, promise=tx.calls.promise_of(ref))

        handed = self._on_page.get(ref) or await self._spine.store.run(find)
        return None if handed is None or (handed.call.page, handed.call.epoch) != (page, epoch) else handed

    def _descriptor(self, call: Call) -> Descriptor | None:
        descriptor = self._live.world.declared_for(call)
        return descriptor if descriptor and descriptor.fingerprint == call.capability_fingerprint else None

    def _execute(self, effect: Execute) -> None:
        call = effect.call
        self._watch.dispatched(call)
        reach(Point.DISPATCH_COMMITTED)
        declared = self._descriptor(call)
        if declared is not None and declared.handler is HandlerKind.PYTHON:
            self._workers.run(call, declared, effect.arguments)
        elif call.page is None:
            task = asyncio.get_running_loop().create_task(self._run_builtin(call, effect.arguments))
            self._running[call.ref] = task
            task.add_done_callback(lambda _: self._running.pop(call.ref, None))
        elif self._is_handed_over(effect):
            self._remember(call)
            reach(Point.INVOKE_QUEUED)
        else:
            self._spine.spawn(self._undelivered(call))

    def _is_handed_over(self, effect: Execute) -> bool:
        if effect.instance is not None:
            return self._frames is not None and self._frames.invoke(effect.call, effect.arguments, effect.instance)
        return self._pages is not None and self._pages.invoke(effect.call, effect.arguments)

    def _remember(self, call: Call) -> None:
        """Keep what was handed to a page at hand, so that its answer needs no reading first."""
        if len(self._on_page) >= ON_PAGE_MAX:
            del self._on_page[next(iter(self._on_page))]
        self._on_page[call.ref] = _OnPage(call, self._descriptor(call))

    async def _undelivered(self, call: Call) -> None:
        def work(tx: Tx) -> After:
            row = tx.calls.find(call.ref)
            if row is None or row.state is not call.state:
                return After(None)
            message = "the page was gone before the request was written to it"
            return After(None, not_delivered(tx, row, self._clock.now(), message)[1])

        await self._spine.insist(partial(self._spine.run, work))

    def _cancel(self, effect: CancelWork) -> None:
        call = effect.call
        task = self._running.get(call.ref)
        if task is not None:
            task.cancel()
        elif is_waiting(call) and self._waits is not None:
            self._spine.spawn(self._waits.cancel(call))
        elif call.operation is not None and self._operations is not None:
            self._spine.spawn(self._operations.cancel(call))
        elif call.app is not None and call.page is not None and self._frames is not None:
            self._frames.cancel(call)
        elif not self._workers.cancel(call.ref) and self._pages is not None and call.page is not None:
            self._pages.cancel(call)
        reach(Point.CANCEL_QUEUED)

    async def _run_builtin(self, call: Call, arguments: str) -> None:
        declared = self._descriptor(call)
        reach(Point.BUILTIN_BEGUN)
        answer = await self._outcome(call, arguments)
        reach(Point.BUILTIN_ENDED)
        # A page says its answer again; this one is heard once.
        await self._spine.insist(partial(self.answer, call, answer, declared=declared))

    async def _outcome(self, call: Call, arguments: str) -> Answer:
        handler, declared = self._handlers.get(call.capability), self._descriptor(call)
        if handler is None or declared is None:
            return Answer(code=ErrorCode.NOT_AVAILABLE, message=f"`{call.capability}` is not enabled any more")
        if isinstance(handler, Computation):
            return computed(handler, declared, validator_of(declared), arguments, call.ref)
        try:
            output = await handler(orjson.loads(arguments), BuiltinContext(call.ref, self, call))
            return Answer(output=canonical(output).decode())
        except asyncio.CancelledError:
            return Answer(code=ErrorCode.CANCELLED, message="stopped at its caller's request")
        except Exception as error:  # noqa: BLE001 - whatever a handler raises is a failed result, not ours
            return failed(error, call.capability, call.ref)


def _store_start(tx: Tx, ref: str, at: int) -> Call | None:
    """Add the receipt of a start that was noted at `at`; None where its call has ended meanwhile.

    INVARIANT: no receipt follows an end: a conversation that was told the end would hear that it runs again.
    """
    call = tx.calls.find(ref)
    if call is None or call.state is not CallState.DISPATCHED:
        return None
    tx.calls.add_receipt(ref, ReceiptStatus.STARTED, reason=None, at=at)
    noted_start(tx, call, at)
    return call
