"""A site's backend asks for a ticket: its service key in, a single-use ticket for one user and origin out."""

from typing import Annotated, Any, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from capabilities.json_values import pointer_to
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.identity import TicketRequest
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.transports.doors import (
    Door,
    Endpoint,
    bearer_of,
    json_response,
    note,
    read_json,
    refusal_of,
    refusal_response,
)

DOOR = "host_tokens"
BODY_BYTES = 64 * 1024
BODY_DEPTH = 4

EDGE = Door(name=DOOR, prefix="/v1/host-tokens", max_bytes=lambda _: BODY_BYTES)


VISIBLE: Final = r"^[^\x00-\x1f\x7f]+$"
"""No control characters: no person has one in the name, and one of the stores cannot hold a NUL."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    user: Annotated[
        str, Field(min_length=1, max_length=256, pattern=VISIBLE, validation_alias=AliasChoices("user", "sub"))
    ]
    origin: Annotated[str, Field(min_length=1, max_length=256)]
    capabilities: Annotated[list[str], Field(max_length=500)] | None = None
    ttl: Annotated[int, Field(ge=1)] | None = None
    """Seconds."""


def host_tokens_endpoint(services: Services) -> Endpoint:
    """The endpoint of tickets."""

    async def endpoint(request: Request) -> Response:
        try:
            ticket, life = await _mint(services, request)
        except ClientDisconnect:
            return Response(status_code=400)
        except (GatewayError, StoreBusy, StoreUnavailable) as failure:
            error = refusal_of(failure)
            await note(services, DOOR, request, error)
            return refusal_response(error)
        return json_response({"ticket": ticket, "expires_in": life // 1_000})

    return endpoint


async def _mint(services: Services, request: Request) -> tuple[str, int]:
    configuration = services.live.world.configuration
    key = await services.identity.site_key(bearer_of(request.headers))
    wanted = _read(await read_json(request, configuration.limits, max_bytes=BODY_BYTES, max_depth=BODY_DEPTH))
    longest = configuration.limits_of(key.site).ticket_ms
    if wanted.ttl is not None and wanted.ttl * 1_000 > longest:
        limit = longest // 1_000
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`ttl` is at most {limit} seconds")
    asked = TicketRequest(
        user=wanted.user,
        origin=wanted.origin,
        capabilities=None if wanted.capabilities is None else tuple(wanted.capabilities),
        ttl_ms=None if wanted.ttl is None else wanted.ttl * 1_000,
    )
    try:
        return await services.identity.mint_ticket(key, asked)
    except GatewayError as error:
        # The use case has written its own record, with the key's name.
        error.is_audited = True
        raise


def _read(value: Any) -> _Body:
    try:
        return _Body.model_validate(value)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False, include_context=False)[0]
        pointer = pointer_to(first["loc"]) or "/"
        raise GatewayError(ErrorCode.BAD_REQUEST, f"at `{pointer}`: {first['msg'].lower()}") from None
