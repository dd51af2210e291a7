"""Runs what the gateway asks for, each job and hook as a task of its own, and tells how it ended."""

import asyncio
import sys
import traceback
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final

import orjson

from capabilities.contract import AgentTools, HandlerFailed, HandlerStopped, OutputRefused, TooMuch, UnknownTool
from gateway.adapters.executors.frames import RESULT_BYTES
from gateway.adapters.executors.messages import Why
from gateway.adapters.executors.worker.context import Context, GatewayClock
from gateway.adapters.executors.worker.link import Link
from gateway.domain.canonical import canonical

MESSAGE_MAX: Final = 500
"""Characters of a failure that are told."""


@dataclass(slots=True)
class _Running:
    task: "asyncio.Task[None]"
    context: Context
    is_interrupted: bool = False


class Server:
    """One per process; lives on its event loop."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._tools: AgentTools | None = None
        self._clock = GatewayClock()
        self._running: dict[str, _Running] = {}
        self._ended = asyncio.Event()

    async def run(self, tools: AgentTools) -> None:
        """Say that the app is ready, and work until the gateway says goodbye."""
        self._tools = tools
        self._link.write({"type": "ready"})
        await self._ended.wait()

    def heard(self, frame: dict[str, Any]) -> None:
        """Do what one frame says."""
        self._clock.set(frame["at"])
        match frame["type"]:
            case "run":
                self._begin(frame["id"], self._call(frame["id"], frame["method"], frame["input"]))
            case "hook":
                self._begin(frame["id"], self._hook(frame["id"], frame["hook"]))
            case "stop" | "interrupt" as kind:
                self._stop(frame["id"], interrupt=kind == "interrupt")
            case "told" | "denied":
                self._link.answered(frame)
            case _:
                # What still runs is cut off, which is no failure of its own.
                for running in self._running.values():
                    running.is_interrupted = True
                self._ended.set()

    def _begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._running[name] = _Running(task, Context(self._link, self._clock, name))
        task.add_done_callback(lambda _: self._running.pop(name, None))

    def _stop(self, name: str, *, interrupt: bool) -> None:
        running = self._running.get(name)
        if running is None:
            return
        running.context.cancelled.set()
        if interrupt:
            running.is_interrupted = True
            running.task.cancel()

    async def _call(self, name: str, method: str, arguments: dict[str, Any]) -> None:
        assert self._tools is not None
        self._link.write({"type": "started", "id": name})
        await self._end(name, self._tools.run(method, arguments, self._running[name].context))

    async def _hook(self, name: str, hook: str) -> None:
        assert self._tools is not None
        hooks = {"activate": self._tools.activate, "deactivate": self._tools.deactivate}
        await self._end(name, hooks[hook](self._running[name].context), tells_all=True)

    async def _end(
        self, name: str, work: Coroutine[Any, Any, dict[str, Any] | None], *, tells_all: bool = False
    ) -> None:
        try:
            text = _within_bounds(canonical(await work or {}))
        except (Exception, asyncio.CancelledError, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - any end is told
            self._link.write({"type": "failed", "id": name, **self._told(name, error, tells_all)})
        else:
            self._link.write({"type": "result", "id": name, "output": orjson.Fragment(text)})

    def _told(self, name: str, error: BaseException, tells_all: bool) -> dict[str, str]:
        match error:
            case HandlerStopped():
                why = Why.STOPPED
            case asyncio.CancelledError():
                why = Why.INTERRUPTED if self._running[name].is_interrupted else Why.RAISED
            case HandlerFailed():
                why = Why.MEANT
            case TooMuch():
                why = Why.TOO_LARGE
            case UnknownTool():
                why = Why.NO_HANDLER
            case _:
                why = Why.RAISED
        if why is Why.RAISED:
            _say_where(name, error)
        # A hook knows no arguments that its words could give away (case C33 wants them told).
        meant = str(error) if tells_all or why is not Why.RAISED else ""
        return {"why": why.value, "message": meant[:MESSAGE_MAX]}


def _within_bounds(text: bytes) -> bytes:
    if len(text) > RESULT_BYTES:
        raise TooMuch(f"the result is larger than {RESULT_BYTES} bytes")
    return text


def _say_where(name: str, error: BaseException) -> None:
    """On standard error, which the gateway logs: the kind of error and its places. Its text may quote arguments."""
    steps = traceback.extract_tb(error.__traceback__)
    places = " < ".join(f"{step.filename}:{step.lineno} {step.name}" for step in reversed(steps))
    words = f": {error}" if isinstance(error, OutputRefused) else ""
    sys.stderr.write(f"{name} raised {type(error).__name__}{words} at {places}\n")
    sys.stderr.flush()
