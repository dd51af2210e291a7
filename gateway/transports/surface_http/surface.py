"""`POST /surface/v1`: one envelope in, one out. The bearer token names the agent session, nothing in the body does."""

import re
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Scope

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.failpoints import Point, reach
from gateway.protocol.surface import answered, is_answer, refused, request_id
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.runtime.surface import WAIT_MAX_SECONDS, WAIT_SECONDS, Handled, Transmission, read_envelope
from gateway.runtime.telemetry import this_request
from gateway.transports.doors import (
    Door,
    Endpoint,
    Waiters,
    bearer_of,
    json_response,
    note,
    read_json,
    refusal_of,
    while_connected,
)
from gateway.transports.errors import STATUSES, headers_of

DOOR: Final = "surface"

_NONCE: Final = re.compile(r"[A-Za-z0-9._:-]{16,64}")
_STAMP: Final = re.compile(r"[0-9]{1,14}")
_WAIT: Final = re.compile(r"wait=([0-9]{1,9})")

ENVELOPE_LEVELS: Final = 1
"""The arguments lie this deep in the envelope; their own depth is counted from there."""


def _refuse(error: GatewayError, _: Scope) -> Response:
    return json_response(refused(None, error), status=STATUSES[error.code], headers=headers_of(error))


EDGE: Final = Door(name=DOOR, prefix="/surface/v1", refuse=_refuse)


def surface_endpoint(services: Services) -> Endpoint:
    """The endpoint of the surface protocol."""

    async def endpoint(request: Request) -> Response:
        return await _Exchange(services, request).run()

    return endpoint


class _Exchange:
    """One request and its answer."""

    def __init__(self, services: Services, request: Request) -> None:
        self._services = services
        self._request = request
        self._waiters = Waiters(services.calls.attendance)
        self._session: AgentSession | None = None
        self._id: str | None = None

    async def run(self) -> Response:
        """Answer, or hang up the waiters when the client is gone."""
        try:
            handled = await self._handle()
        except ClientDisconnect:
            return Response(status_code=400)
        except (GatewayError, StoreBusy, StoreUnavailable) as failure:
            self._waiters.leave()
            return await self._refused(refusal_of(failure))
        body = answered(self._id or "", handled.result)
        return _Answer(json_response(body), self._services, self._waiters, handled)

    async def _handle(self) -> Handled:
        services, request = self._services, self._request
        session = self._session = await services.identity.agent(bearer_of(request.headers))
        arrival = services.inventories.arrive()
        limits = services.live.world.configuration.limits
        value = await read_json(
            request, limits, max_bytes=limits.body_bytes, max_depth=limits.argument_depth + ENVELOPE_LEVELS
        )
        self._id = request_id(value)
        envelope = read_envelope(value)
        sent = _transmission(request.headers, arrival, is_invoke=envelope.method == "invoke")
        services.sessions.used(session)
        work = services.surface.handle(session, envelope, sent, self._waiters)
        return await while_connected(request, work, self._waiters)

    async def _refused(self, error: GatewayError) -> Response:
        facts = {} if self._session is None else {"agent": self._session.agent, "session": self._session.id}
        await note(self._services, DOOR, self._request, error, **facts)
        status = 200 if self._id is not None and is_answer(error) else STATUSES[error.code]
        return json_response(refused(self._id, error), status=status, headers=headers_of(error))


class _Answer(Response):
    """Sends an answer and notes, once it is out, that its caller has it."""

    def __init__(self, response: Response, services: Services, waiters: Waiters, handled: Handled) -> None:
        super().__init__()
        self._response = response
        self._services = services
        self._waiters = waiters
        self._handled = handled

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        reach(Point.ANSWER_DUE)
        try:
            await self._response(scope, receive, send)
        except OSError:
            self._waiters.hang_up()
            raise
        reach(Point.ANSWER_SENT)
        self._waiters.leave()
        if self._handled.taken is not None:
            self._services.calls.take(self._handled.taken)


def _transmission(headers: Headers, arrival: int, *, is_invoke: bool) -> Transmission:
    return Transmission(
        nonce=_header(headers, "Ostiary-Nonce", _NONCE) if is_invoke else None,
        stamp=int(_header(headers, "Ostiary-Timestamp", _STAMP)) if is_invoke else None,
        wait_seconds=_wait_of(headers),
        arrival=arrival,
        traceparent=this_request().traceparent or headers.get("traceparent"),
    )


def _header(headers: Headers, name: str, grammar: re.Pattern[str]) -> str:
    given = headers.getlist(name)
    if len(given) != 1 or grammar.fullmatch(given[0]) is None:
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`invoke` carries the header `{name}`, once: {grammar.pattern}")
    return given[0]


def _wait_of(headers: Headers) -> float:
    """`Prefer: wait=n` in seconds; what it does not understand is ignored, as RFC 7240 wants."""
    wishes = (wish.strip() for line in headers.getlist("prefer") for wish in line.split(","))
    waits = [int(found[1]) for wish in wishes if (found := _WAIT.fullmatch(wish))]
    return min(float(waits[0]), WAIT_MAX_SECONDS) if waits else WAIT_SECONDS
