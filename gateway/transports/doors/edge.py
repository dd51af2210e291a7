"""The outermost layer of every HTTP answer: peer, host, rate, origin, size; then a door; then the same headers.

What is refused here is refused before anybody asks who it is, in the words of the door that was knocked at, and
audited here. WebSockets pass after their peer was found: the page channel judges its own handshake.
"""

from collections.abc import Sequence
from typing import Final

import structlog
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.domain.configuration import Configuration
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.limiter import Limiter
from gateway.runtime.services import Services
from gateway.runtime.telemetry import this_request
from gateway.transports.doors.answers import defaults_of
from gateway.transports.doors.bodies import too_large
from gateway.transports.doors.door import ELSEWHERE, Browsers, Door
from gateway.transports.doors.hosts import allowed_hosts, is_ours, judge_hosts
from gateway.transports.doors.origins import READABLE_BY_ALL, VARIES, judge_origins, preflight, readable_by
from gateway.transports.doors.peers import Proxies, is_forwarded, party_of
from gateway.transports.doors.refusals import json_response, note
from gateway.transports.doors.visit import Visit

_log = structlog.get_logger("ostiary.doors")

_LOGGED: Final = 200


class Terms:
    """What one configuration means at the edge, worked out once."""

    def __init__(self, configuration: Configuration) -> None:
        server = configuration.server
        self.configuration = configuration
        self.limits = configuration.limits
        self.proxies = Proxies(server.trusted_proxies)
        self.hosts = allowed_hosts(server)
        self.origins = frozenset(server.origins)
        self.defaults = defaults_of(server)


class Edge:
    """One per gateway, around the application of all doors."""

    def __init__(self, app: ASGIApp, services: Services, doors: Sequence[Door]) -> None:
        self._app = app
        self._services = services
        self._exact = {door.prefix: door for door in doors if not door.prefix.endswith("/")}
        self._below = tuple(door for door in doors if door.prefix.endswith("/"))
        self._terms = Terms(services.live.world.configuration)
        self._limiter = Limiter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        terms = self._present()
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope = terms.proxies.seen_through(scope)
        if scope["type"] == "websocket":
            this_request().door = "page"
            await self._app(scope, receive, send)
            return
        door = self._door_of(scope["path"])
        request = this_request()
        request.door = door.name
        visit = Visit(scope, receive, send, max_bytes=door.max_bytes(terms.limits), defaults=terms.defaults)
        request.peer = visit.peer
        visit.add([*door.always])
        is_listed = len(visit.origins) == 1 and visit.origins[0] in terms.origins
        if door.browsers is Browsers.ALL:
            visit.add(READABLE_BY_ALL)
        elif door.browsers is Browsers.LISTED:
            visit.add([*readable_by(visit.origins[0]), VARIES] if is_listed else [VARIES])
        if scope["method"] == "OPTIONS" and door.browsers is not Browsers.OWN:
            # It runs nothing, so it is neither counted nor audited, and nobody can be asked for a token here.
            may = is_ours(terms.hosts, visit.hosts) and (is_listed or door.browsers is Browsers.ALL)
            await visit.answer(preflight(visit.requested, door.methods) if may else Response(status_code=403))
            return
        try:
            self._judge(door, terms, visit)
        except GatewayError as error:
            await self._refuse(door, visit, error)
            return
        await self._serve(door, visit)

    def _present(self) -> Terms:
        configuration = self._services.live.world.configuration
        if self._terms.configuration is not configuration:
            self._terms = Terms(configuration)
        return self._terms

    def _door_of(self, path: str) -> Door:
        door = self._exact.get(path)
        if door is None:
            door = next((door for door in self._below if path.startswith(door.prefix)), ELSEWHERE)
        return door

    def _judge(self, door: Door, terms: Terms, visit: Visit) -> None:
        if not door.is_guarded:
            return
        if self._services.readiness.is_stopping:
            raise GatewayError(ErrorCode.BUSY, "the gateway is shutting down; try again")
        try:
            judge_hosts(terms.hosts, visit.hosts)
            if door.browsers is Browsers.LISTED:
                judge_origins(terms.origins, visit.origins)
        except GatewayError:
            # A page elsewhere can make a browser knock here; that must not use up what its user's agents may send.
            self._count(door, terms, visit, "refused")
            raise
        self._count(door, terms, visit, "served")
        if visit.is_encoded:
            raise GatewayError(ErrorCode.ENCODING_UNSUPPORTED, "send the body as it is, without `Content-Encoding`")
        if visit.declared > visit.max_bytes:
            raise too_large(visit.max_bytes)

    def _count(self, door: Door, terms: Terms, visit: Visit, kind: str) -> None:
        wait = self._limiter.take(
            (door.name, kind, party_of(visit.peer)),
            per_minute=terms.limits.requests_per_minute,
            burst=terms.limits.requests_burst,
            now=self._services.clock.monotonic(),
        )
        if wait is not None:
            raise GatewayError(
                ErrorCode.RATE_LIMITED, f"too many requests; try again in {wait} ms", retry_after_ms=wait
            )

    async def _refuse(self, door: Door, visit: Visit, error: GatewayError) -> None:
        is_recorded = await note(self._services, door.name, HTTPConnection(visit.scope), error)
        if error.code is ErrorCode.HOST_REFUSED:
            self._services.readiness.refused_host()
            if is_recorded:
                _log.warning("host_refused", door=door.name, peer=visit.peer, **_why(visit))
        await visit.answer(door.refuse(error, visit.scope))

    async def _serve(self, door: Door, visit: Visit) -> None:
        if door.is_guarded:
            self._services.readiness.served()
        try:
            await self._app(visit.scope, visit.receive, visit.send)
        except Exception as bug:
            _log.exception("request_failed", door=door.name, error=type(bug).__name__)
            if visit.is_begun:
                # uvicorn ends the connection, so that nobody takes half an answer for a whole one.
                raise
            await visit.answer(_failed())


def _failed() -> Response:
    return json_response({"error": {"code": "internal", "message": "the gateway failed; see its log"}}, status=500)


def _why(visit: Visit) -> dict[str, str]:
    """What an operator needs to know of a refused name; it never goes to the wire."""
    host = ", ".join(visit.hosts)[:_LOGGED]
    if is_forwarded(visit.scope["headers"]):
        hint = f"if `{visit.peer}` is your proxy, list it in `server.trusted_proxies`"
        return {"host": host, "setting": "server.trusted_proxies", "hint": hint}
    return {"host": host, "setting": "server.hosts", "hint": "if it is a name of this gateway, list it there"}
