"""What the gateway tells about itself while it runs: counts, times, spans and the facts of a request's log line.

How to use it, in a transport or a use case:

- `telemetry.meter.add(names.REFUSALS, door, code)` counts, `.observe(names.CALL_STAGE, seconds, "admit")` times.
  Both are plain calls of a fraction of a microsecond, on the loop or on the store thread. The labels come in the
  order of the metric's table; a value that is not in it becomes `other`.
- `this_request()` is the open request's line: set `agent`, `session`, `code`, `traceparent` where they become known. Outside
  a request it is a line nobody writes, so no caller has to ask.
- `telemetry.tracer.begin(...)` opens a span and must be followed by `end`; where tracing is off it costs a call.
- One MCP request is `operations.begin(...)` and `operation.end(error_type)` in `transports/agents_mcp`.
- `telemetry.calls` is told of every call by the use cases; transports have nothing to do for it.

Nothing here ever gets arguments, results, credentials or a message that quotes them.
"""

from gateway.runtime.telemetry import names
from gateway.runtime.telemetry.call_watch import CallWatch
from gateway.runtime.telemetry.ports import NO_METER, NO_TRACER, Meter, Span, SpanKind, Tracer
from gateway.runtime.telemetry.request_facts import RequestFacts, begin_request, end_request, this_request
from gateway.runtime.telemetry.telemetry import Telemetry

__all__ = [
    "NO_METER",
    "NO_TRACER",
    "CallWatch",
    "Meter",
    "RequestFacts",
    "Span",
    "SpanKind",
    "Telemetry",
    "Tracer",
    "begin_request",
    "end_request",
    "names",
    "this_request",
]
