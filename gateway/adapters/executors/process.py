"""One worker process: how it is begun, spoken to, listened to and ended, with everything it began itself."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

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

STREAMS: Final = ("stdout", "stderr")

_CHUNK: Final = 65_536

LINGER_SECONDS: Final = 1.0
"""How long a process that closed its link may take to end, and what it left behind to be read."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a worker runs: a module of an installed package."""

    folder: Path
    module: str


class WorkerProcess:
    """A running one."""

    def __init__(self, process: Process, link: "_Link", prints: Sequence["_Print"], life: BinaryIO) -> None:
        self._process = process
        self._link = link
        self._prints = prints
        self._life = life

    @classmethod
    async def begin(cls, source: Source) -> "WorkerProcess":
        """Start a worker of `source`.

        Raises:
            OSError: the machine does not start it.
        """
        with ExitStack() as ours, ExitStack() as theirs:
            near, far = socket.socketpair()
            ours.callback(near.close)
            theirs.callback(far.close)
            # Not asyncio's own pipes: with them a process is not over while somebody else holds them open.
            pipes = [_pipe(ours, theirs) for _ in STREAMS]
            tied, life = _pipe(theirs, ours)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-E", "-s", "-u", "-X", "utf8", "-m", "gateway.adapters.executors.worker"),
                *(str(far.fileno()), str(tied.fileno()), str(source.folder), source.module),
                cwd=_HOME,
                env=ENVIRONMENT,
                stdin=DEVNULL,
                stdout=pipes[0][1],
                stderr=pipes[1][1],
                pass_fds=(far.fileno(), tied.fileno()),
                start_new_session=True,
            )
            ours.callback(_kill, process.pid)
            link = _Link(*await asyncio.open_connection(sock=near))
            prints = [await _Print.of(name, pipe) for name, (pipe, _) in zip(STREAMS, pipes, strict=True)]
            ours.pop_all()
        return cls(process, link, prints, life)

    @property
    def pid(self) -> int:
        """Of the process, which is that of its group."""
        return self._process.pid

    def send(self, frame: dict[str, Any]) -> None:
        """Write one frame; where the process is gone already, its end is told soon."""
        if not self._link.writer.is_closing():
            self._link.writer.write(framed(frame))

    async def listen(self, said: Callable[[Message], None], printed: Callable[[str, str], None], clock: Clock) -> int:
        """Hear it until its end, which takes along whatever it began; returns its exit status.

        `said` gets every message in order, `printed` every line with the name of the stream it came on.

        Raises:
            Broken: it wrote what is no frame, and was killed for it.
        """
        hearing = asyncio.create_task(self._hear(said, Pace(clock.monotonic()), clock))
        ending = asyncio.create_task(_end_of(self._process))
        printing = [asyncio.create_task(_tell(stream, printed)) for stream in self._prints]
        try:
            await asyncio.wait({hearing, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not hearing.done() or hearing.exception() is None:
                # What closed its link is about to end; what ended may have said something last.
                await asyncio.wait({hearing, ending}, timeout=LINGER_SECONDS)
        finally:
            self.kill()
            status = await self._process.wait()
            # Something it began may have left its group and hold its ends open.
            await asyncio.wait({hearing, *printing}, timeout=LINGER_SECONDS)
            for task in (hearing, *printing):
                task.cancel()
            heard, *_ = await asyncio.gather(hearing, *printing, ending, return_exceptions=True)
            self._close()
        if isinstance(heard, Broken):
            raise heard
        return status

    def _close(self) -> None:
        self._link.writer.close()
        self._life.close()
        for stream in self._prints:
            stream.transport.close()

    async def _hear(self, said: Callable[[Message], None], pace: Pace, clock: Clock) -> None:
        with suppress(ConnectionError):
            while (text := await next_frame(self._link.reader)) is not None:
                said(message_of(text))
                if pause := pace.spend(clock.monotonic()):
                    # It is not read meanwhile, so it waits, too.
                    await asyncio.sleep(pause / 1_000)

    def kill(self) -> None:
        """End it and every process it began, at once."""
        _kill(self._process.pid)


@dataclass(frozen=True, slots=True)
class _Link:
    """Our end of the socket."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


@dataclass(frozen=True, slots=True)
class _Print:
    """Our end of one stream of output."""

    name: str
    reader: asyncio.StreamReader
    transport: asyncio.ReadTransport

    @classmethod
    async def of(cls, name: str, pipe: BinaryIO) -> "_Print":
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        return cls(name, reader, transport)


def _pipe(reads: ExitStack, writes: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """A pipe, each end with whom it belongs to."""
    reading, writing = os.pipe()
    return (
        reads.enter_context(os.fdopen(reading, "rb", buffering=0)),
        writes.enter_context(os.fdopen(writing, "wb", buffering=0)),
    )


async def _end_of(process: Process) -> None:
    await process.wait()


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


async def _tell(stream: _Print, printed: Callable[[str, str], None]) -> None:
    lines = Lines()
    while data := await stream.reader.read(_CHUNK):
        for line in lines.feed(data):
            printed(stream.name, line)
    for line in lines.end():
        printed(stream.name, line)
