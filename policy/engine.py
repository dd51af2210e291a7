"""Layer 1 of policy: the intersection, then the decision. Default deny; forbid beats ask beats permit."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from policy.model import Decision, Declared, Floor, Outcome, Question, Rule, Stage, StageResult
from policy.patterns import PatternSet
from policy.vocabulary import Confirm, Effect, Risk, Verdict, highest

Judged = tuple[Outcome, str]

POLICY_ERROR: Final = ("policy_error",)
"""The reasons of a decision that could not be made."""

_NOT_APPLICABLE: Final[Judged] = (Outcome.NOT_APPLICABLE, "runs without a page")
_NO_AGENT: Final[Judged] = (Outcome.NOT_APPLICABLE, "the person acts on the page, no agent asks")


def _said(passes: bool, yes: str, no: str) -> Judged:
    return (Outcome.PASS, yes) if passes else (Outcome.FAIL, no)


def _exposed(q: Question) -> Judged:
    if not q.page and not q.by_person:
        return _NOT_APPLICABLE
    entries = _entries(q.expose, q.capability.id)
    if not entries:
        return Outcome.FAIL, f"no `expose` entry of site `{q.site}` names it"
    if q.ticket is not None and not q.ticket.matches(q.capability.id):
        return Outcome.FAIL, "the page's ticket does not cover it"
    return Outcome.PASS, f"`{entries[0].pattern}`"


def _sites(q: Question) -> Judged:
    if q.by_person:
        return _NO_AGENT
    if not q.page:
        return _NOT_APPLICABLE
    return _said(q.site in q.session_sites, f"`{q.site}`", f"the session does not name site `{q.site}`")


def _scoped(q: Question) -> Judged:
    if q.by_person:
        return _NO_AGENT
    return _said(q.scope.matches(q.capability.id), "in scope", "no scope pattern of the session names it")


def _who(q: Question) -> str:
    return f"app `{q.app}` is " if q.app else ""


def _supported(q: Question) -> Judged:
    if q.missing:
        return Outcome.FAIL, f"the host does not offer what it requires: {_names(q.missing)}"
    return _said(q.supported, "supported", "the host does not offer it now")


def _visible(q: Question) -> Judged:
    if q.by_person:
        return _NO_AGENT
    return _said(q.is_visible, "visible to every agent in scope", f"app `{q.app}` keeps it for its own frames")


def _names(words: frozenset[str]) -> str:
    return ", ".join(f"`{word}`" for word in sorted(words))


def _permitted(q: Question) -> Judged:
    if not q.required:
        return Outcome.NOT_APPLICABLE, "it requires none"
    missing = q.required - q.granted
    return _said(not missing, "all it requires are granted", f"not granted to app `{q.app}`: {_names(missing)}")


_STAGES: Final[dict[Stage, Callable[[Question], Judged]]] = {
    Stage.MANIFEST: lambda _: (Outcome.PASS, "declared"),
    Stage.ENABLED: lambda q: _said(q.enabled, f"{_who(q)}enabled", f"{_who(q)}not enabled"),
    Stage.SUPPORTED: _supported,
    Stage.EXPOSED: _exposed,
    Stage.SITES: _sites,
    Stage.SCOPE: _scoped,
    Stage.VISIBLE: _visible,
    Stage.PERMISSIONS: _permitted,
}


def _entries(expose: Sequence[Floor], capability: str) -> list[Floor]:
    return [floor for floor in expose if PatternSet.of((floor.pattern,)).matches(capability)]


def _floor_asks(question: Question) -> bool:
    # INVARIANT: an ask that a floor demands does not depend on what the page declares,
    # else a page could weaken it by declaring the truth.
    return question.page and any(
        floor.effect not in (None, Effect.READ) for floor in _entries(question.expose, question.capability.id)
    )


def effective(declared: Declared, expose: Sequence[Floor]) -> Declared:
    """The declaration raised to the floors of every `expose` entry that names it, never lowered."""
    raised = declared
    for floor in _entries(expose, declared.id):
        raised = replace(
            raised,
            effect=highest(raised.effect, floor.effect or raised.effect),
            risk=highest(raised.risk, floor.risk or raised.risk),
            confirm=highest(raised.confirm, floor.confirm or raised.confirm),
        )
    return raised


def decide(question: Question, rules: Sequence[Rule]) -> Decision:
    """Answer `question`. A stage or rule that cannot be evaluated forbids."""
    try:
        refused = [r.reason for r in judge_stages(question) if r.outcome is Outcome.FAIL]
        if refused:
            return Decision(verdict=Verdict.FORBID, tier=Risk.DISPLAY_ONLY, reasons=tuple(refused))
        return _weigh(question, rules)
    except Exception:  # noqa: BLE001 - a broken factor must close the door, not open it
        return Decision(verdict=Verdict.FORBID, tier=Risk.RESTRICTED, reasons=POLICY_ERROR)


def judge_stages(question: Question) -> list[StageResult]:
    """Judge every factor but the rules, in order."""
    return [
        StageResult(stage=stage, outcome=outcome, reason=reason, revision=question.revisions.get(stage, "-"))
        for stage, judge in _STAGES.items()
        for outcome, reason in (judge(question),)
    ]


def _weigh(question: Question, rules: Sequence[Rule]) -> Decision:
    declared = question.capability if not question.page else effective(question.capability, question.expose)
    matching = [r for r in rules if r.speaks_of(question.agent, question.user, declared.id)]
    ids = tuple(r.id for r in matching)
    if any(r.verdict is Verdict.FORBID for r in matching):
        return Decision(verdict=Verdict.FORBID, tier=Risk.DISPLAY_ONLY, reasons=("a rule forbids it",), rules=ids)
    must_agree = declared.confirm is Confirm.ALWAYS or declared.effect is Effect.DESTRUCTIVE
    tier = highest(
        declared.risk,
        Risk.USER_CONFIRMATION if must_agree else Risk.DISPLAY_ONLY,
        *(r.tier for r in matching if r.tier is not None),
    )
    # INVARIANT: rules trust agents. They may keep a person from something, but an ask of what the frame of a mini
    # app wants in the person's name is lifted by nobody but the person.
    permitted = not question.by_person and any(r.verdict is Verdict.PERMIT for r in matching)
    grounds = {
        "its tier asks": tier is not Risk.DISPLAY_ONLY,
        "a rule asks": any(r.verdict is Verdict.ASK for r in matching),
        "the site's `expose` entry makes it a write": _floor_asks(question),
        "a write asks unless a rule permits it": declared.effect is not Effect.READ and not permitted,
    }
    asks = [ground for ground, holds in grounds.items() if holds]
    if asks:
        return Decision(
            verdict=Verdict.ASK, tier=highest(tier, Risk.USER_CONFIRMATION), reasons=tuple(asks), rules=ids
        )
    return Decision(verdict=Verdict.PERMIT, tier=tier, reasons=("inside the intersection",), rules=ids)
