"""One thing a worker is to do or does, a job or a hook, and what its end means. Knows nothing of processes."""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gateway.adapters.executors.frames import RESULT_BYTES
from gateway.adapters.executors.messages import Failed, Result, Why
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode
from gateway.domain.workers import Asker, Conversation, Ending, HookFailure, HookFault, Job, Loss


class Hook(StrEnum):
    """The hooks of an app."""

    ACTIVATE = "activate"
    DEACTIVATE = "deactivate"


class Stop(StrEnum):
    """Why a handler was told to stop."""

    TIME = "time"
    CALLER = "caller"
    APP = "app"


@dataclass(eq=False, kw_only=True)
class Work:
    """A job or a hook, from the moment it is asked for to its end. `until` is when its time is up (ms)."""

    id: str
    app: str
    conversation: Conversation
    until: int
    job: Job | None = None
    hook: Hook | None = None
    stop: Stop | None = None
    timer: "asyncio.Task[None] | None" = None
    asking: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])
    failure: HookFailure | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def asker(self) -> Asker:
        """In whose name it asks the gateway for things."""
        return Asker(app=self.app, conversation=self.conversation, ref=self.job.ref if self.job else None)

    def needs(self, conversation: Conversation) -> bool:
        """Whether it needs the app to be active in `conversation`, or makes it so."""
        is_about = self.hook is not None or (self.job is not None and self.job.is_app_ready)
        return is_about and self.conversation == conversation

    def end(self) -> None:
        """It is over: nobody is timed, and nothing is looked up for it any more."""
        for task in (self.timer, *self.asking):
            if task is not None:
                task.cancel()
        self.over.set()


_STOPPED: Final = {
    Stop.TIME: (ErrorCode.DEADLINE_EXCEEDED, "stopped when its time was up"),
    Stop.CALLER: (ErrorCode.CANCELLED, "stopped at its caller's request"),
    Stop.APP: (ErrorCode.NOT_AVAILABLE, "stopped because its app is being stopped; try again"),
}


def ending_of(job: Job, stop: Stop | None, message: Result | Failed) -> Ending | Loss:
    """What the worker's last word on a job means."""
    if isinstance(message, Result):
        text = canonical(message.output)
        if len(text) > RESULT_BYTES:
            return _error(f"the result is larger than {RESULT_BYTES} bytes")
        return Ending(output=text.decode())
    match message.why:
        case Why.MEANT | Why.TOO_LARGE:
            return _error(message.message)
        case Why.RAISED:
            return _error(f"`{job.method}` failed; see the gateway's log")
        case Why.NO_HANDLER:
            return Ending(code=ErrorCode.NOT_AVAILABLE, message=f"the app has no handler for `{job.method}`")
        case Why.STOPPED if stop is not None:
            code, words = _STOPPED[stop]
            return Ending(code=code, message=words)
        case Why.STOPPED:
            return _error(f"`{job.method}` gave up, though nobody had asked it to")
        case Why.INTERRUPTED:
            return Loss.STOPPED if stop is Stop.APP else Loss.OVERRAN


def _error(message: str) -> Ending:
    return Ending(code=ErrorCode.HANDLER_ERROR, message=message)


def failure_of(hook: Hook, message: Result | Failed) -> HookFailure | None:
    """What the worker's last word on a hook means."""
    if isinstance(message, Result):
        return None
    if message.why in (Why.STOPPED, Why.INTERRUPTED):
        return HookFailure(fault=HookFault.TIMEOUT, message=f"the `{hook}` hook of the app did not end in time")
    return HookFailure(fault=HookFault.RAISED, message=message.message or f"the `{hook}` hook of the app failed")
