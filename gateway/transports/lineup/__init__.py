"""`/lineup/v1` for agents that speak LineUp (design §10): messages in, a stream of messages out."""

from contextlib import ExitStack

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import GatewayError
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.transports.doors import refusal_of
from gateway.transports.lineup.door import EDGE, MESSAGES, STREAM, expect_own, place_named, refused, sign_in
from gateway.transports.lineup.messages import messages_endpoint
from gateway.transports.lineup.streams import PING_SECONDS, StreamResponse, Streams

DOORS = (EDGE,)

__all__ = ["DOORS", "LineupEndpoint"]


class LineupEndpoint:
    """Both addresses of a conversation, and the streams that are open."""

    def __init__(self, services: Services, *, ping_seconds: float = PING_SECONDS) -> None:
        self._services = services
        self._streams = Streams(services, ping_seconds=ping_seconds)

    @property
    def routes(self) -> list[BaseRoute]:
        """What this door serves."""
        stream = Route(STREAM, self._stream, methods=["GET"])
        # The router answers HEAD where it answers GET, and here it would never be done.
        stream.methods = {"GET"}
        return [Route(MESSAGES, messages_endpoint(self._services), methods=["POST"]), stream]

    def close(self) -> None:
        """End every stream: the gateway stops."""
        self._streams.close()

    async def _stream(self, request: Request) -> Response:
        services = self._services
        session: AgentSession | None = None
        try:
            session = await sign_in(services, request)
            expect_own(session, request)
            place = await services.conversations.place(session, place_named(request))
            held = ExitStack()
            return StreamResponse(held.enter_context(self._streams.one(session, place)), held)
        except (GatewayError, StoreBusy, StoreUnavailable) as failure:
            return await refused(services, request, refusal_of(failure), session)
