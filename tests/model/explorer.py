"""Visits every state a model can reach, breadth first, so that the first counter-example is a shortest one."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

S = TypeVar("S", bound=Hashable)


@dataclass(frozen=True, slots=True)
class CounterExample(Generic[S]):
    """How a model comes to break its promise: the events from the initial state on, and what does not hold then."""

    events: tuple[str, ...]
    state: S
    broken: str

    def __str__(self) -> str:
        steps = "\n".join(f"  {number}. {event}" for number, event in enumerate(self.events, start=1))
        return f"{self.broken}, after\n{steps}\nin {self.state}"


@dataclass(slots=True)
class Exploration(Generic[S]):
    """What was visited. Without a counter-example it is everything there is."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    events: set[str] = field(default_factory=set[str])
    """The kinds of events that took place, without what they happened to."""
    counter_example: CounterExample[S] | None = None


def explore(
    initial: S,
    successors: Callable[[S], Iterable[tuple[str, S]]],
    broken: Callable[[S], str | None],
    *,
    seen: Callable[[S], None] = lambda _: None,
) -> Exploration[S]:
    """Visit everything reachable from `initial`; stop at the first state of which `broken` has something to say.

    `seen` is called once with every state.
    """
    found = Exploration[S]()
    came_from: dict[S, tuple[S, str] | None] = {initial: None}
    level = [initial]
    while level:
        below: list[S] = []
        for state in level:
            found.states += 1
            seen(state)
            said = broken(state)
            if said is not None:
                found.counter_example = CounterExample(_path(came_from, state), state, said)
                return found
            for event, after in successors(state):
                found.transitions += 1
                found.events.add(event.partition(" ")[0])
                if after not in came_from:
                    came_from[after] = (state, event)
                    below.append(after)
        level = below
        found.depth += bool(below)
    return found


def _path(came_from: dict[S, tuple[S, str] | None], state: S) -> tuple[str, ...]:
    events: list[str] = []
    step = came_from[state]
    while step is not None:
        before, event = step
        events.append(event)
        step = came_from[before]
    return tuple(reversed(events))
