"""The worker's end of its link: frames out from any thread, questions with their answers, frames in by one thread."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

from capabilities.contract import (
    ContextError,
    NoAppSession,
    NotPermitted,
    RequestFailed,
    SessionConflict,
    TooMuch,
)
from gateway.adapters.executors.frames import FRAME_BYTES, HEAD, framed, read_frame
from gateway.domain.workers import Denial


class Link:
    """One per process. Everything but `listen` and `write` belongs to the event loop."""

    def __init__(self, link: socket.socket) -> None:
        self._socket = link
        self._writing = threading.Lock()
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}

    def listen(self, heard: Callable[[dict[str, Any]], object]) -> None:
        """Read frames in a thread of their own, from now on. When the gateway is gone, so is this process at once,
        whatever a handler does meanwhile, and with it every process a handler began."""

        def read() -> None:
            with self._socket.makefile("rb") as link:
                while (frame := read_frame(link)) is not None:
                    heard(frame)
            end_group()

        threading.Thread(target=read, name="link", daemon=True).start()

    def write(self, frame: dict[str, Any]) -> None:
        """Write one frame.

        Raises:
            TooMuch: it is larger than the gateway takes.
            TypeError: it holds something that is not JSON.
        """
        data = framed(frame)
        if len(data) > FRAME_BYTES + HEAD.size:
            raise TooMuch(f"more than {FRAME_BYTES} bytes at once")
        with self._writing:
            self._socket.sendall(data)

    async def ask(self, of: str, what: str, given: dict[str, Any]) -> Any:
        """Ask the gateway something for the job or hook `of`.

        Raises:
            ContextError: the gateway does not do it.
        """
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        try:
            self.write({"type": "ask", "id": number, "of": of, "what": what, "given": given})
            return await answer
        finally:
            del self._asked[number]

    def answered(self, frame: dict[str, Any]) -> None:
        """The gateway answered; a question nobody waits for any more is let be."""
        answer = self._asked.get(frame["id"])
        if answer is None or answer.done():
            return
        if frame["type"] == "told":
            answer.set_result(frame["value"])
        else:
            answer.set_exception(_error_of(frame))


def _error_of(frame: dict[str, Any]) -> ContextError:
    message: str = frame["message"]
    match Denial(frame["denial"]):
        case Denial.NOT_PERMITTED:
            return NotPermitted(message)
        case Denial.NO_APP_SESSION:
            return NoAppSession(message)
        case Denial.TOO_MUCH:
            return TooMuch(message)
        case Denial.REQUEST_FAILED:
            return RequestFailed(message)
        case Denial.CONFLICT:
            return SessionConflict(frame["revision"])
        case Denial.REFUSED:
            return ContextError(message)


def end_group() -> None:
    """End this process and every one it began, at once."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
