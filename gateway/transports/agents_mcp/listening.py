"""`tools/list_changed` in both eras, told only to the session whose list changed (design §11)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from mcp.server.session import ServerSession
from mcp.server.subscriptions import ListenHandler, ServerEvent, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, SubscriptionFilter, SubscriptionsListenRequestParams, SubscriptionsListenResult

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.transports.agents_mcp import sdk_private
from gateway.transports.agents_mcp.exchange import Exchange, current_exchange
from gateway.transports.agents_mcp.tasks import Context

STREAMS: Final = 8
"""Open streams of one agent session."""


class Bus:
    """The SDK's fan-out for the streams of one agent session."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}

    async def publish(self, event: ServerEvent) -> None:
        """Tell every stream (the SDK's protocol)."""
        self.tell(event)

    def tell(self, event: ServerEvent) -> None:
        """Tell every stream, now."""
        for listener in tuple(self._listeners.values()):
            listener(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Add a stream; returns the way out."""
        token = object()
        self._listeners[token] = listener

        def leave() -> None:
            self._listeners.pop(token, None)

        return leave


@dataclass(eq=False, slots=True)
class _Older:
    """A session of an older client. At most one notice is on its way: another would say the same."""

    session: ServerSession
    is_being_told: bool = False
    is_due: bool = False

    async def tell(self) -> None:
        """Say that the list changed, and again if it did meanwhile."""
        try:
            while self.is_due:
                self.is_due = False
                await self.session.send_tool_list_changed()
        finally:
            self.is_being_told = False


@dataclass(eq=False, slots=True)
class _Audience:
    """Who listens for one agent session."""

    bus: Bus
    handler: ListenHandler
    leave: list[Callable[[], None]]
    streams: int = 0
    legacy: dict[str, _Older] = field(default_factory=dict[str, _Older])


class Listening:
    """One per endpoint."""

    def __init__(self, services: Services, *, listens_to_all: bool = False) -> None:
        self._services = services
        self._listens_to_all = listens_to_all
        self._audiences: dict[str, _Audience] = {}

    async def listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Serve one `subscriptions/listen` stream until the client leaves, its session ends, or we stop.

        Raises:
            MCPError: -32603, the session has all its streams.
        """
        exchange = current_exchange.get()
        session = exchange.session
        audience = self._audience(session)
        if audience.streams >= STREAMS:
            await self._refuse(exchange)
        audience.streams += 1
        if not self._listens_to_all:
            # Only lists of tools ever change here; the answer says what will be told.
            wanted = SubscriptionFilter(tools_list_changed=params.notifications.tools_list_changed)
            params = params.model_copy(update={"notifications": wanted})
        try:
            return await audience.handler(context, params)
        finally:
            audience.streams -= 1
            self._drop_if_empty(session.id, audience)

    async def _refuse(self, exchange: Exchange) -> None:
        session = exchange.session
        with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
            await self._services.refusals.note(
                "mcp", exchange.peer, ErrorCode.BUSY, agent=session.agent, session=session.id
            )
        message = f"{STREAMS} streams of this session are open already; let one of them end"
        raise MCPError(INTERNAL_ERROR, message, {"code": ErrorCode.BUSY.wire})

    def keep(self, session: AgentSession, mcp_session: ServerSession) -> None:
        """Remember a legacy session that finished its handshake; it is told on its GET stream."""
        name = sdk_private.session_id_of(mcp_session)
        if name is None:
            return
        audience = self._audience(session)
        audience.legacy[name] = _Older(mcp_session)

        def forget() -> None:
            audience.legacy.pop(name, None)
            self._drop_if_empty(session.id, audience)

        sdk_private.when_closed(mcp_session, forget)

    def publish(self, session: str, event: ServerEvent) -> None:
        """Tell the newer streams of a session something else than a change of its list."""
        audience = self._audiences.get(session)
        if audience is not None:
            audience.bus.tell(event)

    def close(self) -> None:
        """End every stream with its final result."""
        for audience in self._audiences.values():
            audience.handler.close()

    def _audience(self, session: AgentSession) -> _Audience:
        audience = self._audiences.get(session.id)
        if audience is None:
            bus = Bus()
            audience = _Audience(bus, ListenHandler(bus, max_subscriptions=STREAMS, max_buffered_events=64), [])
            self._audiences[session.id] = audience
            audience.leave = [
                self._services.changes.subscribe(session, lambda: self._tell(audience)),
                self._services.sessions.watch(session.id, audience.handler.close),
            ]
        return audience

    def _tell(self, audience: _Audience) -> None:
        audience.bus.tell(ToolsListChanged())
        for older in audience.legacy.values():
            older.is_due = True
            if not older.is_being_told:
                older.is_being_told = True
                self._services.spine.spawn(older.tell())

    def _drop_if_empty(self, session: str, audience: _Audience) -> None:
        if audience.streams or audience.legacy or self._audiences.get(session) is not audience:
            return
        del self._audiences[session]
        for leave in audience.leave:
            leave()
