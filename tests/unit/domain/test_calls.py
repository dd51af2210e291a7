"""The table of calls: every pair is either a row or refused, and nothing ends twice."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.calls import (
    LAPSE_MS,
    OPEN,
    ORPHAN_MS,
    TRANSITIONS,
    UNDISPATCHED,
    Call,
    CallEvent,
    CallState,
    step,
)
from gateway.domain.errors import ErrorCode, IllegalTransition
from tests.support.rows import NOW, a_call

TERMINAL = {"succeeded", "failed", "denied", "expired", "cancelled"}

EXPECTED = {
    "awaiting_approval": {
        "approve": "ready",
        "approve_unready": "waiting_activation",
        "deny": "denied",
        "expire": "expired",
        "cancel": "cancelled",
        "withdraw": "denied",
        "refused_by_page": "failed",
    },
    "waiting_activation": {
        "activated": "ready",
        "activation_failed": "failed",
        "activation_cancelled": "cancelled",
        "answer": "succeeded",
        "expire": "expired",
        "cancel": "cancelled",
        "withdraw": "denied",
    },
    "ready": {"dispatch": "dispatched", "expire": "expired", "cancel": "cancelled", "withdraw": "denied"},
    "dispatched": {
        "succeed": "succeeded",
        "fail": "failed",
        "not_delivered": "failed",
        "cancel_confirmed": "cancelled",
        "lose": "unknown",
    },
    "unknown": {
        "succeed": "succeeded",
        "fail": "failed",
        "reconcile_succeeded": "succeeded",
        "reconcile_failed": "failed",
    },
}


@pytest.mark.parametrize(("state", "event"), list(product(CallState, CallEvent)))
def test_every_pair_of_state_and_event_is_a_row_of_the_design_or_refused(state: CallState, event: CallEvent) -> None:
    """The design's table, written out a second time by hand, is the whole table."""
    call = a_call(state=state)
    expected = EXPECTED.get(state.value, {}).get(event.value)
    if expected is None:
        with pytest.raises(IllegalTransition):
            step(call, event, now=NOW)
    else:
        assert step(call, event, now=NOW).state.value == expected


def test_terminal_states_have_empty_rows_and_unknown_is_not_terminal() -> None:
    """No way out of an end; a way out of not knowing."""
    assert {state.value for state in CallState if state.is_terminal} == TERMINAL
    assert set(TRANSITIONS) == set(CallState)
    assert CallState.UNKNOWN not in OPEN


@given(st.lists(st.sampled_from(list(CallEvent)), max_size=12), st.sampled_from(list(UNDISPATCHED)))
def test_a_call_is_dispatched_at_most_once_and_ends_at_most_once(events: list[CallEvent], start: CallState) -> None:
    """Whatever comes in whatever order."""
    call = a_call(state=start)
    dispatched = ended = 0
    for event in events:
        try:
            moved = step(call, event, now=NOW)
        except IllegalTransition:
            continue
        dispatched += moved.state is CallState.DISPATCHED
        ended += moved.state.is_terminal
        assert not (call.state is CallState.UNKNOWN and moved.state in OPEN), "an unknown call came back to life"
        call = moved
    assert dispatched <= 1
    assert ended <= 1


def test_dispatch_starts_the_execution_time_and_not_the_waiting_time() -> None:
    """C19 W1: an approval that took long costs the execution nothing."""
    late = NOW + 90_000
    call = step(a_call(), CallEvent.DISPATCH, now=late)
    assert (call.dispatched_at, call.execute_by, call.due_at) == (late, late + 30_000, late + 30_000)


def test_whatever_ends_a_lost_call_is_marked_late() -> None:
    """The mark tells status from delivery; design §3 marks a reconciled call like a late answer."""
    lost = step(a_call(state=CallState.DISPATCHED), CallEvent.LOSE, now=NOW, code=ErrorCode.OUTCOME_UNKNOWN)
    assert lost.ended_at is None
    assert step(lost, CallEvent.SUCCEED, now=NOW).late
    assert step(lost, CallEvent.RECONCILE_SUCCEEDED, now=NOW).late
    assert not step(a_call(state=CallState.DISPATCHED), CallEvent.SUCCEED, now=NOW).late


@pytest.mark.parametrize(
    ("changes", "due"),
    [
        ({}, 600_000),
        ({"state": CallState.AWAITING_APPROVAL, "approve_by": NOW + 120_000}, 120_000),
        ({"orphaned_at": NOW}, ORPHAN_MS),
        ({"approved_at": NOW}, LAPSE_MS),
        ({"state": CallState.UNKNOWN}, None),
        ({"state": CallState.SUCCEEDED}, None),
    ],
)
def test_what_time_alone_changes_is_due_at_the_nearest_bound(changes: dict[str, object], due: int | None) -> None:
    """The sweeper asks only for this instant."""
    call: Call = replace(a_call(), **changes)  # type: ignore[arg-type] - a table of field changes
    assert call.due_at == (None if due is None else NOW + due)
