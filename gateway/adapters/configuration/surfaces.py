"""`surfaces:` of a site: which bundles agents may send there."""

from collections.abc import Collection
from enum import StrEnum
from typing import Final

from gateway.adapters.configuration import keys, values
from gateway.adapters.configuration.fields import Fields
from gateway.domain.bundles import BundlePolicy, BundleTerms
from surface_host.bundles import Profile


class _Profile(StrEnum):
    STRICT = "strict"
    COMPAT = "compat"


_PROFILES: Final[dict[_Profile, Profile]] = {_Profile.STRICT: "strict", _Profile.COMPAT: "compat"}


def bundles_of(site: Fields, agents: Collection[str]) -> tuple[BundleTerms, dict[str, BundleTerms]]:
    """What holds for every agent, and for those it names; these have what they do not say from the others."""
    section = site.within("surfaces", keys.SITE_SURFACES)
    if section is None:
        return BundleTerms(), {}

    def agent(text: str) -> str:
        if text not in agents:
            raise values.Refused(f"there is no agent `{text}`", "declare it under `agents:`")
        return text

    general = _terms(section, BundleTerms())
    return general, {name: _terms(own, general) for name, own in section.named("agents", keys.SURFACES_OF, agent)}


def _terms(section: Fields, general: BundleTerms) -> BundleTerms:
    profile = section.word("profile", _Profile)
    return BundleTerms(
        policy=section.word("bundles", BundlePolicy) or general.policy,
        profile=general.profile if profile is None else _PROFILES[profile],
        hashes=general.hashes | frozenset(section.texts("hashes", values.integrity)),
    )
