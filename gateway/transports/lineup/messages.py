"""`POST …/messages`: one message of an agent in, and what there is to say to it at once out.

A call is answered with its newest receipt (202) or its end (200), whether it is new or was asked for before; what
becomes of it later comes on the stream.
"""

from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import Call
from gateway.domain.conversations import Asked
from gateway.domain.errors import GatewayError
from gateway.failpoints import Point, reach
from gateway.protocol.lineup.agent import AppCall, Bundle, ToolCall, UiClose, UiOpen, UiPatch, instant_of
from gateway.protocol.lineup.base import ENVELOPE_LEVELS
from gateway.protocol.lineup.words import REFUSALS
from gateway.runtime.lineup import AgentCall, Opening
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.runtime.telemetry import this_request
from gateway.runtime.validators import UI_ARGUMENT_DEPTH
from gateway.transports.doors import Endpoint, json_response, note, read_json, refusal_of
from gateway.transports.lineup.door import DOOR, expect_own, refused, sign_in
from gateway.transports.lineup.reading import Received, read_message, unsupported
from gateway.transports.lineup.wire import end, message, receipt, refusal

DEPTH: Final = UI_ARGUMENT_DEPTH + ENVELOPE_LEVELS
"""Of a whole message; that the arguments of other calls are less deep is judged with their schema."""


def messages_endpoint(services: Services) -> Endpoint:
    """The endpoint of what agents send."""

    async def endpoint(request: Request) -> Response:
        return await _Exchange(services, request).run()

    return endpoint


class _Exchange:
    """One message and its answer."""

    def __init__(self, services: Services, request: Request) -> None:
        self._services = services
        self._request = request
        self._session: AgentSession | None = None

    async def run(self) -> Response:
        try:
            return await self._handle()
        except ClientDisconnect:
            return Response(status_code=400)
        except (GatewayError, StoreBusy, StoreUnavailable) as failure:
            return await refused(self._services, self._request, refusal_of(failure), self._session)

    async def _handle(self) -> Response:
        services, request = self._services, self._request
        session = self._session = await sign_in(services, request)
        expect_own(session, request)
        arrival = services.inventories.arrive()
        limits = services.live.world.configuration.limits
        value = await read_json(request, limits, max_bytes=limits.body_bytes, max_depth=DEPTH)
        received = read_message(value, session)
        match received.payload:
            case None:
                return await self._unknown(session, received)
            case ToolCall() | AppCall() as call:
                return await self._call(session, _wanted(call, received.page), arrival)
            case UiOpen() as opening:
                await services.lineup.surfaces.open(session, _opening(opening))
            case UiPatch(instance_id=instance, state=state):
                await services.lineup.surfaces.patch(session, instance, state)
            case UiClose(instance_id=instance, reason=reason):
                await services.lineup.surfaces.close(session, instance, reason)
        return Response(status_code=204)

    async def _unknown(self, session: AgentSession, received: Received) -> Response:
        error = unsupported(received.type)
        if received.call_id is None:
            raise error
        # Another kind of call than we know, told in the words of the kind we do.
        await note(self._services, DOOR, self._request, error, agent=session.agent, session=session.id)
        return self._answered(session, refusal(received.call_id, Asked.APP, error))

    async def _call(self, session: AgentSession, wanted: AgentCall, arrival: int) -> Response:
        services = self._services
        traceparent = this_request().traceparent or self._request.headers.get("traceparent")
        try:
            standing = await services.lineup.call(session, wanted, arrival=arrival, traceparent=traceparent)
        except GatewayError as error:
            if REFUSALS[error.code] is None:
                raise
            return self._answered(session, refusal(wanted.call_id, wanted.asked, error))
        call = standing.call
        if standing.receipt is not None:
            return self._answered(session, receipt(call, standing.receipt), status=202)
        told = end(
            call,
            wanted.asked,
            call.state,
            call.code,
            call.message,
            standing.result,
            reason=standing.reason,
            late=call.late,
        )
        return self._answered(session, told, taken=call)

    def _answered(
        self, session: AgentSession, told: tuple[str, dict[str, Any]], *, status: int = 200, taken: Call | None = None
    ) -> Response:
        body = message(session, self._services.ids.name("msg"), *told)
        return _Answer(json_response(body, status=status), self._services, taken)


class _Answer(Response):
    """Sends an answer and notes, once it is out, that its caller has it."""

    def __init__(self, response: Response, services: Services, taken: Call | None) -> None:
        super().__init__()
        self._response = response
        self._services = services
        self._taken = taken

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reach(Point.ANSWER_DUE)
        await self._response(scope, receive, send)
        reach(Point.ANSWER_SENT)
        if self._taken is not None:
            self._services.calls.take(self._taken)


def _wanted(call: ToolCall | AppCall, page: str | None) -> AgentCall:
    if isinstance(call, ToolCall):
        return AgentCall(
            asked=Asked.TOOL,
            call_id=call.call_id,
            capability=call.method,
            arguments=call.arguments,
            page=page,
            inventory_revision=int(call.inventory_revision.removeprefix("catalog-")),
        )
    return AgentCall(
        asked=Asked.APP,
        call_id=call.call_id,
        capability=call.capability,
        arguments=call.arguments,
        page=page,
        reason=call.reason,
        expires_at=instant_of(call.expires_at),
    )


def _opening(opening: UiOpen) -> Opening:
    app = opening.app
    return Opening(
        instance=opening.instance_id,
        app=app.id,
        version=app.version,
        state=opening.state,
        surface=None if isinstance(app, Bundle) else app.surface,
        bundle=app.model_dump(exclude_unset=True) if isinstance(app, Bundle) else None,
    )
