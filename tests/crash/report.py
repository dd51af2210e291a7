"""The figures of a run, as a table for people and as build/crash.json for programs."""

import json
from collections import Counter
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from gateway.failpoints import Point
from tests.crash.run import Report

FILE: Final = Path("build/crash.json")
AT_RANDOM: Final = "at random"


def name_of(point: Point | None) -> str:
    """What a row is called."""
    return AT_RANDOM if point is None else point.value


def print_report(report: Report, console: Console) -> None:
    """Every point with its hits, kills and survivals per store, then the totals, then whatever does not hold."""
    table = Table("failpoint", title="kills survived")
    for store in report.stores:
        for column in ("hits", "kills", "survived"):
            table.add_column(f"{store}\n{column}", justify="right")
    for point in _points(report):
        figures = [str(figure) for store in report.stores for figure in _figures(report, store, point)]
        table.add_row(name_of(point), *figures)
    console.print(table)
    for line in _lines(report):
        console.print(line, highlight=False, soft_wrap=True)


def write_report(report: Report, path: Path = FILE) -> None:
    """The same figures as JSON."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(figures(report), indent=2) + "\n")


def figures(report: Report) -> dict[str, object]:
    """What build/crash.json holds."""
    clauses = Counter(broken.clause for _, fate in report.fates for broken in fate.broken)
    return {
        "good": report.is_good,
        "points": len({fate.kill.point for _, fate in report.fates if fate.is_dead and fate.kill.point}),
        "kills": report.kills,
        "answers_acknowledged": report.answers,
        "page_effects": report.effects,
        "broken": dict(clauses),
        "missed": [f"{name_of(fate.kill.point)} on {leg.store}" for leg, fate in report.missed],
        "faults": report.faults,
        "per_point": {
            name_of(point): {
                store: dict(zip(("hits", "kills", "survived"), _figures(report, store, point), strict=True))
                for store in report.stores
            }
            for point in _points(report)
        },
    }


def _points(report: Report) -> list[Point | None]:
    planned = {fate.kill.point for _, fate in report.fates}
    return [point for point in (*Point, None) if point in planned]


def _figures(report: Report, store: str, point: Point | None) -> tuple[int, int, int]:
    fates = [fate for leg, fate in report.fates if leg.store == store and fate.kill.point is point]
    kills = [fate for fate in fates if fate.is_dead]
    hits = 0 if point is None else report.hits[store][point]
    return hits, len(kills), sum(not fate.broken for fate in kills)


def _lines(report: Report) -> list[str]:
    points = len({fate.kill.point for _, fate in report.fates if fate.is_dead and fate.kill.point})
    total = f"{report.kills} kills at {points} points and at random, {len(report.broken)} not survived"
    lines = [f"{total}; {report.answers} answers acknowledged, {report.effects} effects on the page"]
    for leg, fate in report.broken:
        lines += [
            f"seed `{leg.seed}`, {name_of(fate.kill.point)} ({fate.kill.nth}): {b.clause}: {b.detail}"
            for b in fate.broken
        ]
    lines += [
        f"seed `{leg.seed}`: {name_of(fate.kill.point)} ({fate.kill.nth}) was not reached"
        for leg, fate in report.missed
    ]
    return [*lines, *report.faults]
