"""Each guard taken out, and each bad row put into a table, is found: a model that finds nothing would prove nothing."""

import pytest

from tests.model import figures
from tests.model.explorer import explore
from tests.model.faults import FAULTS, Fault
from tests.model.guards import ALL, Guard
from tests.model.invariants import broken
from tests.model.rules import Model
from tests.model.test_exhaustive import QUICK


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_breaks_the_promise_it_is_against(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    for row in fault.rows:
        monkeypatch.setattr(row.table, "TRANSITIONS", row.put_in())
    model = Model(fault.kinds, ALL - set(fault.without))
    found = explore(model.initial, model.successors, lambda world: broken(model, world))
    assert found.counter_example is not None, "nobody noticed"
    assert found.counter_example.broken == fault.breaks, str(found.counter_example)
    figures.add("faults", seeded=1, caught=1)


def test_without_its_fault_each_of_these_models_holds() -> None:
    # The others are explored by `test_exhaustive`.
    for kinds in {fault.kinds for fault in FAULTS.values()} - set(QUICK):
        model = Model(kinds)
        assert explore(model.initial, model.successors, lambda w, m=model: broken(m, w)).counter_example is None


def test_every_guard_is_taken_out_by_some_fault() -> None:
    assert {guard for fault in FAULTS.values() for guard in fault.without} == set(Guard)


def test_a_counter_example_tells_the_shortest_way_there() -> None:
    """The explorer itself, on something small."""

    def doubled_or_more(n: int) -> list[tuple[str, int]]:
        return [("more", n + 1), ("double", 2 * n)] if n < 5 else []

    found = explore(1, doubled_or_more, lambda n: "too many" if n > 5 else None)
    assert found.counter_example is not None
    assert (found.counter_example.events, found.counter_example.state) == (("more", "more", "double"), 6)
    whole = explore(1, doubled_or_more, lambda _: None)
    assert (whole.counter_example, whole.states, whole.transitions) == (None, len({1, 2, 3, 4, 5, 6, 8}), 8)
