"""The newer era's requests (2026-07-28): the ladder of checks, and the two methods agents use all the time.

The checks are the SDK's, in its order. `tools/list` and `tools/call` are then answered here, because the SDK
walks a result three times and starts two tasks for each call; all other methods go to the SDK.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import orjson
from mcp.server.streamable_http import check_accept_headers
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
)
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    SERVER_INFO_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.domain.errors import ErrorCode
from gateway.transports.agents_mcp.calling import ToolCalls, ToolRequest
from gateway.transports.agents_mcp.exchange import Exchange
from gateway.transports.agents_mcp.operations import failed_with
from gateway.transports.agents_mcp.params import are_valid
from gateway.transports.agents_mcp.refusals import send_json
from gateway.transports.agents_mcp.results import ToolAnswer
from gateway.transports.agents_mcp.scrubbing import internal
from gateway.transports.agents_mcp.server import SERVED
from gateway.transports.agents_mcp.streams import Stream
from gateway.transports.agents_mcp.tasks import declares_tasks
from gateway.transports.agents_mcp.tool_lists import ToolLists

Message = dict[str, Any]
Note = Callable[[Exchange, ErrorCode], Awaitable[None]]
"""Audits that a request was turned away."""


class Modern:
    """One per endpoint."""

    def __init__(
        self,
        *,
        sdk: ASGIApp,
        lists: ToolLists,
        calls: ToolCalls,
        server_info: dict[str, Any],
        is_foreign: Callable[[str], bool],
        note: Note,
    ) -> None:
        self._sdk = sdk
        self._lists = lists
        self._calls = calls
        self._server_info = server_info
        self._is_foreign = is_foreign
        self._note = note

    async def serve(
        self,
        exchange: Exchange,
        message: Message,
        headers: Mapping[str, str],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one POST."""
        if "id" not in message:
            await self._acknowledge(exchange, message, headers, send)
            return
        # Every name once is what nearly all send, and needs no second look.
        is_plain = len(headers) == len(scope["headers"])
        rejection = (None if is_plain else _duplicate(scope)) or classify_inbound_request(message, headers=headers)
        if isinstance(rejection, InboundLadderRejection):
            await self._note(exchange, _code_of(rejection))
            await _reject(send, message["id"], rejection)
            return
        method, params = message["method"], message["params"]
        if method == "tools/list" and set(params) == {"_meta"}:
            await self._list(exchange, message, rejection.protocol_version, send)
        elif method == "tools/call" and not self._is_foreign(params.get("name", "")):
            await self._call(exchange, message, rejection.protocol_version, receive, send)
        else:
            await self._sdk(scope, receive, send)

    async def _acknowledge(
        self, exchange: Exchange, message: Message, headers: Mapping[str, str], send: Send
    ) -> None:
        # Nothing a newer client notifies means anything; it cancels by closing the stream.
        if "method" not in message:
            await self._note(exchange, ErrorCode.BAD_REQUEST)
            await send_error(send, None, INVALID_REQUEST, "the body is one request or notification")
            return
        rejection = unsupported_protocol_version_rejection(headers.get(MCP_PROTOCOL_VERSION_HEADER, ""))
        if rejection is not None:
            await self._note(exchange, _code_of(rejection))
            await _reject(send, None, rejection)
            return
        await send({"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def _list(self, exchange: Exchange, message: Message, version: str, send: Send) -> None:
        if not await self._has_valid_params(exchange, "tools/list", version, message, send):
            return
        try:
            wire = await self._lists.of(exchange.session, version)
        except Exception as error:  # noqa: BLE001 - the boundary to the wire
            told = internal(error, "tools/list").error
            await send_error(send, message["id"], told.code, told.message)
            return
        await send_json(send, 200, b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_dumps(message["id"]), wire.text))

    async def _call(self, exchange: Exchange, message: Message, version: str, receive: Receive, send: Send) -> None:
        if not await self._has_valid_params(exchange, "tools/call", version, message, send):
            return
        params: Message = message["params"]
        meta: Message = params["_meta"]
        stream = Stream(send, exchange, receive, meta.get("progressToken"))
        asked = ToolRequest(
            exchange=exchange,
            name=params["name"],
            arguments=params.get("arguments") or {},
            meta=meta,
            line=stream,
            takes_task=declares_tasks(meta.get(CLIENT_CAPABILITIES_META_KEY)),
        )
        try:
            answer = await self._answer(asked)
        except MCPError as error:
            await stream.fails(message["id"], error.error.code, error.error.message)
            return
        finally:
            stream.stop_watching()
        if exchange.is_gone:
            return
        await stream.ends(_dumps({"jsonrpc": "2.0", "id": message["id"], "result": self._result(answer, version)}))

    async def _answer(self, asked: ToolRequest) -> ToolAnswer | dict[str, Any]:
        try:
            return await self._calls.answer(asked)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary to the wire
            raise internal(error, "tools/call") from None

    async def _has_valid_params(
        self, exchange: Exchange, method: str, version: str, message: Message, send: Send
    ) -> bool:
        if are_valid(method, version, message["params"]):
            return True
        await self._note(exchange, ErrorCode.BAD_REQUEST)
        await send_error(send, message["id"], INVALID_PARAMS, "Invalid request parameters")
        return False

    def _result(self, answer: ToolAnswer | dict[str, Any], version: str) -> dict[str, Any]:
        if isinstance(answer, ToolAnswer):
            return answer.result(version, self._server_info)
        return {**answer, "_meta": {SERVER_INFO_META_KEY: self._server_info}}


@lru_cache(maxsize=256)
def accepts_both(accept: str) -> bool:
    """Whether an `Accept` header takes JSON and event streams, as the SDK reads it."""
    return all(check_accept_headers(Request({"type": "http", "headers": [(b"accept", accept.encode("latin-1"))]})))


def _duplicate(scope: Scope) -> InboundLadderRejection | None:
    names = find_duplicated_routing_header((name.decode("latin-1"), "") for name, _ in scope["headers"])
    if names is None:
        return None
    return InboundLadderRejection(code=HEADER_MISMATCH, message=f"{names} header appears more than once")


def _code_of(rejection: InboundLadderRejection) -> ErrorCode:
    is_version = rejection.code == UNSUPPORTED_PROTOCOL_VERSION
    return ErrorCode.PROTOCOL_UNSUPPORTED if is_version else ErrorCode.BAD_REQUEST


async def _reject(send: Send, request: Any, rejection: InboundLadderRejection) -> None:
    data = rejection.data
    if rejection.code == UNSUPPORTED_PROTOCOL_VERSION:
        data = {**data, "supported": list(SERVED)}
    await send_error(send, request, rejection.code, rejection.message, data)


async def send_error(send: Send, request: Any, code: int, message: str, data: Any = None) -> None:
    """A JSON-RPC error with the status the SDK's table gives it."""
    failed_with(str(code))
    error: Message = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    body: Message = {"jsonrpc": "2.0", "error": error}
    if request is not None:
        body["id"] = request
    await send_json(send, ERROR_CODE_HTTP_STATUS.get(code, 200), _dumps(body))


_dumps: Final = orjson.dumps
