"""A TCP proxy that is as bad as a network can be: slow, cut at a chosen frame, half open, or saying things twice.

It carries the bytes of every connection unchanged, and reads along in those that become WebSockets, so that a test
can name the frame at which something happens. "Up" is towards the gateway.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Final

HOST: Final = "127.0.0.1"
_CHUNK: Final = 65_536
_HEAD: Final = 65_536
_TEXT, _FIN, _MASKED = 1, 0x80, 0x80
_GONE: Final = (OSError, asyncio.IncompleteReadError)


class Way(StrEnum):
    """Which way bytes go."""

    UP = "up"
    DOWN = "down"


class Deed(StrEnum):
    """What happens at a frame."""

    CUT_BEFORE = "cut before"
    """The connection breaks, and the frame is lost with it."""
    CUT_AFTER = "cut after"
    """The frame is delivered, then the connection breaks."""
    REPEAT = "repeat"
    """The frame is delivered three times."""


@dataclass(eq=False)
class Line:
    """One connection through the proxy."""

    page: asyncio.StreamWriter
    gateway: asyncio.StreamWriter
    swallows: set[Way] = field(default_factory=set[Way])

    def to(self, way: Way) -> asyncio.StreamWriter:
        """Where bytes of `way` go."""
        return self.gateway if way is Way.UP else self.page

    def cut(self) -> None:
        """Break it both ways. What was delivered to an end is still read there."""
        self.swallows |= set(Way)
        for writer in (self.page, self.gateway):
            writer.close()


class ToxicProxy:
    """Listens on a free loopback port; `gateway` is the port it goes to, which may come later."""

    def __init__(self, gateway: int = 0) -> None:
        self.gateway = gateway
        self.port = 0
        self.delay = 0.0
        """Seconds each piece waits, either way."""
        self.piece: int | None = None
        """Bytes that go at once."""
        self.passed: list[tuple[Way, str]] = []
        """Every frame that was to be delivered, by its type, in order."""
        self.cuts = 0
        self._rules: dict[tuple[Way, str], Deed] = {}
        self._lines: set[Line] = set()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "ToxicProxy":
        self._server = await asyncio.start_server(self._serve, HOST, 0, limit=_HEAD)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- what a test does ---------------------------------------------------------------------------------------

    def at(self, way: Way, kind: str, deed: Deed) -> None:
        """Do `deed` at frames of type `kind`: a cut once, a repetition until the end."""
        self._rules[way, kind] = deed

    def cut(self) -> None:
        """Break every connection."""
        for line in tuple(self._lines):
            line.cut()

    def hang_up(self, way: Way) -> None:
        """Tell the receiving ends of `way` that nothing more will come; the other way stays as it is."""
        for line in self._lines:
            line.to(way).write_eof()
            line.swallows.add(way)

    def half_open(self, *ways: Way) -> None:
        """Take everything and deliver nothing, on the connections that are open now. They stay open."""
        for line in self._lines:
            line.swallows |= set(ways or Way)

    def count(self, way: Way, kind: str) -> int:
        """How many frames of `kind` were to be delivered."""
        return self.passed.count((way, kind))

    # -- carrying -----------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, page: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(*_GONE):
                await self._connect(reader, page)
        finally:
            await _broken(page)
            self._tasks.discard(task)

    async def _connect(self, reader: asyncio.StreamReader, page: asyncio.StreamWriter) -> None:
        answers, gateway = await asyncio.open_connection(HOST, self.gateway, limit=_HEAD)
        line = Line(page, gateway)
        self._lines.add(line)
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            await self._put(line, Way.UP, request)
            carry = self._carry
            if b"\r\nupgrade: websocket" in request.lower():
                answer = await answers.readuntil(b"\r\n\r\n")
                await self._put(line, Way.DOWN, answer)
                carry = self._carry_frames if answer.startswith(b"HTTP/1.1 101") else self._carry
            await asyncio.gather(self._end(line, Way.UP, carry, reader), self._end(line, Way.DOWN, carry, answers))
        finally:
            self._lines.discard(line)
            await _broken(gateway)

    async def _end(
        self,
        line: Line,
        way: Way,
        carry: Callable[[Line, Way, asyncio.StreamReader], Awaitable[None]],
        reader: asyncio.StreamReader,
    ) -> None:
        with suppress(*_GONE):
            await carry(line, way, reader)
        # An end that was reached is told on, unless nothing is.
        if way not in line.swallows:
            line.to(way).close()

    async def _carry(self, line: Line, way: Way, reader: asyncio.StreamReader) -> None:
        while chunk := await reader.read(_CHUNK):
            await self._put(line, way, chunk)

    async def _carry_frames(self, line: Line, way: Way, reader: asyncio.StreamReader) -> None:
        while True:
            raw, kind = await _frame(reader)
            deed = self._rules.get((way, kind))
            if kind and way not in line.swallows and deed is not Deed.CUT_BEFORE:
                self.passed.append((way, kind))
            if deed in (Deed.CUT_BEFORE, Deed.CUT_AFTER):
                del self._rules[way, kind]
                if deed is Deed.CUT_AFTER:
                    await self._put(line, way, raw)
                self.cuts += 1
                line.cut()
                return
            for _ in range(3 if deed is Deed.REPEAT else 1):
                await self._put(line, way, raw)

    async def _put(self, line: Line, way: Way, data: bytes) -> None:
        size = self.piece or len(data)
        for start in range(0, len(data), size):
            if self.delay:
                await asyncio.sleep(self.delay)
            if way in line.swallows:
                continue
            line.to(way).write(data[start : start + size])
            await line.to(way).drain()


async def _broken(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    with suppress(*_GONE):
        await writer.wait_closed()


async def _frame(reader: asyncio.StreamReader) -> tuple[bytes, str]:
    """The next WebSocket frame as it came, and the `type` in it; empty for what is no whole text message."""
    raw = await reader.readexactly(2)
    first, second = raw
    size = second & 0x7F
    if size >= 126:
        length = await reader.readexactly(2 if size == 126 else 8)
        raw, size = raw + length, int.from_bytes(length)
    mask = await reader.readexactly(4) if second & _MASKED else b"\0\0\0\0"
    payload = await reader.readexactly(size)
    raw += (mask if second & _MASKED else b"") + payload
    if first != _FIN | _TEXT:
        return raw, ""
    repeated = (mask * (size // 4 + 1))[:size]
    text = (int.from_bytes(payload) ^ int.from_bytes(repeated)).to_bytes(size)
    return raw, json.loads(text)["type"]
