"""The answer to one newer `tools/call`: a plain JSON body if it comes soon, an event stream once it has to wait."""

import asyncio
from typing import Any, Final

import orjson
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from starlette.types import Receive, Send

from gateway.transports.agents_mcp.exchange import Exchange
from gateway.transports.agents_mcp.operations import failed_with
from gateway.transports.agents_mcp.refusals import send_json

_HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Stream:
    """Commits to an event stream at the first thing it has to say before the result."""

    def __init__(self, send: Send, exchange: Exchange, receive: Receive, token: Any) -> None:
        self._send = send
        self._exchange = exchange
        self._receive = receive
        self._token = token
        self._is_open = False
        self._watcher: asyncio.Task[None] | None = None
        self.takes_progress = token is not None

    def watch(self) -> None:
        """Notice the client leaving from now on; calls that end at once are not worth a task."""
        if self._watcher is None:
            self._watcher = asyncio.get_running_loop().create_task(self._until_gone())

    def stop_watching(self) -> None:
        """The answer is there."""
        if self._watcher is not None:
            self._watcher.cancel()

    async def _until_gone(self) -> None:
        # The exchange's own `receive` hangs up its waiters, which ends the wait.
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def progress(self, n: int, message: str) -> None:
        """Tell how far it is."""
        params = {"progressToken": self._token, "progress": n, "message": message}
        await self._event({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    async def ping(self) -> None:
        """Show proxies that the connection lives."""
        await self._write(b": ping\r\n\r\n")

    async def ends(self, body: bytes) -> None:
        """The result."""
        if self._is_open:
            await self._send({"type": "http.response.body", "body": _framed(body)})
        else:
            await send_json(self._send, 200, body)

    async def fails(self, request: Any, code: int, message: str) -> None:
        """A protocol error; after the stream began it cannot have a status of its own."""
        failed_with(str(code))
        body = orjson.dumps({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}})
        if self._is_open:
            await self.ends(body)
        else:
            await send_json(self._send, ERROR_CODE_HTTP_STATUS.get(code, 200), body)

    async def _event(self, message: dict[str, Any]) -> None:
        await self._write(_framed(orjson.dumps(message)))

    async def _write(self, part: bytes) -> None:
        if self._exchange.is_gone:
            return
        if not self._is_open:
            self._is_open = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await self._send({"type": "http.response.body", "body": part, "more_body": True})


def _framed(body: bytes) -> bytes:
    return b"event: message\r\ndata: %b\r\n\r\n" % body
