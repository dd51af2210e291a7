"""Answers about what opens doors: agent sessions, service keys, admin tokens."""

from typing import Annotated

from pydantic import Field

from gateway.domain.admin_tokens import AdminScope
from gateway.protocol.admin.base import Answer, Instant, Next, Undeclared


class AgentSession(Answer):
    """A grant: one agent, one user, some sites, a scope, an end."""

    session: str
    agent: str
    user: str
    conversation: str
    sites: list[str]
    scope: list[str]
    undeclared: Undeclared
    standing: Annotated[str, Field(description="`live`, or why it is of no use now.")]
    created_at: Instant
    expires_at: Instant
    revoked_at: Instant | None
    page: Annotated[str | None, Field(description="The page session an in-page client lives and dies with.")]


class AgentSessionMade(AgentSession):
    """A grant that was just made."""

    token: Annotated[
        str | None,
        Field(description="Shown this once. Null where the same `Idempotency-Key` made the session before."),
    ]


class AgentSessions(Answer):
    """Grants, newest first."""

    items: list[AgentSession]
    next: Next


class SiteKey(Answer):
    """A service key of a site's backend."""

    key: str
    site: str
    capabilities: list[str]
    undeclared: Undeclared
    standing: Annotated[str, Field(description="`live`, or why it is of no use now.")]
    created_at: Instant
    expires_at: Instant
    revoked_at: Instant | None


class SiteKeyMade(SiteKey):
    """A service key that was just made."""

    secret: Annotated[
        str | None,
        Field(description="Shown this once. Null where the same `Idempotency-Key` made the key before."),
    ]


class SiteKeys(Answer):
    """Service keys, newest first."""

    items: list[SiteKey]
    next: Next


class AdminToken(Answer):
    """A token of this API."""

    admin_token: str
    name: str
    scopes: list[AdminScope]
    standing: Annotated[str, Field(description="`live`, `revoked` or `expired`.")]
    created_at: Instant
    expires_at: Instant
    revoked_at: Instant | None
    last_used_at: Annotated[Instant | None, Field(description="The beginning of the hour of its last use.")]


class AdminTokens(Answer):
    """Tokens of this API, newest first."""

    items: list[AdminToken]
    next: Next
