"""The way out of one socket: a bounded queue and one writer. A reader that is too slow is dropped, nobody waits.

Knows text and sizes, and of the meaning of frames only which one hands a call over.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from gateway.failpoints import Point, reach
from gateway.protocol.page_frames import bye
from gateway.protocol.strict_json import dumps
from gateway.runtime.telemetry import NO_METER, Meter, names

_SAID: Final = frozenset({"revoked", "expired", "shutdown"})
"""What a page is told before its socket closes; a close code says the rest."""


class Outgoing:
    """One socket's frames on their way (`pages.PageConnection`). Every method but `run` returns at once."""

    def __init__(self, websocket: WebSocket, *, max_frames: int, max_bytes: int, meter: Meter = NO_METER) -> None:
        self._meter = meter
        self._websocket = websocket
        self._max_frames = max_frames
        self._max_bytes = max_bytes
        self._queue: deque[tuple[bytes, str | None]] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self._ended = asyncio.Event()
        self._code: int | None = None
        self._is_over = False
        self.is_given_up = False
        """Its reader is too slow, or does not answer; a peer that left is not one of these."""

    @property
    def is_open(self) -> bool:
        """Whether frames are still taken, in either direction."""
        return not self._ended.is_set()

    @property
    def queued_bytes(self) -> int:
        """How much waits to be written."""
        return self._bytes

    def send(self, frame: Mapping[str, Any]) -> bool:
        """Queue a frame; False when the socket is closing or its reader is too slow (it is then dropped)."""
        if not self.is_open:
            return False
        text = dumps(frame)
        if len(self._queue) >= self._max_frames or self._bytes + len(text) > self._max_bytes:
            self._meter.add(names.PAGES_DROPPED, "slow")
            self.drop()
            return False
        self._meter.add(names.PAGE_FRAMES, "out", frame["type"])
        self._put(text, _handed_over(frame))
        return True

    def close(self, code: int, why: str) -> None:
        """Write what is queued, say `bye` where the page knows the word, and close."""
        if not self.is_open:
            return
        if why in _SAID:
            self._put(dumps(bye(why)))
        self._code = code
        self._ended.set()
        self._wake.set()

    def drop(self) -> None:
        """Give the socket up at once: its peer does not read, or does not answer."""
        self.is_given_up = True
        self._end()

    def unwritten(self) -> list[str]:
        """The calls whose `invoke` or `app` `tool` is still queued; asked when nothing will be written any more."""
        return [ref for _, ref in self._queue if ref is not None]

    def _end(self) -> None:
        self._is_over = True
        self._ended.set()
        self._wake.set()

    def hung_up(self) -> None:
        """The peer left; changes nothing where this side is closing already."""
        if self.is_open:
            self._end()

    async def ended(self) -> None:
        """Return once the socket was closed from this side or dropped."""
        await self._ended.wait()

    async def run(self) -> None:
        """Write until there is nothing more to write, and close. Must be cancelled when it takes too long."""
        with suppress(WebSocketDisconnect, RuntimeError):
            while not self._is_over and (self._queue or self.is_open):
                if self._queue:
                    await self._write()
                else:
                    self._wake.clear()
                    await self._wake.wait()
            if self._code is not None:
                await self._websocket.close(self._code)
        self._end()

    def _put(self, text: bytes, ref: str | None = None) -> None:
        self._queue.append((text, ref))
        self._bytes += len(text)
        self._wake.set()

    async def _write(self) -> None:
        text, _ = self._queue.popleft()
        self._bytes -= len(text)
        await self._websocket.send_text(text.decode())
        reach(Point.FRAME_SENT)


def _handed_over(frame: Mapping[str, Any]) -> str | None:
    """The call a frame hands to the page, if that is what it does."""
    hands_over = frame["type"] == "invoke" or (frame["type"] == "app" and frame["op"] == "tool")
    return frame["ref"] if hands_over else None
