"""The outermost layer: one line in the log and one value of a histogram for each HTTP request and page socket.

What it tells, it is told: the doors fill in `this_request()` on the way. It reads no header but `traceparent`, and
no body at all.
"""

import time
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.domain.trace_context import read_traceparent, read_tracestate, trace_id_of
from gateway.runtime.telemetry import RequestFacts, Span, SpanKind, Telemetry, begin_request, end_request, names

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_BELOW: Final = (
    ("/surface-host", "/surface-host{rest}"),
    ("/admin/v1/", "/admin/v1/{rest}"),
    ("/lineup/v1/", "/lineup/v1/{rest}"),
)

_PROBES: Final = frozenset({"/livez", "/healthz", "/readyz"})

_MCP: Final = "/mcp"
"""Has spans of its own, one for each message."""

_LEFT: Final = 499
"""The status of a request whose client went before its answer, as proxies write it."""


class RequestLog:
    """One per gateway, around everything."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry
        self._log = structlog.get_logger("ostiary.request").bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        began, status, size = time.perf_counter(), _LEFT, 0
        known, token = begin_request()
        route = _route_of(scope["path"])
        span = self._span(scope, route, known)

        async def counting(message: Message) -> None:
            nonlocal status, size
            match message["type"]:
                case "http.response.body":
                    size += len(message.get("body", b""))
                case "http.response.start" | "websocket.http.response.start":
                    status = message["status"]
                case "websocket.accept":
                    status = 101
                case _:
                    pass
            await send(message)

        try:
            await self._app(scope, receive, counting)
        finally:
            end_request(token)
            seconds = time.perf_counter() - began
            self._telemetry.meter.observe(names.HTTP_REQUEST, seconds, route, str(status))
            if span is not None:
                span.set(names.HTTP_STATUS, status)
                span.end(failed=status >= 500)
            tell = self._log.debug if route in _PROBES else self._log.info
            tell("request", **_line(scope, route, known, status, seconds, size))

    def _span(self, scope: Scope, route: str, known: RequestFacts) -> Span | None:
        if not self._telemetry.tracer.is_on or route == _MCP or scope["type"] == "websocket" or route in _PROBES:
            return None
        sent = {name: value.decode("latin-1") for name, value in scope["headers"] if name in _TRACING}
        parent = read_traceparent(sent.get(b"traceparent"))
        method = _method_of(scope)
        span = self._telemetry.tracer.begin(
            f"{method} {route}",
            kind=SpanKind.SERVER,
            parent=parent,
            tracestate=read_tracestate(sent.get(b"tracestate")) if parent else None,
            attributes={names.HTTP_METHOD: method, names.HTTP_ROUTE: route},
        )
        known.traceparent = span.traceparent
        return span


_TRACING: Final = frozenset({b"traceparent", b"tracestate"})


def _route_of(path: str) -> str:
    if path in names.ROUTES:
        return path
    return next((route for prefix, route in _BELOW if path.startswith(prefix)), names.OTHER)


def _method_of(scope: Scope) -> str:
    method = scope.get("method", "GET")
    return method if method in _METHODS else names.OTHER


def _line(
    scope: Scope, route: str, known: RequestFacts, status: int, seconds: float, size: int
) -> dict[str, str | int | float | None]:
    client = scope.get("client")
    return {
        "door": known.door,
        "method": _method_of(scope),
        "path": route,
        "status": status,
        "code": known.code,
        "agent": known.agent,
        "session": known.session,
        "peer": known.peer or (client[0] if client else None),
        "ms": round(seconds * 1_000, 3),
        "bytes": size,
        "trace_id": trace_id_of(known.traceparent),
    }
