"""Every state a few calls, a page, an app and a process that dies can reach together: no promise is broken in any."""

from itertools import product

import pytest

from tests.model import figures
from tests.model.explorer import explore
from tests.model.invariants import INVARIANTS, broken
from tests.model.rules import RULES, WORLD_RULES, Model
from tests.model.states import Kind

K = Kind

QUICK = (
    (K.START, K.STOP),
    (K.START, K.DRAW),
    (K.DRAW, K.DRAW),
    (K.READ, K.ADD),
    (K.SIGN, K.STOP),
    (K.LOOK, K.START),
)
"""What every run of the tests explores: each kind of call, and the pairs that get in each other's way most."""

WHOLE = (
    *product(Kind, repeat=2),
    (K.START, K.STOP, K.START),
    (K.DRAW, K.START, K.STOP),
    (K.DRAW, K.LOOK, K.STOP),
    (K.READ, K.START, K.STOP),
    (K.START, K.START, K.STOP),
)

SCOPES = WHOLE if figures.IS_WHOLE else QUICK


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kinds", SCOPES, ids="-".join)
def test_no_reachable_state_breaks_a_promise(kinds: tuple[Kind, ...]) -> None:
    model = Model(kinds)
    found = explore(model.initial, model.successors, lambda world: broken(model, world))
    assert found.counter_example is None, str(found.counter_example)
    figures.add("exploration", states=found.states, transitions=found.transitions, scopes=1)


def test_every_event_takes_place_somewhere() -> None:
    """A rule that can never fire would prove nothing."""
    seen: set[str] = set()
    for kinds in ((K.START, K.STOP), (K.SIGN, K.STOP), (K.READ, K.ADD), (K.LOOK,)):
        model = Model(kinds)
        seen |= explore(model.initial, model.successors, lambda _: None).events
    assert seen == {name for name, *_ in (*RULES, *WORLD_RULES)}


def test_every_state_of_a_call_is_reached() -> None:
    states: set[str] = set()
    for kinds in ((K.START, K.STOP), (K.SIGN,), (K.READ, K.ADD)):
        model = Model(kinds)
        explore(
            model.initial,
            model.successors,
            lambda _: None,
            seen=lambda world: states.update(view.state for view in world.calls),
        )
    assert states - {""} == set(model.tables.every_state)


def test_the_promises_are_many() -> None:
    figures.note("exploration", promises=len(INVARIANTS))
    assert len(INVARIANTS) >= 15
