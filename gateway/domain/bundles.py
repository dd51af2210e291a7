"""Bundles that agents send: which ones a site takes from whom, and what is kept of one that was taken (rules G). Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from gateway.domain.canonical import canonical
from surface_host.bundles import Profile

SAID: Final = b"ostiary-surface/1:"
"""Before the digest that is signed, so that no signature made for something else counts here."""


class BundlePolicy(StrEnum):
    """Which bundles are taken."""

    ANY = "any"
    HASH_ALLOWLIST = "hash-allowlist"
    """What is on the list, or signed by a trusted key."""
    SIGNED = "signed"
    """What is signed by a trusted key, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleTerms:
    """What holds for one agent on one site. `hashes` are integrities, `sha256-` and base64."""

    policy: BundlePolicy = BundlePolicy.HASH_ALLOWLIST
    profile: Profile = "strict"
    hashes: frozenset[str] = frozenset()

    def allow(self, integrity: str, *, is_signed: bool) -> bool:
        """Whether a bundle of that integrity is taken; `is_signed` says that a trusted key signed it."""
        match self.policy:
            case BundlePolicy.ANY:
                return True
            case BundlePolicy.HASH_ALLOWLIST:
                return is_signed or integrity in self.hashes
            case BundlePolicy.SIGNED:
                return is_signed


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBundle:
    """A bundle an agent sent, without its parts.

    Attributes:
        name: what its agent calls it, fit to be shown.
        integrity: `sha256-` and base64 over its parts.
        events: what it may send; None: its agent declared none, and hears all that have the form of an event.
        profile: what its frame allows.
        signed_by: the name of the trusted key that signed it.
    """

    name: str
    integrity: str
    events: tuple[str, ...] | None
    profile: Profile
    signed_by: str | None = None

    def may_send(self, event: str) -> bool:
        """Whether `event`, which has the form of one, is among those it may send."""
        return self.events is None or event in self.events


def manifest_digest(manifest: Mapping[str, Any], integrity: str) -> str:
    """What a signature of a bundle is over: SHA-256, lower-case hex, of its manifest with its integrity.

    The manifest is `id`, `name`, `version` and `events` (null if none are declared), as RFC 8785.
    """
    said = {name: manifest.get(name) for name in ("id", "name", "version", "events")}
    return hashlib.sha256(canonical({**said, "integrity": integrity})).hexdigest()
