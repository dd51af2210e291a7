"""Runs a plan, several lineages at a time, and gathers what came of it."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gateway.failpoints import Point
from tests.crash.lineage import Fate, Lineage
from tests.crash.plan import Leg
from tests.crash.stores import database

AT_ONCE: Final = 3
"""Lineages beside each other: while one starts, the others are under load."""


@dataclass(eq=False)
class Report:
    """What came of a plan."""

    fates: list[tuple[Leg, Fate]] = field(default_factory=list[tuple[Leg, Fate]])
    hits: dict[str, Counter[Point]] = field(default_factory=dict[str, Counter[Point]])
    answers: int = 0
    effects: int = 0
    faults: list[str] = field(default_factory=list[str])
    """Lineages that could not be carried through, each in words."""

    @property
    def stores(self) -> Sequence[str]:
        """In the order they were planned."""
        return tuple(dict.fromkeys(leg.store for leg, _ in self.fates))

    @property
    def kills(self) -> int:
        """Processes that were killed."""
        return sum(fate.is_dead for _, fate in self.fates)

    @property
    def broken(self) -> list[tuple[Leg, Fate]]:
        """Kills something did not hold after."""
        return [(leg, fate) for leg, fate in self.fates if fate.broken]

    @property
    def missed(self) -> list[tuple[Leg, Fate]]:
        """Kills that did not come to pass: the load never reached the point."""
        return [(leg, fate) for leg, fate in self.fates if not fate.is_dead]

    @property
    def is_good(self) -> bool:
        """Whether every kill was made and survived."""
        return bool(self.fates) and not (self.broken or self.missed or self.faults)


async def run(legs: Iterable[Leg], *, at_once: int = AT_ONCE, tell: Callable[[str], None] = lambda _: None) -> Report:
    """Carry the plan out; `tell` gets one line for each lineage that is through."""
    report, waiting = Report(), list(reversed(list(legs)))

    async def worker() -> None:
        while waiting:
            leg = waiting.pop()
            lineage = await _run(leg, report)
            kills, broken = len(lineage.fates), sum(bool(fate.broken) for fate in lineage.fates)
            tell(f"`{leg.seed}`: {kills} kills, {broken} not survived; {len(waiting)} lineages to go")

    await asyncio.gather(*(worker() for _ in range(at_once)))
    return report


async def _run(leg: Leg, report: Report) -> Lineage:
    with tempfile.TemporaryDirectory(prefix="ostiary-crash-") as folder, database(leg.store) as address:
        lineage = Lineage(Path(folder), leg.seed, database=address)
        try:
            await lineage.run(list(leg.kills))
        except Exception as fault:  # noqa: BLE001 - one lineage that fails is told, and the others go on
            report.faults.append(f"seed `{leg.seed}`: {type(fault).__name__}: {fault}")
        report.fates += [(leg, fate) for fate in lineage.fates]
        report.hits.setdefault(leg.store, Counter()).update(lineage.hits)
        report.answers += lineage.memory.answers
        report.effects += lineage.memory.effects.total()
    return lineage
