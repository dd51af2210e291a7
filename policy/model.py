"""What a decision is made from, and what it is: plain frozen values."""

from dataclasses import dataclass, field
from enum import StrEnum

from policy.patterns import PatternSet
from policy.vocabulary import Confirm, Effect, Risk, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One entry of `rules:`. Without `users` it speaks of every user; `tier` may only raise.

    What a person does on the page themselves has no agent: only a rule for every agent (`*`) speaks of it.
    """

    id: str
    agents: tuple[str, ...]
    capabilities: tuple[str, ...]
    verdict: Verdict
    users: tuple[str, ...] | None = None
    tier: Risk | None = None

    def speaks_of(self, agent: str, user: str, capability: str) -> bool:
        """Whether this rule applies to the three."""
        return (
            any(name_matches(pattern, agent) for pattern in self.agents)
            and (self.users is None or any(name_matches(pattern, user) for pattern in self.users))
            and PatternSet.of(self.capabilities).matches(capability)
        )


def name_matches(pattern: str, name: str) -> bool:
    """Match an agent or user name: exact, `*` for all, or a trailing `*` for a prefix."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == name


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """An `expose` entry of a site: the id pattern and what the declaration may not go below."""

    pattern: str
    effect: Effect | None = None
    risk: Risk | None = None
    confirm: Confirm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a capability says of itself, as far as a decision needs it."""

    id: str
    effect: Effect = Effect.WRITE
    risk: Risk = Risk.DISPLAY_ONLY
    confirm: Confirm = Confirm.POLICY


class Stage(StrEnum):
    """The factors of the intersection, in the order they are judged (design §4)."""

    MANIFEST = "manifest"
    ENABLED = "app installed and enabled"
    SUPPORTED = "host supports it now"
    EXPOSED = "site exposes it"
    SITES = "session reaches the site"
    SCOPE = "session scope"
    POLICY = "organisation and user policy"
    VISIBLE = "agent and conversation visibility"
    PERMISSIONS = "required permissions"


class Outcome(StrEnum):
    """What one stage said."""

    PASS = "pass"  # noqa: S105 - the word of a verdict, not a secret
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """One line of an explanation: the stage, its outcome, why, and the revision it was judged on."""

    stage: Stage
    outcome: Outcome
    reason: str
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The whole answer. An approval is bound to it: equal decisions keep it, others withdraw it."""

    verdict: Verdict
    tier: Risk
    reasons: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def binding(self) -> dict[str, object]:
        """The part an approval is bound to (design §5): verdict, tier, approvers, rule ids."""
        return {
            "verdict": self.verdict.value,
            "tier": self.tier.value,
            "approvers": "user",
            "rules": list(self.rules),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """May this agent, for this user, use this capability? Facts only; gathered by the caller.

    `page` says whether the capability runs or shows on a site's page; `expose` and session
    sites are judged only then. `supported` is what the host can do now, `missing` what the capability requires and
    the host does not offer. `is_visible` says whether agents are told of it at all. `app` is the mini app that
    declares it, if one does; `required` are the permissions it needs, `granted` those the app has.
    `by_person` says that nobody asks for the user: they act on the page themselves. Then `agent` is empty, and there
    is no session whose scope and sites could matter.
    """

    agent: str
    user: str
    capability: Declared
    page: bool
    scope: PatternSet
    by_person: bool = False
    enabled: bool = True
    supported: bool = True
    missing: frozenset[str] = frozenset()
    is_visible: bool = True
    app: str | None = None
    required: frozenset[str] = frozenset()
    granted: frozenset[str] = frozenset()
    site: str | None = None
    session_sites: frozenset[str] = frozenset()
    expose: tuple[Floor, ...] = ()
    ticket: PatternSet | None = None
    revisions: dict[Stage, str] = field(default_factory=dict[Stage, str])
