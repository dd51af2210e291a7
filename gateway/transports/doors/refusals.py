"""How a failed use case is told over HTTP and noted in the trail."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from starlette.requests import HTTPConnection
from starlette.responses import Response

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.strict_json import dumps
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.transports.doors.peers import UNKNOWN
from gateway.transports.errors import STATUSES, headers_of

PRIVATE: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def peer_of(connection: HTTPConnection) -> str:
    """The address a request came from; no port, so that one peer is one name."""
    return connection.client.host if connection.client else UNKNOWN


def refusal_of(error: Exception) -> GatewayError:
    """What a failed use case is to its caller; raises again what is a bug."""
    if isinstance(error, GatewayError):
        return error
    if isinstance(error, StoreBusy):
        return _of_the_store(ErrorCode.BUSY, "too much is going on; try again")
    if isinstance(error, StoreUnavailable):
        return _of_the_store(ErrorCode.STORE_UNAVAILABLE, "the store cannot commit now; nothing was kept")
    raise error


def _of_the_store(code: ErrorCode, message: str) -> GatewayError:
    error = GatewayError(code, message)
    # A store that takes nothing more takes no record of that either.
    error.is_audited = True
    return error


async def note(services: Services, door: str, connection: HTTPConnection, error: GatewayError, **facts: str) -> bool:
    """Audit a refusal unless that was done where it was made; whether it got a record of its own."""
    if error.is_audited:
        return False
    origin = connection.headers.get("origin", "")[:200] or None
    event = AuditEvent.ACCESS_REFUSED
    with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
        return await services.refusals.note(door, peer_of(connection), error.code, event, origin=origin, **facts)
    return False


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
