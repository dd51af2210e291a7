"""What the use cases of administration hand back."""

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.domain.admin_tokens import AdminToken
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.sites import SiteKey
from policy.explain import Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A new session and its token, which is not kept."""

    session: AgentSession
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A new service key and its secret, which is not kept."""

    key: SiteKey
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAdminToken:
    """A new token of the admin API and its secret, which is not kept."""

    token: AdminToken
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a capability is declared, and why the session may or may not use it there. `page` None: the runtime."""

    page: Mapping[str, object] | None
    explanation: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Why one session may or may not use one capability. No place means that nothing declares it now."""

    session: AgentSession
    standing: str
    capability: str
    places: tuple[Place, ...]
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The gateway at a glance."""

    revision: str
    pages: tuple[Mapping[str, object], ...]
    sessions: int
    ledger_rows: int
    open_calls: int
