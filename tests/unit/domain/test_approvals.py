"""The table of approvals: single use, and the arguments go when nobody needs them."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.approvals import TRANSITIONS, ApprovalEvent, ApprovalState, step
from gateway.domain.errors import IllegalTransition
from tests.support.rows import NOW, an_approval

EXPECTED = {
    "open": {"approve": "approved", "deny": "denied", "expire": "expired", "withdraw": "withdrawn"},
    "approved": {"consume": "consumed", "lapse": "lapsed", "withdraw": "withdrawn"},
}


@pytest.mark.parametrize(("state", "event"), list(product(ApprovalState, ApprovalEvent)))
def test_every_pair_is_a_row_of_the_design_or_refused(state: ApprovalState, event: ApprovalEvent) -> None:
    """The design's table, written out a second time by hand."""
    expected = EXPECTED.get(state.value, {}).get(event.value)
    if expected is None:
        with pytest.raises(IllegalTransition):
            step(an_approval(state=state), event, now=NOW)
    else:
        assert step(an_approval(state=state), event, now=NOW).state.value == expected


@given(st.lists(st.sampled_from(list(ApprovalEvent)), max_size=10))
def test_an_approval_is_consumed_at_most_once_and_never_without_a_yes(events: list[ApprovalEvent]) -> None:
    """Whatever comes in whatever order."""
    approval, history = an_approval(), list[ApprovalState]()
    for event in events:
        try:
            approval = step(approval, event, now=NOW, use_within=60_000)
        except IllegalTransition:
            continue
        history.append(approval.state)
    assert history.count(ApprovalState.CONSUMED) <= 1
    if ApprovalState.CONSUMED in history:
        assert ApprovalState.APPROVED in history


def test_the_shown_text_is_forgotten_with_the_end_of_the_approval() -> None:
    """It holds the arguments (design §14)."""
    approved = step(an_approval(), ApprovalEvent.APPROVE, now=NOW, use_within=60_000)
    assert approved.payload
    assert approved.use_by == NOW + 60_000
    assert step(approved, ApprovalEvent.CONSUME, now=NOW).payload == ""
    assert step(an_approval(), ApprovalEvent.DENY, now=NOW).payload == ""
    assert set(TRANSITIONS) == set(ApprovalState)
