"""The model and the product, step by step through the same events, on both databases: they never say different things.

What somebody does has one outcome, and both must agree on it. What time does may end several things at once: there the
product must have gone a way the model knows.
"""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from gateway.adapters.logs import configure_logs
from tests.contract.stores import PostgresqlOpener, SqliteOpener
from tests.model import figures
from tests.model.invariants import broken
from tests.model.real import BY_HAND, BY_TIME, WAITS_MS, Real, View, view_of
from tests.model.rules import Model
from tests.model.states import Kind, World
from tests.support.postgres import clean_database

EXAMPLES = {"sqlite": 300, "postgresql": 100} if figures.IS_WHOLE else {"sqlite": 15, "postgresql": 8}
STEPS = 40


class Runtime(RuleBasedStateMachine):
    """Both worlds. `store` says on which database the real one is."""

    store: ClassVar[str] = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = ExitStack()
        self.trace: list[str] = []

    @initialize(kinds=st.lists(st.sampled_from(Kind), min_size=2, max_size=4))
    def begin(self, kinds: list[Kind]) -> None:
        self.model = Model(tuple(kinds), epochs=4)
        self.world = self.model.initial
        if self.store == "sqlite":
            folder = self.stack.enter_context(TemporaryDirectory(prefix="ostiary-model-"))
            opener: Any = SqliteOpener(Path(folder) / "gateway.sqlite3")
        else:
            opener = PostgresqlOpener(self.stack.enter_context(clean_database()))
        self.real = Real(tuple(kinds), opener())
        self.runner.run(self.real.begin())
        self.agree()

    @precondition(lambda self: hasattr(self, "real"))
    @rule(data=st.data())
    def somebody_does_something(self, data: st.DataObject) -> None:
        possible = sorted(event for event, _ in self.model.successors(self.world) if self.can(event))
        event = data.draw(st.sampled_from(possible))
        self.trace.append(event)
        self.world = self.written(self.model.after(self.world, event))
        self.runner.run(self.real.does(event))
        if event == "restart":
            self.time_passed()
        else:
            self.agree()

    def can(self, event: str) -> bool:
        """Whether somebody is there who makes it happen: who did not come back after a restart cannot leave."""
        name, _, rest = event.partition(" ")
        return name in BY_HAND and (name != "hang_up" or bool(self.real.waiters.get(int(rest.partition(":")[0]))))

    @precondition(lambda self: hasattr(self, "real"))
    @rule(ms=st.sampled_from(WAITS_MS))
    def time_passes(self, ms: int) -> None:
        self.trace.append(f"wait {ms}")
        self.runner.run(self.real.waits(ms))
        self.time_passed()

    def time_passed(self) -> None:
        """The product went some way of time's events; the model follows it there."""
        seen = self.runner.run(self.real.view())
        found = next((world for world in self.ways_of_time() if view_of(world) == seen), None)
        assert found is not None, self.told(seen)
        self.world = found
        overdue = self.runner.run(self.real.overdue())
        assert overdue == [], f"{overdue} after {self.trace}"

    def ways_of_time(self) -> Iterator[World]:
        """Every world that time alone leads to, the nearest first."""
        known, level = {self.world}, [self.world]
        while level:
            yield from level
            below: list[World] = []
            for world in level:
                for event, after in self.model.successors(world):
                    settled = self.written(after)
                    if _name(event) in BY_TIME and settled not in known:
                        known.add(settled)
                        below.append(settled)
            level = below

    def written(self, world: World) -> World:
        """Effects follow their commit at once."""
        for i, view in enumerate(world.calls):
            if view.frame == "due":
                world = self.model.after(world, f"write {i}:{self.model.kinds[i]}")
        return world

    def agree(self) -> None:
        seen = self.runner.run(self.real.view())
        assert view_of(self.world) == seen, self.told(seen)
        assert broken(self.model, self.world) is None
        assert max(self.real.asked.values(), default=0) <= 1, "a page was handed a call twice"
        assert max(self.real.effects.values(), default=0) <= 1, "a page acted twice"

    def told(self, seen: View) -> str:
        return f"after {self.trace}\nthe model says {view_of(self.world)}\nthe product  {seen}"

    def teardown(self) -> None:
        if hasattr(self, "real"):
            self.runner.run(self.real.end())
            self.runner.run(self.real.store.close())
        figures.add("machine", runs=1, steps=len(self.trace))
        self.runner.close()
        self.stack.close()


def _name(event: str) -> str:
    return event.partition(" ")[0]


class OnSqlite(Runtime):
    store = "sqlite"


class OnPostgresql(Runtime):
    store = "postgresql"


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("machine", [OnSqlite, OnPostgresql])
def test_model_and_product_agree(machine: type[Runtime]) -> None:
    configure_logs("error")
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES[machine.store],
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
            derandomize=not figures.IS_WHOLE,
            phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
        ),
    )
