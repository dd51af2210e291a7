"""One HTTP request at the edge: what its headers announce, and its answer with what every answer carries."""

import asyncio
from contextlib import suppress
from typing import Final

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from gateway.transports.doors.answers import CLOSE, RawHeaders, dressed

_READ: Final = frozenset(
    {
        b"host",
        b"origin",
        b"content-length",
        b"transfer-encoding",
        b"content-encoding",
        b"access-control-request-headers",
    }
)
_TOO_SLOW: Final = 408
_DIGITS: Final = 18

LINGER_SECONDS: Final = 1.0
LINGER_BYTES: Final = 2 * 1024 * 1024
"""What is read and thrown away before a connection is closed under a client that still sends: one that is cut off
at once finds a reset where the answer was."""


class Visit:
    """Made by the edge, which passes `receive` and `send` on."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, max_bytes: int, defaults: RawHeaders) -> None:
        self.scope = scope
        self.max_bytes = max_bytes
        self.is_begun = False
        """Whether an answer was begun."""
        self._receive = receive
        self._send = send
        self._defaults = defaults
        self._more: RawHeaders = []
        self._closes = False
        self._has_come = False
        found: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            if name in _READ:
                found.setdefault(name, []).append(value)
        self.hosts = _texts(found.get(b"host"))
        self.origins = _texts(found.get(b"origin"))
        self.requested = ",".join(_texts(found.get(b"access-control-request-headers")))
        encodings, lengths = found.get(b"content-encoding"), found.get(b"content-length")
        self.is_encoded = encodings is not None and any(each.strip().lower() != b"identity" for each in encodings)
        self.declared = _longest(lengths) if lengths else 0
        """The length it announces, in bytes."""
        self._is_chunked = b"transfer-encoding" in found
        self.receive: Receive = self._noting if self._is_chunked else receive

    @property
    def peer(self) -> str:
        """The address it came from."""
        return self.scope["client"][0]

    def add(self, headers: RawHeaders) -> None:
        """Let the answer carry these too, whatever it will be."""
        self._more = [*self._more, *headers]

    async def answer(self, response: Response) -> None:
        """Answer from the edge itself."""
        await response(self.scope, self._receive, self.send)

    async def send(self, message: Message) -> None:
        """`send` of the request."""
        if message["type"] == "http.response.start":
            self.is_begun = True
            self._closes = self._is_unfinished() or message["status"] == _TOO_SLOW
            more = [*self._more, CLOSE] if self._closes else self._more
            message = {**message, "headers": dressed(message.get("headers", []), self._defaults, more)}
        elif self._closes and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._linger()
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)

    def _is_unfinished(self) -> bool:
        """Whether more than a door takes may still be coming; a smaller rest is read past by the server."""
        return self.declared > self.max_bytes or (self._is_chunked and not self._has_come)

    async def _noting(self) -> Message:
        message = await self._receive()
        self._has_come = self._has_come or not message.get("more_body", False)
        return message

    async def _linger(self) -> None:
        left = LINGER_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while left > 0:
                    message = await self._receive()
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return
                    left -= len(message.get("body", b""))


def _longest(lengths: list[bytes]) -> int:
    # Longer texts than any length that is served: their value does not matter, and takes its time to work out.
    return max((int(each[:_DIGITS]) for each in lengths if each.isdigit()), default=0)


def _texts(values: list[bytes] | None) -> list[str]:
    return [value.strip(b" \t").decode("latin-1") for value in values] if values else []
