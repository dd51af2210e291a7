"""Decisions: default deny, forbid beats ask beats permit, and what a permit may never lift (design §4)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.engine import decide, effective
from policy.explain import explain
from policy.model import Declared, Floor, Outcome, Question, Rule, Stage
from policy.patterns import PatternSet
from policy.vocabulary import Confirm, Effect, Risk, Verdict

WRITE = Declared(id="todo.add")
READ = Declared(id="todo.add", effect=Effect.READ)
PERMIT = Rule(id="r1", agents=("claude",), capabilities=("todo.*",), verdict=Verdict.PERMIT)
ASK = replace(PERMIT, id="r2", verdict=Verdict.ASK)
FORBID = replace(PERMIT, id="r3", verdict=Verdict.FORBID)


def question(capability: Declared = WRITE, **changes: Any) -> Question:
    """Inside the intersection on site `todo`, unless changed."""
    base = Question(
        agent="claude",
        user="ana",
        capability=capability,
        page=True,
        scope=PatternSet.of(["todo.add"]),
        site="todo",
        session_sites=frozenset({"todo"}),
        expose=(Floor(pattern="todo.add"),),
        ticket=PatternSet.of(["todo.*"]),
    )
    return replace(base, **changes)


def verdict(q: Question, *rules: Rule) -> tuple[str, str]:
    """The verdict and tier of a decision."""
    decision = decide(q, rules)
    return decision.verdict.value, decision.tier.value


@pytest.mark.parametrize(
    ("stage", "change"),
    [
        (Stage.ENABLED, {"enabled": False}),
        (Stage.SUPPORTED, {"supported": False}),
        (Stage.EXPOSED, {"expose": ()}),
        (Stage.EXPOSED, {"expose": (Floor(pattern="todo.addx"),)}),
        (Stage.EXPOSED, {"ticket": PatternSet.of([])}),
        (Stage.SITES, {"session_sites": frozenset[str]()}),
        (Stage.SCOPE, {"scope": PatternSet.of([])}),
    ],
)
def test_each_factor_of_the_intersection_alone_forbids(stage: Stage, change: dict[str, Any]) -> None:
    """Even with a rule that permits; and the explanation names the stage."""
    q = question(**change)
    assert verdict(q, PERMIT)[0] == "forbid"
    failed = [line.stage for line in explain(q, [PERMIT]).stages if line.outcome is Outcome.FAIL]
    assert failed == [stage]


def test_expose_and_sites_do_not_apply_without_a_page() -> None:
    """Python and runtime handlers (design §4)."""
    q = question(page=False, site=None, session_sites=frozenset(), expose=(), ticket=None)
    assert verdict(q)[0] == "ask"
    lines = {line.stage: line.outcome for line in explain(q, []).stages}
    assert lines[Stage.EXPOSED] is lines[Stage.SITES] is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("declared", "rules", "expected"),
    [
        (READ, (), ("permit", "display_only")),
        (WRITE, (), ("ask", "user_confirmation")),
        (WRITE, (PERMIT,), ("permit", "display_only")),
        (WRITE, (PERMIT, ASK), ("ask", "user_confirmation")),
        (WRITE, (PERMIT, ASK, FORBID), ("forbid", "display_only")),
        (READ, (ASK,), ("ask", "user_confirmation")),
        (replace(WRITE, confirm=Confirm.NEVER), (), ("ask", "user_confirmation")),
        (replace(READ, confirm=Confirm.NEVER), (), ("permit", "display_only")),
        (replace(READ, confirm=Confirm.ALWAYS), (PERMIT,), ("ask", "user_confirmation")),
        (replace(WRITE, effect=Effect.DESTRUCTIVE), (PERMIT,), ("ask", "user_confirmation")),
        (replace(WRITE, risk=Risk.USER_CONFIRMATION), (PERMIT,), ("ask", "user_confirmation")),
        (replace(READ, risk=Risk.RESTRICTED), (PERMIT,), ("ask", "restricted")),
        (WRITE, (replace(PERMIT, tier=Risk.SYSTEM_PERMISSION),), ("ask", "system_permission")),
    ],
)
def test_the_decision_table(declared: Declared, rules: tuple[Rule, ...], expected: tuple[str, str]) -> None:
    """Tier is the highest word said; only a write's own ask can be lifted."""
    assert verdict(question(declared), *rules) == expected


@pytest.mark.parametrize(
    ("floor", "expected"),
    [
        (Floor(pattern="todo.add", effect=Effect.WRITE), ("ask", "user_confirmation")),
        (Floor(pattern="todo.add", effect=Effect.DESTRUCTIVE), ("ask", "user_confirmation")),
        (Floor(pattern="todo.add", confirm=Confirm.ALWAYS), ("ask", "user_confirmation")),
        (Floor(pattern="todo.add", risk=Risk.SYSTEM_PERMISSION), ("ask", "system_permission")),
    ],
)
@pytest.mark.parametrize("declared", [READ, WRITE])
def test_a_permit_never_lifts_what_an_expose_floor_demands(
    declared: Declared, floor: Floor, expected: tuple[str, str]
) -> None:
    """Whatever the page declares of itself."""
    assert verdict(question(declared, expose=(floor,)), PERMIT) == expected


