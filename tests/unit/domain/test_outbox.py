"""The table of the outbox, and how patient it is."""

from itertools import product

import pytest

from gateway.domain.errors import IllegalTransition
from gateway.domain.outbox import (
    ERROR_MAX,
    TRANSITIONS,
    OutboxEntry,
    OutboxEvent,
    OutboxState,
    Patience,
    Undelivered,
    failed,
    step,
)
from tests.contract.samples import NOW, an_entry

PATIENCE = Patience(attempts=3, first_ms=1_000, cap_ms=60_000)


def tried(attempts: int) -> OutboxEntry:
    return an_entry(attempts=attempts, holder="lease_1", due_at=NOW + 30_000)


@pytest.mark.parametrize(("state", "event"), [*product(OutboxState, OutboxEvent)])
def test_every_pair_is_in_the_table_or_illegal(state: OutboxState, event: OutboxEvent) -> None:
    target = TRANSITIONS[state].get(event)
    if target is None:
        with pytest.raises(IllegalTransition):
            step(an_entry(state=state), event, now=NOW)
    else:
        assert step(an_entry(state=state), event, now=NOW).state is target


def test_only_what_was_sent_is_over() -> None:
    assert [state for state in OutboxState if not TRANSITIONS[state]] == [OutboxState.SENT]


@pytest.mark.parametrize("event", [OutboxEvent.DELIVER, OutboxEvent.GIVE_UP])
def test_an_ended_entry_is_nobodys_and_never_due(event: OutboxEvent) -> None:
    ended = step(tried(1), event, now=NOW + 5)
    assert (ended.holder, ended.due_at, ended.ended_at) == (None, None, NOW + 5)


def test_a_requeued_entry_has_all_its_attempts_and_keeps_its_name() -> None:
    dead = step(tried(3), OutboxEvent.GIVE_UP, now=NOW, error="503")
    again = step(dead, OutboxEvent.REQUEUE, now=NOW + 9)
    assert (again.id, again.attempts, again.due_at, again.ended_at, again.error) == (dead.id, 0, NOW + 9, None, "503")


def test_pauses_double_up_to_the_cap() -> None:
    patience = Patience(attempts=100, first_ms=1_000, cap_ms=60_000)
    assert [patience.pause_ms(n) for n in range(1, 9)] == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
    assert patience.pause_ms(10_000) == 60_000


def test_the_last_attempt_is_the_last() -> None:
    why = Undelivered(error="503")
    second = failed(tried(2), why, PATIENCE, now=NOW)
    assert (second.state, second.due_at, second.error) == (OutboxState.PENDING, NOW + 2_000, "503")
    assert failed(tried(3), why, PATIENCE, now=NOW).state is OutboxState.DEAD


@pytest.mark.parametrize(("asked", "given"), [(0, 1_000), (999, 1_000), (7_000, 7_000), (10**9, 60_000)])
def test_a_consumer_may_ask_for_more_rest_up_to_the_cap(asked: int, given: int) -> None:
    assert failed(tried(1), Undelivered(error="429", pause_ms=asked), PATIENCE, now=NOW).due_at == NOW + given


def test_an_error_is_cut_and_holds_no_nul() -> None:
    kept = step(tried(1), OutboxEvent.RETRY, now=NOW, error="\0" + "x" * 500).error
    assert kept == "\N{REPLACEMENT CHARACTER}" + "x" * (ERROR_MAX - 1)
