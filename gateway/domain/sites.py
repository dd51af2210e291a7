"""A web application that embeds the surface host, its keys, and the tickets they mint."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.domain.bundles import BundleTerms
from policy.model import Floor


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One entry of `sites:` in the configuration file.

    `users` are patterns (`*` at the end only); `("*",)` is the file's `any`.
    `limits` holds what this site lowers of the general limits, by field of `Limits`.
    """

    name: str
    address: str
    origins: tuple[str, ...]
    users: tuple[str, ...]
    expose: tuple[Floor, ...]
    label: str = ""
    record_limit: int = 20
    in_page_scope: tuple[str, ...] | None = None
    allow_automated_approval: bool = False
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    bundles: BundleTerms = field(default_factory=BundleTerms)
    """Which bundles agents may send here."""
    bundles_from: Mapping[str, BundleTerms] = field(default_factory=dict[str, BundleTerms])
    """The same for agents it names."""

    def bundle_terms(self, agent: str) -> BundleTerms:
        """What holds for the bundles of `agent`."""
        return self.bundles_from.get(agent, self.bundles)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteKey:
    """A site backend's key for minting tickets; only its hash is stored."""

    id: str
    site: str
    secret_hash: bytes
    capabilities: tuple[str, ...]
    created_at: int
    expires_at: int
    revoked_at: int | None = None

    def is_live(self, now: int) -> bool:
        """Whether it may still mint at `now`."""
        return self.revoked_at is None and now < self.expires_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A host token: opaque, one row, single use, at most 120 s (design §2)."""

    hash: bytes
    site: str
    user: str
    origin: str
    capabilities: tuple[str, ...]
    key: str
    created_at: int
    expires_at: int
    used_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProfile:
    """One entry of `agents:`: the name the person sees, never what a client calls itself."""

    name: str
    label: str
