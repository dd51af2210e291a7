"""A credential of the admin API: a name for the trail, what it may do, until when. Only its hash is kept."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

HOUR_MS: Final = 3_600_000


class AdminScope(StrEnum):
    """What an admin token may do. Each but `admin.read` reads and changes its own kind; none includes another."""

    READ = "admin.read"
    SESSIONS = "admin.sessions"
    KEYS = "admin.keys"
    CALLS = "admin.calls"
    AUDIT = "admin.audit"
    CONFIGURATION = "admin.configuration"
    TOKENS = "admin.tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminToken:
    """One token. Instants are milliseconds since the epoch; `last_used_at` is the beginning of an hour.

    `name` stands in the audit trail and is unique among live tokens.
    """

    id: str
    name: str
    token_hash: bytes
    scopes: frozenset[AdminScope]
    created_at: int
    expires_at: int
    revoked_at: int | None = None
    last_used_at: int | None = None

    def is_live(self, now: int) -> bool:
        """Whether it may still be used at `now`."""
        return self.revoked_at is None and now < self.expires_at


def hour_of(instant: int) -> int:
    """The beginning of the hour of `instant`: as exactly as the last use of a token is told."""
    return instant - instant % HOUR_MS
