"""A bundle that an agent sends with `ui.surface_open`: judged whole before any row is written or any frame made (rules G).

What is told of a refusal is a code, where it is and why, and nothing the bundle holds (rules A4).
"""

from collections.abc import Mapping
from typing import Any, Final

from capabilities.package import Signature
from capabilities.signatures import Standing, TrustedKey, verdict_on
from gateway.domain.bundles import SAID, BundlePolicy, BundleTerms, SentBundle, manifest_digest
from gateway.domain.configuration import Configuration
from gateway.domain.errors import ErrorCode
from gateway.runtime.settlement import Answer
from gateway.runtime.titles import shown_title
from gateway.runtime.world import World
from surface_host.bundles import Parts, integrity_of, judge_bundle

Given = Mapping[str, Any]

_WANTED: Final[Mapping[BundlePolicy, str]] = {
    BundlePolicy.ANY: "",
    BundlePolicy.HASH_ALLOWLIST: "list that under `surfaces.hashes` of the site, or sign the bundle with a trusted key",
    BundlePolicy.SIGNED: "sign it with a key under `apps.trusted_keys`",
}


def take_bundle(world: World, given: Given, *, site: str, agent: str) -> tuple[SentBundle, Parts] | Answer:
    """The bundle of `ui.surface_open`, or why `site` does not show it for `agent`."""
    configuration = world.configuration
    terms = terms_of(configuration, site, agent)
    parts = Parts(html=given["html"], css=given.get("css", ""), js=given.get("js", ""))
    fault = judge_bundle(parts, terms.profile)
    if fault is not None:
        return Answer(code=ErrorCode(fault.code), message=f"`/bundle/{fault.part}`: {fault.reason}")
    integrity = integrity_of(parts)
    if given.get("integrity", integrity) != integrity:
        message = "`/bundle/integrity`: html, css and js are not what it names"
        return Answer(code=ErrorCode.SURFACE_INTEGRITY, message=message)
    signed_by = _signer(configuration, given, integrity)
    if isinstance(signed_by, Answer):
        return signed_by
    if not terms.allow(integrity, is_signed=signed_by is not None):
        message = f"`{site}` takes no bundle `{integrity}` from this agent; {_WANTED[terms.policy]}"
        return Answer(code=ErrorCode.SURFACE_NOT_ALLOWED, message=message)
    events = given.get("events")
    sent = SentBundle(
        name=shown_title(given["name"]) or given["id"],
        integrity=integrity,
        events=None if events is None else tuple(events),
        profile=terms.profile,
        signed_by=signed_by,
    )
    return sent, parts


def is_taken_still(configuration: Configuration, sent: SentBundle, *, site: str, agent: str) -> bool:
    """Whether a bundle that is shown would be taken now as it was then."""
    terms = terms_of(configuration, site, agent)
    is_signed = sent.signed_by is not None and sent.signed_by in configuration.app_trust.trusted_keys
    return terms.allow(sent.integrity, is_signed=is_signed) and terms.profile == sent.profile


def terms_of(configuration: Configuration, site: str, agent: str) -> BundleTerms:
    """What holds for the bundles of `agent` on `site`; a site that is gone takes none but the signed."""
    found = configuration.sites.get(site)
    return BundleTerms(policy=BundlePolicy.SIGNED) if found is None else found.bundle_terms(agent)


def _signer(configuration: Configuration, given: Given, integrity: str) -> str | Answer | None:
    """Who signed it; None for nobody. A signature that is worth nothing is no small matter, whatever is taken."""
    written = given.get("signature")
    if written is None:
        return None
    trusted = [TrustedKey(name=name, public=key) for name, key in configuration.app_trust.trusted_keys.items()]
    signature = Signature(key=written["key"], signature=written["signature"])
    verdict = verdict_on(manifest_digest(given, integrity), signature, trusted, SAID)
    if verdict.standing is not Standing.TRUSTED:
        why = "names no trusted key" if verdict.standing is Standing.UNKNOWN_KEY else "is not over this bundle"
        return Answer(code=ErrorCode.SURFACE_BAD_SIGNATURE, message=f"`/bundle/signature`: it {why}")
    return verdict.key