def test_a_floor_raises_and_never_lowers() -> None:
    """The page may say more than the site, not less."""
    floor = Floor(pattern="todo.add", effect=Effect.READ, risk=Risk.DISPLAY_ONLY, confirm=Confirm.NEVER)
    strict = Declared(id="todo.add", effect=Effect.DESTRUCTIVE, risk=Risk.RESTRICTED, confirm=Confirm.ALWAYS)
    assert effective(strict, (floor,)) == strict


def test_a_rule_speaks_only_of_its_agents_users_and_capabilities() -> None:
    """Each of the three narrows it."""
    assert verdict(question(), replace(PERMIT, agents=("codex",)))[0] == "ask"
    assert verdict(question(), replace(PERMIT, users=("bob",)))[0] == "ask"
    assert verdict(question(), replace(PERMIT, capabilities=("todo.remove",)))[0] == "ask"
    assert verdict(question(), replace(PERMIT, agents=("*",), users=("a*",)))[0] == "permit"


def test_a_factor_that_cannot_be_evaluated_forbids() -> None:
    """An error closes the door; a rule that breaks is not skipped."""
    broken = replace(PERMIT, capabilities=("not a pattern",))
    decision = decide(question(), [broken])
    assert (decision.verdict, decision.reasons) == (Verdict.FORBID, ("policy_error",))


RULES = st.builds(
    Rule,
    id=st.sampled_from(["a", "b", "c"]),
    agents=st.sampled_from([("claude",), ("*",), ("codex",)]),
    capabilities=st.sampled_from([("todo.add",), ("todo.*",), ("x.y",)]),
    verdict=st.sampled_from(list(Verdict)),
    users=st.none() | st.sampled_from([("ana",), ("bob",)]),
    tier=st.none() | st.sampled_from(list(Risk)),
)
DECLARED = st.builds(
    Declared,
    id=st.just("todo.add"),
    effect=st.sampled_from(list(Effect)),
    risk=st.sampled_from(list(Risk)),
    confirm=st.sampled_from(list(Confirm)),
)
RANK = {Verdict.PERMIT: 0, Verdict.ASK: 1, Verdict.FORBID: 2}


@given(DECLARED, st.lists(RULES, max_size=4), RULES)
def test_adding_a_rule_that_forbids_or_asks_never_permits_more(
    declared: Declared, rules: list[Rule], extra: Rule
) -> None:
    """Monotone: restriction only restricts."""
    stricter = replace(extra, verdict=Verdict.FORBID if extra.verdict is Verdict.PERMIT else extra.verdict)
    before, after = decide(question(declared), rules), decide(question(declared), [*rules, stricter])
    assert RANK[after.verdict] >= RANK[before.verdict]


@given(DECLARED, st.lists(RULES, max_size=4))
def test_the_explanation_agrees_with_the_decision(declared: Declared, rules: list[Rule]) -> None:
    """`explain` decides nothing of its own."""
    q = question(declared)
    assert explain(q, rules).decision == decide(q, rules)
    assert [line.stage for line in explain(q, rules).stages] == list(Stage)


# -- the person's own requests ---------------------------------------------------------------------------------

OWN = {"agent": "", "by_person": True, "scope": PatternSet.of([]), "session_sites": frozenset[str]()}


def test_a_persons_own_request_needs_no_session_but_the_site_and_the_ticket() -> None:
    assert verdict(question(READ, **OWN)) == ("permit", "display_only")
    assert verdict(question(WRITE, **OWN)) == ("ask", "user_confirmation")
    assert verdict(question(READ, **OWN, expose=()))[0] == "forbid"
    assert verdict(question(READ, **OWN, ticket=PatternSet.of([])))[0] == "forbid"
    assert verdict(question(READ, **OWN, page=False, expose=()))[0] == "forbid"
    assert verdict(question(READ, **OWN, enabled=False))[0] == "forbid"


@pytest.mark.parametrize("rule", [PERMIT, ASK, FORBID])
def test_a_rule_about_agents_it_names_says_nothing_of_a_person(rule: Rule) -> None:
    for agents in (("claude",), ("c*",)):
        named = replace(rule, agents=agents)
        assert verdict(question(READ, **OWN), named) == ("permit", "display_only")
        assert verdict(question(WRITE, **OWN), named) == ("ask", "user_confirmation")


def test_a_rule_about_every_agent_only_tightens() -> None:
    assert verdict(question(READ, **OWN), replace(FORBID, agents=("*",)))[0] == "forbid"
    assert verdict(question(READ, **OWN), replace(ASK, agents=("*",))) == ("ask", "user_confirmation")
    assert verdict(question(WRITE, **OWN), replace(PERMIT, agents=("*",))) == ("ask", "user_confirmation")


def test_the_explanation_says_that_no_agent_asks() -> None:
    told = {result.stage: result.outcome for result in explain(question(READ, **OWN), ()).stages}
    assert {told[stage] for stage in (Stage.SITES, Stage.SCOPE, Stage.VISIBLE)} == {Outcome.NOT_APPLICABLE}
