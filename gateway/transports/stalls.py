"""uvicorn's protocols with an end for peers that stop reading. Knows bytes on their way out, nothing else.

uvicorn waits for such a peer as long as its connection lives, and a connection that is closing lives until its
last byte was taken; both would be the peer's choice. Touches attributes uvicorn does not document; a test holds
the version they were read in.
"""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

UVICORN: Final = "0.54."
"""The versions these names were read in."""

STALLED_SECONDS: Final = 30.0
"""How long a full connection may go without getting emptier by `PROGRESS_BYTES`."""

CLOSING_SECONDS: Final = 10.0
"""How long a connection that was closed from this side may take for its last bytes."""

PROGRESS_BYTES: Final = 4_096


class Stalls:
    """What a protocol tells about its connection; gives the connection up when its peer does not read."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        self._loop = loop
        self._transport = transport
        self._timer: asyncio.TimerHandle | None = None
        self._closing: asyncio.TimerHandle | None = None

    def full(self) -> None:
        """More waits to be taken than the transport wants to hold."""
        self._watch(self._transport.get_write_buffer_size())

    def drained(self) -> None:
        """The peer took it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def closing(self, seconds: float = CLOSING_SECONDS) -> None:
        """Nothing more will be written: what is not taken in time never will be."""
        if self._closing is None:
            self._closing = self._loop.call_later(seconds, self._transport.abort)

    def gone(self) -> None:
        """The connection ended."""
        self.drained()
        if self._closing is not None:
            self._closing.cancel()

    def _watch(self, size: int) -> None:
        self.drained()
        self._timer = self._loop.call_later(STALLED_SECONDS, self._look, size)

    def _look(self, before: int) -> None:
        size = self._transport.get_write_buffer_size()
        if size > before - PROGRESS_BYTES:
            self._transport.abort()
        else:
            self._watch(size)


class HttpProtocol(HttpToolsProtocol):
    """HTTP/1.1 on one connection."""

    _stalls: Stalls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] - as uvicorn has it
        """Begin."""
        super().connection_made(transport)
        self._stalls = Stalls(self.loop, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        super().connection_lost(exc)
        self._stalls.gone()

    def pause_writing(self) -> None:
        """The transport is full."""
        super().pause_writing()
        self._stalls.full()

    def resume_writing(self) -> None:
        """The transport has room again."""
        super().resume_writing()
        self._stalls.drained()

    def shutdown(self) -> None:
        """The server stops."""
        super().shutdown()
        if self.transport.is_closing():
            self._stalls.closing()
