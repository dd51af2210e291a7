"""uvicorn's WebSocket protocol with bounds where it has none: on messages in pieces, control frames, and what lingers.

uvicorn would let a peer that does not read choose how long a closing connection lives. Touches attributes uvicorn and
websockets do not document; a test holds the version they were read in.
"""

import asyncio
from typing import Any, Final, Literal, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

from gateway.protocol.page_frames import FRAME_BYTES, FRAME_BYTES_BEFORE_WELCOME

UVICORN: Final = "0.54."
"""The versions these names were read in."""

CLOSING_SECONDS: Final = 10.0
"""How long a peer may take for the last bytes of a connection that was closed from this side."""

WIRE: Final = "ostiary.wire"
"""Where the scope holds the `PageProtocol` it came over."""

FRAMES: Final = "ostiary.frames"
"""Where a message holds how many frames its sender spent on it, pings and pongs before it included."""

PIECES: Final = 1_024
"""Frames of one message; browsers send large messages in a few dozen."""

CONTROL_FRAMES: Final = 64
"""Pings and pongs between two messages; browsers send none unasked."""

_SLICE: Final = 4_096
"""Bytes that are taken apart before their messages were dealt with."""

_HEAD_BYTES: Final = 14
"""The longest head of a WebSocket frame."""


class PageProtocol(WebSocketsSansIOProtocol):
    """One WebSocket connection. Its memory is bounded by the message in progress, whatever the peer sends."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.refused_with: int | None = None
        self._last_wait: asyncio.TimerHandle | None = None
        self._unread, self._message = bytearray(), bytearray()
        self._max_bytes = FRAME_BYTES_BEFORE_WELCOME
        self._pieces = self._control = self._taken = 0

    # -- for the endpoint -------------------------------------------------------------------------------------

    def welcomed(self) -> None:
        """Take larger messages from now on."""
        self._max_bytes = FRAME_BYTES

    def abandon(self) -> None:
        """Give the connection up with what is still unsent."""
        self.transport.abort()

    # -- the connection ---------------------------------------------------------------------------------------

    def connection_lost(self, exc: Exception | None) -> None:
        """End. What came before it counts first: a page that leaves says its last words and is gone."""
        rest, self._unread = bytes(self._unread), bytearray()
        if rest:
            self._take_apart(rest)
        super().connection_lost(exc)
        if self._last_wait is not None:
            self._last_wait.cancel()

    def shutdown(self) -> None:
        """The server stops."""
        super().shutdown()
        self._abandon_later()

    async def run_asgi(self) -> None:
        """Serve the connection, then let it go whatever the peer still does not take."""
        try:
            await super().run_asgi()
        finally:
            self._read_on()
            self._abandon_later()

    def _abandon_later(self) -> None:
        if self._last_wait is None and not self.disconnected:
            self._last_wait = self.loop.call_later(CLOSING_SECONDS, self.transport.abort)

    async def send(self, message: Any) -> None:
        """Write what the endpoint says."""
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            # A refused handshake is complete; uvicorn would log an error for each.
            self.handshake_complete = True

    def handle_connect(self, event: Request) -> None:
        """The handshake; the endpoint finds the connection in its scope."""
        super().handle_connect(event)
        if not self.close_sent:
            cast("dict[str, Any]", self.scope)[WIRE] = self

    # -- what comes in ----------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take bytes in."""
        self._unread += data
        self._read_on()

    async def receive(self) -> Any:
        """The next message; only when all were taken is more of what came taken apart."""
        message = await self.queue.get()
        self._read_on()
        return message

    def _read_on(self) -> None:
        # After our close nothing is kept of what comes, and the peer's own goodbye is among it.
        while self._unread and (self.queue.empty() or self.close_sent):
            part = bytes(self._unread[:_SLICE])
            del self._unread[:_SLICE]
            self._take_apart(part)
        is_behind = bool(self._unread or not self.queue.empty()) and not self.close_sent
        if is_behind != self.read_paused and not self.transport.is_closing():
            self.read_paused = is_behind
            (self.transport.pause_reading if is_behind else self.transport.resume_reading)()

    def _take_apart(self, part: bytes) -> None:
        super().data_received(part)
        if self.handshake_initiated and len(self.conn.reader.buffer) > self._max_bytes + _HEAD_BYTES:
            self._fail(CloseCode.MESSAGE_TOO_BIG, "too large")

    def handle_text(self, event: Frame) -> None:
        """The first frame of a text message."""
        self._begin_message("text", event)

    def handle_bytes(self, event: Frame) -> None:
        """The first frame of a binary message."""
        self._begin_message("bytes", event)

    def handle_cont(self, event: Frame) -> None:
        """A further frame of a message."""
        self._add(event)

    def handle_ping(self) -> None:
        """A protocol ping; websockets has made the answer."""
        if self._is_tolerable():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:  # noqa: ARG002 - named as uvicorn calls it
        """A protocol pong, which nobody asked for."""
        self._is_tolerable()

    def handle_parser_exception(self) -> None:
        """The connection is closed for what its peer sent."""
        assert self.conn.close_sent is not None
        self.refused_with = self.conn.close_sent.code
        super().handle_parser_exception()

    def _begin_message(self, kind: Literal["text", "bytes"], event: Frame) -> None:
        self.curr_msg_data_type = kind
        self._message = bytearray()
        self._pieces = self._control = 0
        self._add(event)

    def _add(self, event: Frame) -> None:
        # The bytes are kept, not the frames: small pieces would weigh many times what they hold.
        self._message += event.data
        self._pieces += 1
        self._taken += 1
        if len(self._message) > self._max_bytes:
            self._fail(CloseCode.MESSAGE_TOO_BIG, "too large")
        elif self._pieces > PIECES:
            self._fail(CloseCode.MESSAGE_TOO_BIG, "too many pieces")
        elif event.fin:
            self._deliver()

    def _deliver(self) -> None:
        whole, self._message = self._message, bytearray()
        if self.close_sent:
            return
        try:
            data = whole.decode() if self.curr_msg_data_type == "text" else bytes(whole)
        except UnicodeDecodeError:
            self._fail(CloseCode.INVALID_DATA, "not UTF-8")
            return
        message = {"type": "websocket.receive", self.curr_msg_data_type: data, FRAMES: self._taken}
        self._taken = 0
        self.queue.put_nowait(cast("Any", message))

    def _is_tolerable(self) -> bool:
        self._taken += 1
        self._control += 1
        if self._control > CONTROL_FRAMES:
            self._fail(CloseCode.POLICY_VIOLATION, "too many control frames")
        return self._control <= CONTROL_FRAMES

    def _fail(self, code: CloseCode, reason: str) -> None:
        if not self.close_sent:
            self.conn.fail(code, reason)
            self.handle_parser_exception()
