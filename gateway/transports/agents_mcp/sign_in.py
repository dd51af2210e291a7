"""The bearer token of a request: whose session it is, and how the SDK is told so."""

from collections.abc import Mapping, Sequence
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.identity import Identity
from gateway.transports.agents_mcp.refusals import Headers, Refused

_NO_TOKEN: Final[Headers] = [(b"www-authenticate", b'Bearer realm="ostiary"')]


async def sign_in(identity: Identity, raw: Sequence[tuple[bytes, bytes]], headers: Mapping[str, str]) -> AgentSession:
    """The live session of the one bearer token of this request.

    Raises:
        Refused: 401, with a challenge. It names no authorization server, because there is none.
    """
    credentials = headers.get("authorization")
    if credentials is None:
        raise Refused(ErrorCode.UNAUTHENTICATED, "an agent token is needed as bearer token", headers=_NO_TOKEN)
    scheme, _, token = credentials.partition(" ")
    is_single = sum(name == b"authorization" for name, _ in raw) == 1
    if scheme.lower() != "bearer" or not is_single:
        raise _refused(ErrorCode.UNAUTHENTICATED, "send one agent token as bearer token")
    try:
        return await identity.agent(token.strip())
    except GatewayError as error:
        raise _refused(error.code, error.message) from None


def _refused(code: ErrorCode, message: str) -> Refused:
    challenge = f'Bearer realm="ostiary", error="invalid_token", error_description="{message}"'
    return Refused(code, message, headers=[(b"www-authenticate", challenge.encode())])


class Users:
    """What the SDK knows of a session. It owns legacy MCP sessions by (client_id, subject)."""

    _KEPT: Final = 10_000

    def __init__(self) -> None:
        self._known: dict[str, AuthenticatedUser] = {}

    def of(self, session: AgentSession) -> AuthenticatedUser:
        """The SDK's user; user and agent session together are the subject, so two sessions share nothing."""
        user = self._known.get(session.id)
        if user is None:
            if len(self._known) >= self._KEPT:
                self._known.pop(next(iter(self._known)))
            token = AccessToken(
                token="",
                client_id=session.agent,
                scopes=[],
                subject=f"{session.user} {session.id}",
                claims={"sid": session.id},
            )
            user = self._known[session.id] = AuthenticatedUser(token)
        return user
