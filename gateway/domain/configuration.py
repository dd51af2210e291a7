"""What `ostiary.yaml` says, whole and judged: the only source of sites, agents, rules and server settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from gateway.domain.sites import AgentProfile, Site
from gateway.settings import Limits, Outbox, Server
from policy.model import Rule
from policy.vocabulary import Risk

IN_PAGE: Final = "in-page:"
"""Before the name of a site: the client inside the site's own pages. No configured agent can have such a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppGrant:
    """What the operator gives an installed mini app beside its permissions.

    Attributes:
        secrets: by the name the app uses, the variable of the gateway's environment that holds the value.
        internal_hosts: `host` or `host:port` of the own network that its handlers may ask, if they declare it.
    """

    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    internal_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppTrust:
    """`apps:`, whose packages of mini apps are taken. `trusted_keys` holds 32 bytes of Ed25519 by the key's name."""

    trusted_keys: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    require_signature: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeTarget:
    """What an action of a document may ask for by one name, as the administrator opened it (rules H6).

    Attributes:
        target: the capability id: one that the page declares, a tool of an app, or `ui.callback`.
        risk: who must agree at least, whatever the capability declares.
        result_fields: the scalar fields of the output that the document is told.
    """

    target: str
    risk: Risk = Risk.DISPLAY_ONLY
    result_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """`documents:`, how large documents may be, how many are kept, and what their actions may ask for.

    Attributes:
        max_bytes: largest canonical text of one.
        max_generations: how many may be open at once; one more is refused, none is evicted.
    """

    max_bytes: int = 262_144
    max_generations: int = 256
    invoke: Mapping[str, InvokeTarget] = field(default_factory=dict[str, InvokeTarget])


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Immutable; a reload swaps the whole value. `revision` is `policy-` and 12 hex of the file's SHA-256."""

    revision: str
    server: Server = field(default_factory=Server)
    limits: Limits = field(default_factory=Limits)
    outbox: Outbox = field(default_factory=Outbox)
    sites: Mapping[str, Site] = field(default_factory=dict[str, Site])
    agents: Mapping[str, AgentProfile] = field(default_factory=dict[str, AgentProfile])
    rules: tuple[Rule, ...] = ()
    apps: Mapping[str, AppGrant] = field(default_factory=dict[str, AppGrant])
    app_trust: AppTrust = field(default_factory=AppTrust)
    documents: Documents = field(default_factory=Documents)

    def limits_of(self, site: str | None) -> Limits:
        """The limits on `site`: the general ones, with what the site lowers."""
        found = self.sites.get(site) if site is not None else None
        return replace(self.limits, **found.limits) if found is not None and found.limits else self.limits

    def agent_label(self, agent: str) -> str:
        """What the person sees for `agent`; for the client inside a page that is the site's label."""
        if agent.startswith(IN_PAGE):
            site = self.sites.get(agent.removeprefix(IN_PAGE))
            return (site.label if site else "") or agent
        profile = self.agents.get(agent)
        return profile.label if profile else agent
