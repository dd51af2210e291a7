"""`Workers` without processes: handlers run as tasks of the test's own loop, and `crash` stands for a dead worker."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from capabilities.contract import (
    AgentTools,
    ContextError,
    HandlerFailed,
    HandlerStopped,
    HttpResponse,
    NoAppSession,
    NotPermitted,
    RequestFailed,
    SessionConflict,
    SessionSnapshot,
    TooMuch,
)
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import (
    Asker,
    Conversation,
    Denial,
    Ending,
    HookFailure,
    HookFault,
    Job,
    Loss,
    Outbound,
    ServiceDenied,
    WorkerLoad,
    WorkerState,
)
from gateway.runtime.ports import Clock, HandlerServices, WorkerNews
from gateway.settings import MIB, Limits

RESULT_BYTES: Final = 1 * MIB

_ERRORS: Final = {
    Denial.NOT_PERMITTED: NotPermitted,
    Denial.NO_APP_SESSION: NoAppSession,
    Denial.TOO_MUCH: TooMuch,
    Denial.REQUEST_FAILED: RequestFailed,
    Denial.REFUSED: ContextError,
}

_STOPPED: Final = {
    "time": Ending(code=ErrorCode.DEADLINE_EXCEEDED, message="stopped when its time was up"),
    "caller": Ending(code=ErrorCode.CANCELLED, message="stopped at its caller's request"),
    "app": Ending(code=ErrorCode.NOT_AVAILABLE, message="stopped because its app is being stopped; try again"),
}


class _Context:
    """`HandlerContext` straight over `HandlerServices`; also its own `session` and `http`."""

    def __init__(self, house: "FakeWorkers", asker: Asker) -> None:
        self._house = house
        self._asker = asker
        self.ref = asker.ref or ""
        self.cancelled = asyncio.Event()
        self.session = self
        self.http = self

    async def _ask(self, asked: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await asked
        except ServiceDenied as denied:
            if denied.denial is Denial.CONFLICT:
                raise SessionConflict(denied.revision) from None
            raise _ERRORS[denied.denial](denied.message) from None

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._house.clock.now() / 1_000, UTC)

    async def progress(self, n: float, total: float | None = None, message: str | None = None) -> None:
        self._house.news.progressed(self.ref, n, total, message)

    async def secret(self, name: str) -> str:
        return await self._ask(self._house.services.secret(self._asker, name))

    async def emit(self, type: str, data: Mapping[str, Any]) -> None:  # noqa: A002 - the word of the contract
        await self._ask(self._house.services.emit(self._asker, type, orjson.dumps(dict(data)).decode()))

    async def get(self) -> SessionSnapshot:
        kept = await self._ask(self._house.services.session_data(self._asker))
        return SessionSnapshot(revision=kept.revision, data=orjson.loads(kept.data))

    async def put(self, data: Mapping[str, Any], *, revision: int) -> int:
        text = orjson.dumps(dict(data)).decode()
        return await self._ask(self._house.services.put_session_data(self._asker, text, revision=revision))

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        body: bytes | None = None,
        timeout_ms: int | None = None,
    ) -> HttpResponse:
        sent = orjson.dumps(json) if json is not None else body or b""
        named = {name.lower(): value for name, value in (headers or {}).items()}
        if json is not None:
            named.setdefault("content-type", "application/json")
        wanted = Outbound(
            method=method.upper(),
            url=url,
            headers=tuple(named.items()),
            body=sent,
            within_ms=min(timeout_ms or 10_000, 10_000),
        )
        answer = await self._ask(self._house.services.http(self._asker, wanted))
        return HttpResponse(status=answer.status, headers=dict(answer.headers), body=answer.body)


@dataclass(eq=False)
class _Doing:
    """A job under way, or one that waits (`context` None)."""

    job: Job
    timer: "asyncio.Task[None]"
    context: _Context | None = None
    task: "asyncio.Task[None] | None" = None
    why: str | None = None


@dataclass(eq=False)
class _App:
    """What one app has to do."""

    tools: AgentTools
    source: tuple[Path, str]
    waiting: dict[str, _Doing] = field(default_factory=dict[str, _Doing])
    held: dict[str, _Doing] = field(default_factory=dict[str, _Doing])
    active: set[Conversation] = field(default_factory=set[Conversation])
    activating: "dict[Conversation, asyncio.Task[HookFailure | None]]" = field(
        default_factory=dict[Conversation, "asyncio.Task[HookFailure | None]"]
    )


class FakeWorkers:
    """`apps` are the declarations by app id; folders and modules are taken as given and not looked at."""

    def __init__(self, clock: Clock, apps: Mapping[str, AgentTools]) -> None:
        self.clock = clock
        self._declared = apps
        self._apps: dict[str, _App] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self.news: WorkerNews
        self.services: HandlerServices
        self._limits: Callable[[], Limits] = Limits

    def connect(self, news: WorkerNews, services: HandlerServices, limits: Callable[[], Limits]) -> None:
        self.news, self.services, self._limits = news, services, limits

    def start(self, app: str, folder: Path, module: str) -> None:
        known = self._apps.get(app)
        if known is not None and known.source == (folder, module):
            return
        if known is not None:
            self._end(known)
        self._apps[app] = _App(self._declared[app], (folder, module))

    async def stop(self, app: str) -> None:
        known = self._apps.get(app)
        if known is None:
            return
        for doing in tuple(known.waiting.values()):
            self._drop(known, doing, Ending(code=ErrorCode.NOT_AVAILABLE, message="the app was stopped; try again"))
        held = [doing.task for doing in known.held.values() if doing.task is not None]
        if held:
            drained = asyncio.ensure_future(self.clock.sleep_until(self.clock.now() + self._limits().drain_ms))
            await asyncio.wait({drained, asyncio.ensure_future(asyncio.wait(held))}, return_when="FIRST_COMPLETED")
        self._apps.pop(app, None)
        self._end(known)

    def crash(self, app: str) -> None:
        """The worker of `app` dies and is begun again."""
        known = self._apps[app]
        self._lose(known, Loss.CRASHED)
        self.news.worker_ended(app, Loss.CRASHED)
        self._give(known)

    def state(self, app: str) -> WorkerState:
        return WorkerState.RUNNING if app in self._apps else WorkerState.STOPPED

    def load(self) -> WorkerLoad:
        apps = self._apps.values()
        return WorkerLoad(
            running=len(apps), held=sum(len(a.held) for a in apps), waiting=sum(len(a.waiting) for a in apps)
        )

    def submit(self, job: Job) -> None:
        app, limits = self._apps.get(job.app), self._limits()
        if app is None:
            self.news.ended(job.ref, Ending(code=ErrorCode.NOT_AVAILABLE, message="the app is stopped; try again"))
        elif len(app.waiting) >= limits.app_queue and len(app.held) >= limits.app_jobs:
            self.news.ended(job.ref, Ending(code=ErrorCode.BUSY, message="too many calls wait; try again"))
        else:
            until = self.clock.now() + job.within_ms
            app.waiting[job.ref] = _Doing(job, self._spawn(self._time(app, job.ref, until)))
            self._give(app)

    def cancel(self, ref: str) -> None:
        for app in self._apps.values():
            if (doing := app.waiting.get(ref)) is not None:
                self._drop(app, doing, Ending(code=ErrorCode.CANCELLED, message="stopped before it ran"))
            elif (doing := app.held.get(ref)) is not None:
                _stop(doing, "caller")

    async def activate(self, app: str, conversation: Conversation, *, within_ms: int) -> HookFailure | None:
        known = self._apps.get(app)
        if known is None:
            return HookFailure(fault=HookFault.NOT_AVAILABLE, message="the app is not started")
        return await asyncio.shield(self._activation(known, conversation, within_ms))

    async def deactivate(self, app: str, conversation: Conversation, *, within_ms: int) -> HookFailure | None:
        known = self._apps.get(app)
        if known is None or conversation not in known.active:
            return None
        for doing in tuple(known.waiting.values()):
            if doing.job.is_app_ready and doing.job.conversation == conversation:
                closing = Ending(code=ErrorCode.NOT_AVAILABLE, message="its app is being closed; try again")
                self._drop(known, doing, closing)
        there = [d for d in known.held.values() if d.job.is_app_ready and d.job.conversation == conversation]
        if there:
            await asyncio.wait([doing.task for doing in there if doing.task is not None])
        known.active.discard(conversation)
        return await self._hook(known, conversation, known.tools.deactivate, within_ms)

    async def close(self) -> None:
        for app in self._apps.values():
            self._end(app)
        self._apps.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- what happens beside ----------------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _activation(
        self, app: _App, conversation: Conversation, within_ms: int
    ) -> "asyncio.Task[HookFailure | None]":
        async def activate() -> HookFailure | None:
            if conversation in app.active:
                return None
            failure = await self._hook(app, conversation, app.tools.activate, within_ms)
            del app.activating[conversation]
            if failure is None:
                app.active.add(conversation)
            else:
                self._fail(app, conversation, failure)
            self._give(app)
            return failure

        if conversation not in app.activating:
            app.activating[conversation] = self._spawn(activate())
        return app.activating[conversation]

    async def _hook(
        self,
        app: _App,
        conversation: Conversation,
        hook: Callable[[Any], Coroutine[Any, Any, None]],
        within_ms: int,
    ) -> HookFailure | None:
        context = _Context(self, Asker(app=app.tools.app, conversation=conversation, ref=None))
        running = self._spawn(hook(context))
        timing = self._spawn(self.clock.sleep_until(self.clock.now() + within_ms))
        await asyncio.wait({running, timing}, return_when="FIRST_COMPLETED")
        timing.cancel()
        if not running.done():
            context.cancelled.set()
            running.cancel()
            return HookFailure(fault=HookFault.TIMEOUT, message="the hook of the app did not end in time")
        if running.cancelled():
            return HookFailure(fault=HookFault.NOT_AVAILABLE, message="the app's worker ended")
        error = running.exception()
        return None if error is None else HookFailure(fault=HookFault.RAISED, message=str(error))

    def _fail(self, app: _App, conversation: Conversation, failure: HookFailure) -> None:
        ending = Ending(code=ErrorCode.APP_ACTIVATION_FAILED, message=failure.message)
        for doing in tuple(app.waiting.values()):
            if doing.job.is_app_ready and doing.job.conversation == conversation:
                self._drop(app, doing, ending)

    def _give(self, app: _App) -> None:
        for doing in tuple(app.waiting.values()):
            if doing.job.is_app_ready and doing.job.conversation not in app.active:
                self._activation(app, doing.job.conversation, 10_000)
            elif len(app.held) < self._limits().app_jobs:
                app.held[doing.job.ref] = app.waiting.pop(doing.job.ref)
                asker = Asker(app=app.tools.app, conversation=doing.job.conversation, ref=doing.job.ref)
                doing.context = _Context(self, asker)
                doing.task = self._spawn(self._do(app, doing, doing.context))

    async def _do(self, app: _App, doing: _Doing, context: _Context) -> None:
        job = doing.job
        self.news.started(job.ref)
        try:
            text = canonical(await app.tools.run(job.method, orjson.loads(job.arguments), context))
            ending = Ending(output=text.decode())
            if len(text) > RESULT_BYTES:
                ending = Ending(code=ErrorCode.HANDLER_ERROR, message="the result is larger than 1048576 bytes")
        except asyncio.CancelledError:
            if app.held.pop(job.ref, None) is not None:
                self.news.lost(job.ref, Loss.OVERRAN)
                self._give(app)
            return
        except HandlerStopped:
            ending = _STOPPED[doing.why] if doing.why else Ending(code=ErrorCode.HANDLER_ERROR, message="gave up")
        except HandlerFailed as error:
            ending = Ending(code=ErrorCode.HANDLER_ERROR, message=str(error))
        except Exception:  # noqa: BLE001 - whatever a handler raises is its call's failure
            ending = Ending(code=ErrorCode.HANDLER_ERROR, message=f"`{job.method}` failed; see the gateway's log")
        if app.held.pop(job.ref, None) is not None:
            doing.timer.cancel()
            self.news.ended(job.ref, ending)
            self._give(app)

    async def _time(self, app: _App, ref: str, until: int) -> None:
        await self.clock.sleep_until(until)
        if (doing := app.waiting.get(ref)) is not None:
            message = "its time was over before its worker was free; it did not run"
            self._drop(app, doing, Ending(code=ErrorCode.NOT_DELIVERED, message=message))
        elif (doing := app.held.get(ref)) is not None:
            _stop(doing, "time")
            await self.clock.sleep_until(until + self._limits().app_kill_ms // 2)
            if doing.task is not None:
                doing.task.cancel()

    def _drop(self, app: _App, doing: _Doing, ending: Ending) -> None:
        del app.waiting[doing.job.ref]
        doing.timer.cancel()
        self.news.ended(doing.job.ref, ending)

    def _lose(self, app: _App, why: Loss) -> None:
        held, app.held = tuple(app.held.values()), {}
        for activation in app.activating.values():
            activation.cancel()
        app.activating.clear()
        app.active.clear()
        for doing in held:
            doing.timer.cancel()
            if doing.task is not None:
                doing.task.cancel()
            self.news.lost(doing.job.ref, why)

    def _end(self, app: _App) -> None:
        for doing in tuple(app.waiting.values()):
            self._drop(app, doing, Ending(code=ErrorCode.NOT_AVAILABLE, message="the app was stopped; try again"))
        self._lose(app, Loss.STOPPED)


def _stop(doing: _Doing, why: str) -> None:
    doing.why = doing.why or why
    if doing.context is not None:
        doing.context.cancelled.set()
