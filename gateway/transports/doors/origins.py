"""Browsers at the doors of programs: which origins may use them, and what lets these read the answers (CORS).

An origin is listed in `server.origins` or it is not: no wildcard, no credentials, no reflection.
"""

from collections.abc import Collection
from typing import Final

from starlette.responses import Response

from gateway.domain.errors import ErrorCode, GatewayError

RawHeaders = list[tuple[bytes, bytes]]

METHODS: Final = ("POST", "GET", "DELETE")

REQUESTED: Final = (
    "authorization",
    "content-type",
    "accept",
    "mcp-protocol-version",
    "mcp-session-id",
    "mcp-method",
    "mcp-name",
    "last-event-id",
    "ostiary-nonce",
    "ostiary-timestamp",
    "prefer",
    "traceparent",
    "tracestate",
    "if-match",
    "if-none-match",
    "idempotency-key",
)
"""Headers a browser may send; beside them whatever begins with `mcp-param-`."""

_PARAMETER: Final = "mcp-param-"
_PARAMETERS_MAX: Final = 64
_TOKEN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~")

VARIES: Final = (b"vary", b"Origin")
EXPOSED: Final = (
    b"Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, ETag, Location, Idempotency-Replayed"
)
MAX_AGE: Final = 7_200
"""Seconds a browser may keep a preflight's answer; Chromium keeps none longer."""


def judge_origins(listed: Collection[str], given: list[str]) -> None:
    """Refuse a browser of an origin nobody listed; programs send none.

    Raises:
        GatewayError: `origin_refused`.
    """
    if any(origin not in listed for origin in given):
        raise GatewayError(ErrorCode.ORIGIN_REFUSED, "this door is for programs; the origin is not listed")


def preflight(wanted: str, methods: tuple[str, ...]) -> Response:
    """The answer to `OPTIONS` of a listed origin; `wanted` is its `Access-Control-Request-Headers`."""
    headers = {
        "Allow": ", ".join((*methods, "OPTIONS")),
        "Access-Control-Allow-Methods": ", ".join(methods),
        "Access-Control-Allow-Headers": ", ".join((*REQUESTED, *_parameters(wanted))),
        "Access-Control-Max-Age": str(MAX_AGE),
        "Vary": "Access-Control-Request-Headers",
    }
    return Response(status_code=204, headers=headers)


def readable_by(origin: str) -> RawHeaders:
    """The headers that let a listed origin read an answer. There are no credentials but the header the client sets."""
    return [(b"access-control-allow-origin", origin.encode("latin-1")), (b"access-control-expose-headers", EXPOSED)]


READABLE_BY_ALL: Final[RawHeaders] = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", EXPOSED),
]
"""For what is public anyway."""


def _parameters(wanted: str) -> list[str]:
    names = (name.strip().lower() for name in wanted.split(","))
    # Echoed into a header, so judged by the grammar of one.
    return [name for name in names if name.startswith(_PARAMETER) and _TOKEN.issuperset(name)][:_PARAMETERS_MAX]
