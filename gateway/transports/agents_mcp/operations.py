"""One MCP request as the conventions for telemetry see it: a server span and one value of a histogram.

`begin` when the message was read, `end` when its answer is out. Whoever answers with an error calls
`failed_with`; `tools/call` needs nothing else, because the call itself is followed by the use cases.
"""

import re
import time
from collections.abc import Mapping
from typing import Any, Final

from mcp_types import INTERNAL_ERROR

from gateway.domain.trace_context import read_traceparent, read_tracestate
from gateway.runtime.telemetry import Span, SpanKind, Telemetry, names, this_request
from gateway.runtime.telemetry.ports import Attribute
from gateway.transports.agents_mcp.exchange import Exchange
from gateway.transports.agents_mcp.json_objects import members_of

_TARGET: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""What a tool may be called; a name of another form is somebody's text and stays out of the span."""

_OURS: Final = frozenset({str(INTERNAL_ERROR), *(str(code) for code in range(-32099, -31999))})
"""Errors that are the server's fault (the conventions' newest model)."""


class Operation:
    """One request being served."""

    __slots__ = ("_began", "_method", "_span", "_telemetry")

    def __init__(self, telemetry: Telemetry, method: str, span: Span) -> None:
        self._telemetry = telemetry
        self._method = method
        self._span = span
        self._began = time.perf_counter()

    def end(self) -> None:
        """Its answer is out, or it was given up."""
        error = this_request().error_type
        self._telemetry.meter.observe(names.MCP_OPERATION, time.perf_counter() - self._began, self._method, error)
        if error:
            self._span.set(names.ERROR_TYPE, error)
            if error != names.TOOL_ERROR:
                self._span.set(names.RPC_STATUS, error)
        self._span.end(failed=error in _OURS)


def failed_with(error_type: str) -> None:
    """The request being served is answered with an error: a JSON-RPC code, or `tool_error`."""
    this_request().error_type = error_type


def begin(
    telemetry: Telemetry, exchange: Exchange, message: Mapping[str, Any], headers: Mapping[str, str], version: str
) -> Operation:
    """Open the operation of one JSON-RPC message, and name on `exchange` the place its calls belong to.

    The place the message names in `_meta` is the parent; the one of the HTTP request is linked. Baggage is dropped.
    """
    said = message.get("method", "")
    method = said if said in names.METHODS else names.OTHER
    meta = members_of(members_of(message.get("params")).get("_meta"))
    parent, carrier = read_traceparent(meta.get("traceparent")), read_traceparent(headers.get("traceparent"))
    if not telemetry.tracer.is_on:
        exchange.traceparent = this_request().traceparent = None if parent is None else parent.text
        return Operation(telemetry, method, telemetry.tracer.begin(method, kind=SpanKind.SERVER))
    target = _target(method, members_of(message.get("params")))
    span = telemetry.tracer.begin(
        f"{method} {target}" if target else method,
        kind=SpanKind.SERVER,
        parent=parent,
        tracestate=read_tracestate(meta.get("tracestate")) if parent else None,
        links=() if carrier is None else (carrier,),
        attributes=_attributes(method, target, exchange, message, version),
    )
    exchange.traceparent = this_request().traceparent = span.traceparent
    return Operation(telemetry, method, span)


def _target(method: str, params: Mapping[str, Any]) -> str | None:
    name = params.get("name") if method == "tools/call" else None
    return name if isinstance(name, str) and _TARGET.fullmatch(name) else None


def _attributes(
    method: str, target: str | None, exchange: Exchange, message: Mapping[str, Any], version: str
) -> dict[str, Attribute]:
    found: dict[str, Attribute | None] = {
        names.MCP_METHOD: method,
        names.MCP_VERSION: version or None,
        names.MCP_SESSION: exchange.mcp_session,
        names.JSONRPC_ID: str(message["id"])[:64] if "id" in message else None,
        names.OPERATION: names.EXECUTE_TOOL if method == "tools/call" else None,
        names.TOOL: target,
        names.TRANSPORT: "tcp",
        names.PROTOCOL: "http",
        names.CLIENT: exchange.peer,
    }
    return {name: value for name, value in found.items() if value is not None}
