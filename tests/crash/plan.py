"""Which kills are made, where, and in which order. A plan is a function of its seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from gateway.failpoints import Point

AT_START: Final = frozenset(
    {
        Point.RECOVERY_BEGUN,
        Point.CALL_RECOVERED,
        Point.RECOVERY_WRITTEN,
        Point.RECOVERY_COMMITTED,
        Point.PURGE_WRITTEN,
        Point.APPS_VERIFIED,
    }
)
"""Passed before anybody can ask for anything."""

RELOADING: Final = frozenset({Point.RELOAD_READ, Point.RELOAD_WRITTEN, Point.RELOAD_COMMITTED})
STOPPING: Final = frozenset({Point.SHUTDOWN_BEGUN, Point.SHUTDOWN_DRAINED, Point.SHUTDOWN_WRITTEN})

_ONCE: Final = AT_START | STOPPING
"""Passed once in a life, or as often as calls are left."""

TIMES: Final = 2
AT_RANDOM_KILLS: Final = 30
LIVES: Final = 12
"""Kills over one store before a fresh one: enough for old calls to meet new lives, few enough to judge quickly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """End the process at the `nth` passing of `point`; without a point, at some moment under load."""

    point: Point | None
    nth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """The kills of one lineage."""

    store: str
    seed: str
    kills: Sequence[Kill]


def plan(
    seed: str, *, stores: Sequence[str], points: Sequence[Point | None], times: int, at_random: int
) -> Iterator[Leg]:
    """Every point `times` times on every store, and `at_random` kills at no point, in legs of `LIVES`."""
    for store in stores:
        dice = Random(f"{seed} {store}")
        kills = [_kill(point, dice) for point in points for _ in range(times)]
        kills += [Kill(point=None)] * at_random
        dice.shuffle(kills)
        for number in range(0, len(kills), LIVES):
            yield Leg(store=store, seed=f"{seed} {store} {number // LIVES}", kills=kills[number : number + LIVES])


def _kill(point: Point | None, dice: Random) -> Kill:
    if point is None or point in _ONCE:
        return Kill(point=point)
    return Kill(point=point, nth=dice.choice((1, 2, 3, 5, 8)))
