"""`/lineup/v1`: whose door it is, and how it says no."""

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.services import Services
from gateway.transports.doors import Door, bearer_of, json_response, note
from gateway.transports.errors import STATUSES, headers_of
from gateway.transports.lineup.reading import unknown_conversation
from gateway.transports.lineup.wire import told_error

DOOR: Final = "lineup"
PREFIX: Final = "/lineup/v1/"
MESSAGES: Final = f"{PREFIX}conversations/{{conversation}}/messages"
STREAM: Final = f"{PREFIX}conversations/{{conversation}}/stream"

_PLACE: Final = re.compile(r"[0-9]{1,15}")


def refuse(error: GatewayError, _: Scope | None = None) -> Response:
    """A refusal that is the whole answer."""
    return json_response({"error": told_error(error)}, status=STATUSES[error.code], headers=headers_of(error))


EDGE: Final = Door(name=DOOR, prefix=PREFIX, refuse=refuse)


async def sign_in(services: Services, request: Request) -> AgentSession:
    """The session whose token this is.

    Raises:
        GatewayError: `unauthenticated` and its kin.
    """
    session = await services.identity.agent(bearer_of(request.headers))
    services.sessions.used(session)
    return session


def expect_own(session: AgentSession, request: Request) -> None:
    """Refuse every conversation but the session's own, whether or not there is one of that name.

    Raises:
        GatewayError: `unknown_conversation`.
    """
    named = str(request.path_params["conversation"])
    if named != session.conversation:
        raise unknown_conversation(named)


async def refused(
    services: Services, request: Request, error: GatewayError, session: AgentSession | None
) -> Response:
    """Audit a refusal and tell it."""
    facts = {} if session is None else {"agent": session.agent, "session": session.id}
    await note(services, DOOR, request, error, **facts)
    return refuse(error)


def place_named(request: Request) -> int | None:
    """The place a client wants to go on after, as `Last-Event-ID` names it.

    Raises:
        GatewayError: `bad_request`.
    """
    given = request.headers.getlist("last-event-id")
    if not any(given):
        return None
    if len(given) != 1 or _PLACE.fullmatch(given[0]) is None:
        raise GatewayError(ErrorCode.BAD_REQUEST, "`Last-Event-ID` is the id of an event of this stream")
    return int(given[0])
