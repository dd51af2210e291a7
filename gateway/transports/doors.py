"""What every HTTP door does first: which host it is, which origin asks, who, and how much it sends.

Every refusal made here is audited here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.strict_json import BadJson, dumps, parse
from gateway.runtime.attendance import Attendance, Waiter
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.settings import Server
from gateway.transports.errors import STATUSES, headers_of

T = TypeVar("T")

Endpoint = Callable[[Request], Awaitable[Response]]

PRIVATE: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}

_JSON_CODES: Final = {
    "bad_json": ErrorCode.BAD_JSON,
    "unsafe_integer": ErrorCode.UNSAFE_INTEGER,
    "too_deep": ErrorCode.TOO_DEEP,
    "body_too_large": ErrorCode.BODY_TOO_LARGE,
}

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost", "0.0.0.0", "::"})  # noqa: S104 - names, not a bind


def peer_of(connection: HTTPConnection) -> str:
    """The address a request came from; no port, so that one peer is one name."""
    return connection.client.host if connection.client else "unknown"


def allowed_hosts(server: Server) -> frozenset[str]:
    """Host headers this gateway answers to, lower case: the public name, the listening address, the configured."""
    public = urlsplit(server.public_url)
    names = {host.lower() for host in server.hosts} | {public.netloc.lower()}
    default = {"http": 80, "https": 443}.get(public.scheme)
    if public.port is None and public.hostname:
        names.add(f"{public.hostname}:{default}")
    elif public.port == default and public.hostname:
        names.add(public.hostname)
    listening = _LOOPBACK if server.listen_host in _LOOPBACK else {server.listen_host}
    for name in listening - {"0.0.0.0", "::"}:  # noqa: S104 - names, not a bind
        names.add(f"[{name}]:{server.listen_port}" if ":" in name else f"{name.lower()}:{server.listen_port}")
    return frozenset(names)


def judge_host(server: Server, headers: Headers) -> None:
    """Refuse a request that came under another name (DNS rebinding).

    Raises:
        GatewayError: `host_refused`.
    """
    hosts = headers.getlist("host")
    if len(hosts) != 1 or hosts[0].lower() not in allowed_hosts(server):
        raise GatewayError(ErrorCode.HOST_REFUSED, "this gateway does not answer to that host name")


def judge_origin(server: Server, headers: Headers) -> None:
    """Refuse a browser of an origin nobody listed; programs send none.

    Raises:
        GatewayError: `origin_refused`.
    """
    origins = headers.getlist("origin")
    if any(origin not in server.origins for origin in origins):
        raise GatewayError(ErrorCode.ORIGIN_REFUSED, "this door is for programs; the origin is not listed")


def bearer_of(headers: Headers) -> str:
    """The bearer credential of a request.

    Raises:
        GatewayError: `unauthenticated`.
    """
    given = headers.getlist("authorization")
    scheme, _, credential = (given[0] if len(given) == 1 else "").partition(" ")
    credential = credential.strip()
    if scheme.lower() != "bearer" or not credential or len(credential) > 512:
        raise GatewayError(ErrorCode.UNAUTHENTICATED, "send `Authorization: Bearer` with a token")
    return credential


async def read_json(request: Request, *, max_bytes: int, max_depth: int) -> Any:
    """The JSON value of a body, read no further than it may be long.

    Raises:
        GatewayError: `body_too_large`, `bad_json`, `unsafe_integer` or `too_deep`.
        ClientDisconnect: the client left while it was sending.
    """
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:16]) > max_bytes:
        raise _too_large(max_bytes)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
    try:
        return parse(bytes(body), max_depth=max_depth)
    except BadJson as bad:
        raise refusal_of_json(bad) from None


def refusal_of_json(bad: BadJson) -> GatewayError:
    """The refusal of text that is not JSON both halves read alike."""
    return GatewayError(_JSON_CODES[bad.code], f"at `{bad.pointer or '/'}`: {bad.reason}", pointer=bad.pointer)


def _too_large(limit: int) -> GatewayError:
    return GatewayError(ErrorCode.BODY_TOO_LARGE, f"the body is larger than {limit} bytes")


def refusal_of(error: Exception) -> GatewayError:
    """What a failed use case is to its caller; raises again what is a bug."""
    if isinstance(error, GatewayError):
        return error
    if isinstance(error, StoreBusy):
        return GatewayError(ErrorCode.BUSY, "too much is going on; try again")
    if isinstance(error, StoreUnavailable):
        return GatewayError(ErrorCode.STORE_UNAVAILABLE, "the store cannot commit now; nothing was kept")
    raise error


async def note(services: Services, door: str, connection: HTTPConnection, error: GatewayError, **facts: str) -> None:
    """Audit a refusal unless that was done where it was made."""
    if error.is_audited or error.code in (ErrorCode.BUSY, ErrorCode.STORE_UNAVAILABLE):
        return
    origin = connection.headers.get("origin", "")[:200] or None
    event = AuditEvent.ACCESS_REFUSED
    with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
        await services.refusals.note(door, peer_of(connection), error.code, event, origin=origin, **facts)


def json_response(
    value: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A private JSON answer."""
    return Response(
        dumps(value), status_code=status, media_type="application/json", headers={**PRIVATE, **(headers or {})}
    )


def refusal_response(error: GatewayError) -> Response:
    """A refusal at a door that has no envelope of its own."""
    body = {"error": {"code": error.code.wire, "message": error.message}}
    return json_response(body, status=STATUSES[error.code], headers=headers_of(error))


class Waiters(list[Waiter]):
    """The waiters one request opened; all leave together, by an answer or by a hang-up."""

    def __init__(self, attendance: Attendance) -> None:
        super().__init__()
        self._attendance = attendance

    def leave(self) -> None:
        """The caller has its answer."""
        for waiter in self:
            self._attendance.leave(waiter)

    def hang_up(self) -> None:
        """The caller went before an answer."""
        for waiter in self:
            self._attendance.hang_up(waiter)


async def while_connected(request: Request, work: Coroutine[Any, Any, T], waiters: Waiters) -> T:
    """Do `work` for as long as its client is there; the body must have been read.

    Raises:
        ClientDisconnect: it left; its waiters were hung up.
    """
    doing = asyncio.create_task(work)
    watching = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({doing, watching}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
    finally:
        watching.cancel()
        if not doing.done():
            waiters.hang_up()
            doing.cancel()
            with suppress(asyncio.CancelledError, GatewayError):
                await doing
    raise ClientDisconnect


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
