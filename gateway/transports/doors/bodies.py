"""Request bodies: counted as they come, ended when they take too long, parsed strictly."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, cast

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.strict_json import BadJson, parse
from gateway.settings import Limits

_JSON_CODES: Final = {
    "bad_json": ErrorCode.BAD_JSON,
    "unsafe_integer": ErrorCode.UNSAFE_INTEGER,
    "too_deep": ErrorCode.TOO_DEEP,
    "body_too_large": ErrorCode.BODY_TOO_LARGE,
}


async def read_body(receive: Receive, *, max_bytes: int, within_ms: int) -> bytes:
    """The whole body, read no further than it may be long.

    Raises:
        GatewayError: `body_too_large` as soon as more than `max_bytes` came, `too_slow` after `within_ms`.
        ClientDisconnect: the client left while it was sending.
    """
    # Most bodies came with their headers: for them no timer is set.
    first = came_already(receive)
    if first is not None and not first.get("more_body", False):
        part, _ = _opened(first)
        _judge(part, max_bytes)
        return part
    try:
        async with asyncio.timeout(within_ms / 1_000):
            return await _read(receive, max_bytes, first)
    except TimeoutError:
        raise GatewayError(ErrorCode.TOO_SLOW, f"the body did not arrive within {within_ms} ms") from None


def came_already(receive: Receive) -> Message | None:
    """The next message of a request, if the server has it by now; found without waiting."""
    step = cast("Coroutine[Any, Any, Message]", receive())
    if not hasattr(step, "send"):
        return None
    try:
        step.send(None)
    except StopIteration as done:
        return done.value
    step.close()
    return None


async def _read(receive: Receive, max_bytes: int, first: Message | None) -> bytes:
    # One buffer: a list of parts would cost a client's one-byte parts a hundred times their size.
    body, has_more = bytearray(), True
    while has_more:
        part, has_more = _opened(first or await receive())
        first = None
        body += part
        _judge(body, max_bytes)
    return bytes(body)


def _opened(message: Message) -> tuple[bytes, bool]:
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), message.get("more_body", False)


def _judge(body: bytes | bytearray, max_bytes: int) -> None:
    if len(body) > max_bytes:
        raise too_large(max_bytes)


async def read_json(request: Request, limits: Limits, *, max_bytes: int, max_depth: int) -> Any:
    """The JSON value of a body.

    Raises:
        GatewayError: `body_too_large`, `too_slow`, `bad_json`, `unsafe_integer` or `too_deep`.
        ClientDisconnect: the client left while it was sending.
    """
    body = await read_body(request.receive, max_bytes=max_bytes, within_ms=limits.body_read_ms)
    try:
        return parse(body, max_depth=max_depth)
    except BadJson as bad:
        raise refusal_of_json(bad) from None


def refusal_of_json(bad: BadJson) -> GatewayError:
    """The refusal of text that is not JSON both halves read alike."""
    return GatewayError(_JSON_CODES[bad.code], f"at `{bad.pointer or '/'}`: {bad.reason}", pointer=bad.pointer)


def too_large(max_bytes: int) -> GatewayError:
    """The refusal of a body longer than `max_bytes`."""
    return GatewayError(ErrorCode.BODY_TOO_LARGE, f"the body is larger than {max_bytes} bytes")
