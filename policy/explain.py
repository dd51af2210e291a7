"""Why: every stage of the intersection, and the decision, in words an admin can read."""

from collections.abc import Sequence
from dataclasses import dataclass

from policy.engine import decide, judge_stages
from policy.model import Decision, Outcome, Question, Rule, Stage, StageResult
from policy.vocabulary import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The stages in order, with the policy stage told from the decision itself."""

    capability: str
    stages: tuple[StageResult, ...]
    decision: Decision


def explain(question: Question, rules: Sequence[Rule]) -> Explanation:
    """Explain one decision; agrees with `decide` by construction."""
    decision = decide(question, rules)
    stages = {result.stage: result for result in judge_stages(question)}
    stages[Stage.POLICY] = _policy(question, decision, stages)
    return Explanation(
        capability=question.capability.id,
        stages=tuple(stages[stage] for stage in Stage),
        decision=decision,
    )


def _policy(question: Question, decision: Decision, others: dict[Stage, StageResult]) -> StageResult:
    revision = question.revisions.get(Stage.POLICY, "-")
    if any(r.outcome is Outcome.FAIL for r in others.values()):
        outcome, reason = Outcome.NOT_APPLICABLE, "an earlier stage refuses"
    elif decision.verdict is Verdict.FORBID:
        outcome, reason = Outcome.FAIL, "; ".join(decision.reasons)
    else:
        outcome, reason = Outcome.PASS, f"{decision.verdict} ({'; '.join(decision.reasons)})"
    if decision.rules:
        reason = f"{reason}; rules {', '.join(decision.rules)}"
    return StageResult(stage=Stage.POLICY, outcome=outcome, reason=reason, revision=revision)
