"""What one agent session may see: the snapshot, and the baseline the rug-pull guard compares with."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from capabilities.contract import Descriptor
from gateway.domain.app_catalog import OfferedApp
from gateway.domain.canonical import canonical
from policy.model import Decision, Declared


def key_of(site: str | None, capability: str) -> str:
    """The name of a listed capability inside one session: `site/id`, or the id when no page is involved."""
    return capability if site is None else f"{site}/{capability}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One capability as one session sees it.

    `descriptor` is the listed declaration; `effective` is it raised to the site's floors;
    `pages` are the page sessions that offer it, best first.
    """

    key: str
    descriptor: Descriptor
    effective: Declared
    site: str | None
    decision: Decision
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The inventory of one session at one moment, by key, in key order, with the apps it may use by id.

    `hash` is its content address.
    """

    entries: Mapping[str, Listed]
    hash: str
    apps: tuple[OfferedApp, ...] = ()

    @classmethod
    def of(cls, entries: Mapping[str, Listed], apps: Iterable[OfferedApp] = ()) -> "Snapshot":
        """Order and address both; the address covers keys, fingerprints, what agents see of risk, and packages."""
        ordered = dict(sorted(entries.items()))
        usable = tuple(sorted(apps, key=lambda app: app.id))
        told = {
            key: [e.descriptor.fingerprint, e.effective.effect.value, e.decision.tier.value]
            for key, e in ordered.items()
        }
        if usable:
            # No key is empty.
            told[""] = [app.digest for app in usable]
        return cls(entries=ordered, hash=hashlib.sha256(canonical(told)).hexdigest(), apps=usable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a session was served: `shown` holds the last fingerprint of every key it ever saw.

    `revision` grows by one with each different snapshot served (`catalog-42`). `since` is the revision that first
    showed the last fingerprint of a key, where that was not the first one.
    """

    revision: int = 0
    snapshot: str = ""
    shown: Mapping[str, str] = field(default_factory=dict[str, str])
    since: Mapping[str, int] = field(default_factory=dict[str, int])

    def served(self, snapshot: Snapshot) -> "Baseline":
        """The baseline after `snapshot` was served; the same object when nothing differs."""
        if snapshot.hash == self.snapshot:
            return self
        return self._after({key: e.descriptor.fingerprint for key, e in snapshot.entries.items()}, snapshot.hash)

    def told(self, fingerprints: Mapping[str, str]) -> "Baseline":
        """The baseline after an answer told some descriptions; the same object when they are no news."""
        if fingerprints.items() <= self.shown.items():
            return self
        return self._after(fingerprints, "")

    def held(self, key: str, revision: int) -> bool:
        """Whether `revision` was given and showed `key` as it was shown last (rules B2)."""
        return key in self.shown and self.since.get(key, 1) <= revision <= self.revision

    def _after(self, fingerprints: Mapping[str, str], snapshot: str) -> "Baseline":
        revision = self.revision + 1
        news = {key for key, fingerprint in fingerprints.items() if self.shown.get(key) != fingerprint}
        since = dict(self.since) if revision == 1 else {**self.since, **dict.fromkeys(sorted(news), revision)}
        return Baseline(revision=revision, snapshot=snapshot, shown={**self.shown, **fingerprints}, since=since)
