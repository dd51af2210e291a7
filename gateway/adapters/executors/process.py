"""One worker process: how it is begun, spoken to, listened to and ended, with everything it began itself."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gateway
from gateway.adapters.executors.frames import Broken, framed, next_frame
from gateway.adapters.executors.messages import Message, message_of
from gateway.adapters.executors.pace import Pace
from gateway.adapters.executors.spoken import Lines
from gateway.runtime.ports import Clock

ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
"""All a worker finds in its environment: nothing of the gateway's, which may hold passwords."""

_HOME: Final = Path(gateway.__file__).parents[1]
"""Where the worker finds this very gateway's code."""

_CHUNK: Final = 65_536

LINGER_SECONDS: Final = 1.0
"""How long a process that closed its link may take to end, and what it left behind to be read."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a worker runs: a module of an installed package."""

    folder: Path
    module: str


class WorkerProcess:
    """A running one. `said` gets every message, in order; `printed` every line with the stream it came on."""

    def __init__(self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer

    @classmethod
    async def begin(cls, source: Source) -> "WorkerProcess":
        """Start a worker of `source`.

        Raises:
            OSError: the machine does not start it.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-E", "-s", "-u", "-X", "utf8", "-m", "gateway.adapters.executors.worker"),
                    *(str(theirs.fileno()), str(source.folder), source.module),
                    cwd=_HOME,
                    env=ENVIRONMENT,
                    stdin=DEVNULL,
                    stdout=PIPE,
                    stderr=PIPE,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            reader, writer = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            raise
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        """Of the process, which is that of its group."""
        return self._process.pid

    def send(self, frame: dict[str, Any]) -> None:
        """Write one frame; where the process is gone already, its end is told soon."""
        if not self._writer.is_closing():
            self._writer.write(framed(frame))

    async def listen(self, said: Callable[[Message], None], printed: Callable[[str, str], None], clock: Clock) -> int:
        """Hear it until its end, which takes along whatever it began; returns its exit status.

        Raises:
            Broken: it wrote what is no frame, and was killed for it.
        """
        hearing = asyncio.create_task(self._hear(said, Pace(clock.monotonic()), clock))
        ending = asyncio.create_task(self._process.wait())
        others = {ending, *self._printing(printed)}
        try:
            await asyncio.wait({hearing, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not hearing.done() or hearing.exception() is None:
                # What closed its link is about to end; what ended may have said something last.
                await asyncio.wait({hearing, ending}, timeout=LINGER_SECONDS)
        finally:
            self.kill()
            status = await self._process.wait()
            # Something it began may have left its group and keep the pipes open.
            await asyncio.wait({hearing, *others}, timeout=LINGER_SECONDS)
            for task in (hearing, *others):
                task.cancel()
            heard, *_ = await asyncio.gather(hearing, *others, return_exceptions=True)
            self._writer.close()
        if isinstance(heard, Broken):
            raise heard
        return status

    def _printing(self, printed: Callable[[str, str], None]) -> list["asyncio.Task[None]"]:
        streams = (("stdout", self._process.stdout), ("stderr", self._process.stderr))
        return [asyncio.create_task(_print(stream, name, printed)) for name, stream in streams if stream is not None]

    async def _hear(self, said: Callable[[Message], None], pace: Pace, clock: Clock) -> None:
        with suppress(ConnectionError):
            while (text := await next_frame(self._reader)) is not None:
                said(message_of(text))
                if pause := pace.spend(clock.monotonic()):
                    # It is not read meanwhile, so it waits, too.
                    await asyncio.sleep(pause / 1_000)

    def kill(self) -> None:
        """End it and every process it began, at once."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


async def _print(stream: asyncio.StreamReader, name: str, printed: Callable[[str, str], None]) -> None:
    lines = Lines()
    while data := await stream.read(_CHUNK):
        for line in lines.feed(data):
            printed(name, line)
    for line in lines.end():
        printed(name, line)
