"""What a TCP connection may cost before there is a request to judge: places, heads, silence.

uvicorn bounds none of these: it waits for a head without an end, keeps any number of headers, and lets a client
that reads nothing hold its answer for ever.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.asgi.corked import Corked
from gateway.domain.errors import ErrorCode
from gateway.protocol.strict_json import dumps
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.settings import Limits
from gateway.transports.doors.answers import ALWAYS
from gateway.transports.doors.peers import UNKNOWN, address_of, trusts

DOOR: Final = "connection"
"""What the audit trail calls the place where these refusals are made: no door was reached yet."""

_SAID: Final = {
    HTTPStatus.BAD_REQUEST: (ErrorCode.BAD_REQUEST, "this is not an HTTP request anybody can read in only one way"),
    HTTPStatus.REQUEST_TIMEOUT: (ErrorCode.TOO_SLOW, "the head of the request did not arrive in time"),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (ErrorCode.BODY_TOO_LARGE, "the head of the request is too large"),
    HTTPStatus.SERVICE_UNAVAILABLE: (ErrorCode.BUSY, "too many connections are open; try again"),
}
"""By status: code and message."""

_LINE: Final = len(b": \r\n")


class Bounds:
    """What connections are held to now; a reload counts from the next connection on.

    `note` is told of every refusal: the peer's address and the code.
    """

    def __init__(
        self,
        limits: Callable[[], Limits] = Limits,
        is_exempt: Callable[[str], bool] = bool,
        note: Callable[[str, ErrorCode], None] = lambda _, __: None,
    ) -> None:
        self.limits = limits
        self.note = note
        self._is_exempt = is_exempt

    @classmethod
    def of(cls, services: Services) -> "Bounds":
        """Those of a running gateway; its trusted proxies bring many peers over few addresses."""
        live, spine = services.live, services.spine

        def is_exempt(peer: str) -> bool:
            return trusts(live.world.configuration.server.trusted_proxies)(peer)

        def note(peer: str, code: ErrorCode) -> None:
            spine.spawn(_noted(services, peer, code))

        return cls(limits=lambda: live.world.configuration.limits, is_exempt=is_exempt, note=note)

    def are_reached(self, connections: Collection[Any], client: tuple[str, int] | None) -> bool:
        """Whether one of `connections`, the newest, of `client`, is one too many."""
        limits = self.limits()
        if len(connections) > limits.connections:
            return True
        if client is None or len(connections) <= limits.connections_per_peer:
            return False
        peer = address_of(client[0])
        if peer is None or self._is_exempt(peer):
            return False
        return (
            sum(c.client is not None and c.client[0] == client[0] for c in connections) > limits.connections_per_peer
        )


class Connection(HttpToolsProtocol):
    """One connection. It is closed when its next head is late or too large, or when its answers are not read."""

    def __init__(self, bounds: Bounds, **given: Any) -> None:
        super().__init__(**given)
        self._bounds = bounds
        self._limits = bounds.limits()
        self._silent = 0
        """Bytes since the last whole head or part of a body: heads, chunk extensions and trailers grow unseen."""
        self._is_in_head = False
        self._status = HTTPStatus.BAD_REQUEST
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    # -- the connection -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] - as uvicorn has it
        super().connection_made(transport)
        self.transport = cast("asyncio.Transport", Corked(transport, self.loop))
        if self._bounds.are_reached(self.connections, self.client):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_timer = _cancelled(self._head_timer)
        self._stall_timer = _cancelled(self._stall_timer)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._silent += len(data)
        super().data_received(data)
        if self._head_timer is None and self._silent and not self._is_answering():
            self._await_head()
        if self._silent > self._limits.head_bytes and self.transport.get_protocol() is self:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def handle_websocket_upgrade(self) -> None:
        self.transport = cast("Corked", self.transport).uncorked
        super().handle_websocket_upgrade()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._abort_later()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stall_timer = _cancelled(self._stall_timer)

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._abort_later()

    # -- the parser's steps -------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers are nobody's: they must neither grow the head nor change it after it was judged.
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._silent = 0
        size = len(self.url) + sum(len(name) + len(value) + _LINE for name, value in self.headers)
        if size > self._limits.head_bytes or len(self.headers) > self._limits.head_lines:
            self._status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise ValueError("the head is too large")
        self._head_timer = _cancelled(self._head_timer)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._silent = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._abort_later()

    # -- refusing -----------------------------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words, ours are in the table
        """The parser gave up, or was made to."""
        self._refuse(self._status)

    def _refuse(self, status: HTTPStatus) -> None:
        code, message = _SAID[status]
        self._bounds.note((self.client and address_of(self.client[0])) or UNKNOWN, code)
        if not self._is_answering() or not self.cycle.response_started:
            self.transport.write(_answer(status, code, message))
        self.transport.close()
        self._abort_later()

    def _is_answering(self) -> bool:
        # uvicorn has None there before the first request, and says otherwise.
        return bool(self.cycle) and not self.cycle.response_complete

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self._limits.head_read_ms / 1_000, self._head_is_late)

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self._is_answering():
            # A second request behind one that is being answered: the answer first.
            self._await_head()
        elif self._silent:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.transport.close()

    def _abort_later(self) -> None:
        if self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self._limits.write_stall_ms / 1_000, self.transport.abort)


def protocol_of(bounds: Bounds) -> type[asyncio.Protocol]:
    """What uvicorn calls for each connection."""
    return partial(Connection, bounds)  # type: ignore[return-value] - it only ever calls it


async def _noted(services: Services, peer: str, code: ErrorCode) -> None:
    with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
        await services.refusals.note(DOOR, peer, code)


def _answer(status: HTTPStatus, code: ErrorCode, message: str) -> bytes:
    body = dumps({"error": {"code": code.wire, "message": message}})
    headers = [
        *ALWAYS,
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append((b"retry-after", b"1"))
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), *(name + b": " + value for name, value in headers)]
    return b"\r\n".join([*lines, b"", body])


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
