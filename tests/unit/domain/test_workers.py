"""The states of a worker: every pair has a row or is refused, and none is a trap."""

from itertools import product

import pytest

from gateway.domain.errors import IllegalTransition
from gateway.domain.workers import TRANSITIONS, WorkerEvent, WorkerState, step


@pytest.mark.parametrize(("state", "event"), list(product(WorkerState, WorkerEvent)))
def test_a_pair_is_in_the_table_or_is_refused(state: WorkerState, event: WorkerEvent) -> None:
    target = TRANSITIONS[state].get(event)
    if target is not None:
        assert step(state, event) is target
        return
    with pytest.raises(IllegalTransition):
        step(state, event)


@pytest.mark.parametrize("state", WorkerState)
def test_from_wherever_it_stands_a_worker_can_be_begun_again(state: WorkerState) -> None:
    """Case C33: nothing is dead for good."""
    assert TRANSITIONS[state][WorkerEvent.BEGIN] is WorkerState.STARTING
    assert set(TRANSITIONS) == set(WorkerState)
