"""The endpoint `/mcp`: one ASGI application for both eras, from the first header to the last byte (design §11)."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import ClientDisconnect
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.transports.agents_mcp import operations
from gateway.transports.agents_mcp.bodies import judge, replay
from gateway.transports.agents_mcp.calling import InFlight, ToolCalls
from gateway.transports.agents_mcp.exchange import Exchange, current_exchange
from gateway.transports.agents_mcp.extensions import Extensions
from gateway.transports.agents_mcp.legacy_sessions import LegacySessions
from gateway.transports.agents_mcp.listening import Listening
from gateway.transports.agents_mcp.modern import Modern, accepts_both
from gateway.transports.agents_mcp.refusals import Refused, refuse, refused, send_json
from gateway.transports.agents_mcp.server import Methods, new_server
from gateway.transports.agents_mcp.sign_in import Users, sign_in
from gateway.transports.agents_mcp.tasks import Tasks
from gateway.transports.agents_mcp.tool_lists import ToolLists
from gateway.transports.agents_mcp.tools import Names
from gateway.transports.agents_mcp.waiting import Patience, Waiting
from gateway.transports.doors import Door, read_body, refusal_of

PATH: Final = "/mcp"
DOOR: Final = "mcp"
SESSION_HEADER: Final = "mcp-session-id"
IDLE_SECONDS: Final = 1_800.0

EDGE: Final = Door(name=DOOR, prefix=PATH, refuse=refuse)


class McpEndpoint:
    """Made by bootstrap, run for the life of the gateway."""

    def __init__(
        self,
        services: Services,
        *,
        extensions: Extensions | None = None,
        patience: Patience | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        patience = patience or Patience()
        self._services = services
        self._users = Users()
        self._loop: asyncio.AbstractEventLoop | None = None
        server = new_server()
        self._stateful = StreamableHTTPSessionManager(server, session_idle_timeout=idle_seconds)
        self._stateless = StreamableHTTPSessionManager(server, stateless=True)
        self._legacy = LegacySessions(services, self._stateful)
        self._waiting = Waiting(services.sessions, patience)
        self.listening = Listening(services, listens_to_all=extensions is not None)
        info = server.server_info_stamp
        lists = ToolLists(services.inventories, info, extensions)
        calls = ToolCalls(services, Names(), self._waiting, patience)
        Methods(
            server,
            lists=lists,
            calls=calls,
            tasks=Tasks(services, info, extensions),
            listening=self.listening,
            extensions=extensions,
            begin=self._begin,
            end=self._end,
        )
        self._modern = Modern(
            sdk=self._stateful.handle_request,
            lists=lists,
            calls=calls,
            server_info=info,
            is_foreign=extensions.offers if extensions is not None else _never,
            note=self._note_refused,
        )

    @property
    def route(self) -> Route:
        """Exactly `/mcp`, every method."""
        return Route(PATH, endpoint=self)

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        """Serve until the block ends."""
        self._loop = asyncio.get_running_loop()
        async with self._stateful.run(), self._stateless.run():
            try:
                yield
            finally:
                self._close()

    def close(self) -> None:
        """End streams and waits with their last answer; may be called from a signal handler."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._close)

    def _close(self) -> None:
        self._waiting.close()
        self.listening.close()
        self._legacy.end_all()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        raw, headers = _stripped(scope)
        scope = {**scope, "headers": raw}
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        is_modern = version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
        peer = _peer(scope)
        try:
            await self._serve(scope, headers, is_modern, receive, send)
        except Refused as refusal:
            with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
                await self._services.refusals.note(DOOR, peer, refusal.code)
            await refusal.answer(send, with_null_id=not is_modern)
        except ClientDisconnect:
            return

    async def _serve(
        self, scope: Scope, headers: Mapping[str, str], is_modern: bool, receive: Receive, send: Send
    ) -> None:
        limits = self._services.live.world.configuration.limits
        try:
            session = await sign_in(self._services.identity, scope["headers"], headers)
        except (StoreBusy, StoreUnavailable) as trouble:
            raise refused(refusal_of(trouble)) from None
        self._services.sessions.used(session)
        exchange = self._exchange(scope, session, headers)
        message = None
        if scope["method"] == "POST":
            try:
                body = await read_body(receive, max_bytes=limits.body_bytes, within_ms=limits.body_read_ms)
            except GatewayError as error:
                raise refused(error) from None
            message = judge(body)
            receive = replay(body, receive)
        user = self._users.of(session)
        scope["user"] = user
        tokens = current_exchange.set(exchange), auth_context_var.set(user)
        operation = None
        if message is not None:
            version = headers.get(MCP_PROTOCOL_VERSION_HEADER, "")
            operation = operations.begin(self._services.telemetry, exchange, message, headers, version)
        try:
            watched, recorded = exchange.watched(receive), exchange.recorded(receive, send)
            if is_modern:
                await self._serve_modern(exchange, message, headers, scope, watched, recorded)
            else:
                await self._serve_legacy(exchange, message, scope, watched, recorded)
        finally:
            if operation is not None:
                operation.end()
            exchange.close()
            current_exchange.reset(tokens[0])
            auth_context_var.reset(tokens[1])

    def _exchange(self, scope: Scope, session: AgentSession, headers: Mapping[str, str]) -> Exchange:
        return Exchange(
            session=session,
            peer=_peer(scope),
            arrival=self._services.inventories.arrive(),
            mcp_session=headers.get(SESSION_HEADER),
            attendance=self._services.calls.attendance,
            take=self._services.calls.take,
        )

    async def _serve_modern(
        self,
        exchange: Exchange,
        message: dict[str, Any] | None,
        headers: Mapping[str, str],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        if message is None:
            await send_json(send, 405, _POST_ONLY, [(b"allow", b"POST")])
        elif not accepts_both(headers.get("accept", "")):
            await send_json(send, 406, _ACCEPT_BOTH)
        else:
            await self._modern.serve(exchange, message, headers, scope, receive, send)

    async def _serve_legacy(
        self,
        exchange: Exchange,
        message: dict[str, Any] | None,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        owner, name = exchange.session.id, exchange.mcp_session
        if message is not None and message.get("method") == "notifications/cancelled":
            ref = self._legacy.cancelled(owner, name, message.get("params"))
            if ref is not None:
                # Explicit, unlike a client that merely left (design §3).
                cancel = partial(self._services.calls.cancel, exchange.session, ref)
                self._services.spine.spawn(self._services.spine.insist(cancel))
        is_delete = scope["method"] == "DELETE"
        if name is None or is_delete or self._legacy.was_given(name):
            if name is not None and is_delete:
                self._legacy.note(name, owner)
            await self._serve_stateful(exchange, scope, receive, self._noting(owner, send))
        else:
            await self._stateless.handle_request(scope, receive, send)

    async def _serve_stateful(self, exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            await self._stateful.handle_request(scope, receive, send)
            return
        owner = exchange.session.id
        leave = self._services.sessions.watch(owner, lambda: self._legacy.end_owned(owner))
        try:
            await self._stateful.handle_request(scope, receive, send)
        finally:
            leave()

    def _noting(self, owner: str, send: Send) -> Send:
        """Remember the session ids that are given out. The SDK also writes one on refusals: it names nothing."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [value for name, value in message["headers"] if name == _SESSION]
                if message["status"] >= 400:
                    kept = [(name, value) for name, value in message["headers"] if name != _SESSION]
                    message = {**message, "headers": kept}
                elif given:
                    self._legacy.note(given[0].decode(), owner)
            await send(message)

        return noting

    def _begin(self, exchange: Exchange, request: Any) -> InFlight:
        return self._legacy.begin(exchange.session.id, exchange.mcp_session, request)

    def _end(self, exchange: Exchange, request: Any, entry: InFlight) -> None:
        self._legacy.end(exchange.session.id, exchange.mcp_session, request, entry)

    async def _note_refused(self, exchange: Exchange, code: ErrorCode) -> None:
        session = exchange.session
        with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
            await self._services.refusals.note(DOOR, exchange.peer, code, agent=session.agent, session=session.id)


_SESSION: Final = SESSION_HEADER.encode()
_POST_ONLY: Final = (
    b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"this protocol version is spoken by POST only"}}'
)
_ACCEPT_BOTH: Final = (
    b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"accept application/json and text/event-stream"}}'
)


def _never(_: str) -> bool:
    return False


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "local"


def _stripped(scope: Scope) -> tuple[list[tuple[bytes, bytes]], dict[str, str]]:
    raw = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
    return raw, {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
