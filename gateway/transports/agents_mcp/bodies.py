"""Request bodies, judged before the SDK sees them (design §11)."""

from typing import Any, Final, cast

import orjson
from mcp_types import INVALID_REQUEST
from starlette.types import Message, Receive

from gateway.domain.errors import ErrorCode
from gateway.protocol.strict_json import BadJson, parse
from gateway.transports.agents_mcp.refusals import Refused

DEPTH: Final = 70
"""Arguments of `ui.*` may be 68 deep and lie two levels below the message."""

_CODES: Final = {"too_deep": ErrorCode.TOO_DEEP, "unsafe_integer": ErrorCode.UNSAFE_INTEGER}


def replay(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read to whoever reads it next; afterwards the connection speaks again."""
    message: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def receive_again() -> Message:
        nonlocal message
        if message is None:
            return await receive()
        first, message = message, None
        return first

    return receive_again


def judge(body: bytes) -> dict[str, Any]:
    """One JSON-RPC message: JSON both halves read alike, one object, an id that can be echoed digit for digit.

    Raises:
        Refused: 400 with -32700 for what is not JSON, -32600 for what is JSON and not such a message.
    """
    try:
        message: Any = parse(body, max_depth=DEPTH, big_integers=True)
    except BadJson as bad:
        if bad.code in _CODES:
            raise Refused(_CODES[bad.code], f"the body is refused: {bad.reason}") from None
        raise Refused(
            ErrorCode.BAD_JSON,
            f"the body is refused: {bad.reason}",
            rpc_code=INVALID_REQUEST if _is_json(body) else None,
        ) from None
    if not isinstance(message, dict):
        raise Refused(ErrorCode.BAD_REQUEST, "the body is one JSON-RPC message; batches are not served")
    judged = cast("dict[str, Any]", message)
    _judge_envelope(judged)
    return judged


def _judge_envelope(message: dict[str, Any]) -> None:
    if message.get("jsonrpc") != "2.0":
        raise Refused(ErrorCode.BAD_REQUEST, '`jsonrpc` is "2.0"')
    is_call = "method" in message
    if is_call and not isinstance(message["method"], str):
        raise Refused(ErrorCode.BAD_REQUEST, "`method` is a text")
    if is_call and "id" in message and not _is_id(message["id"]):
        raise Refused(ErrorCode.BAD_REQUEST, "`id` is a text or a whole number")
    if is_call and not isinstance(message.get("params", {}), dict | None):
        raise Refused(ErrorCode.BAD_REQUEST, "`params` is an object")


def _is_json(body: bytes) -> bool:
    # A repeated key is JSON, only not ours.
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    return True


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
