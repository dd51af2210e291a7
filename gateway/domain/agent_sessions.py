"""A grant: which agent may act for which user, on which sites, in which scope, until when."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSession:
    """One grant and its one token. Instants are milliseconds since the epoch.

    `scope` and `sites` are patterns and site names; both empty means nothing at all.
    `page` ties an in-page session to the page session it lives and dies with.
    """

    id: str
    agent: str
    user: str
    conversation: str
    sites: tuple[str, ...]
    scope: tuple[str, ...]
    token_hash: bytes
    created_at: int
    expires_at: int
    revoked_at: int | None = None
    page: str | None = None

    def is_live(self, now: int) -> bool:
        """Whether it may still be used at `now`."""
        return self.revoked_at is None and now < self.expires_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who made a request. `agent` is empty for entries without one (rules B1)."""

    agent: str
    user: str
    session: str
