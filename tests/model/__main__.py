"""`python -m tests.model`: everything in full, then three lines and build/model.json; 1 if something does not hold.

First every state the model reaches, every seeded fault, and the model beside the product on both databases; then the
product itself, killed at every named failpoint and at random under load on every store. Minutes of work: a run of
`make test` does a part of each.
"""

import argparse
import asyncio
import logging
import os
import secrets
import subprocess
import sys
from typing import Final

from rich.console import Console
from rich.table import Table

from gateway.failpoints import Point
from tests.crash.plan import plan
from tests.crash.report import print_report, write_report
from tests.crash.run import Report, run
from tests.crash.stores import STORES
from tests.model import figures

AT_EACH_POINT: Final = 1
AT_RANDOM: Final = 100
"""Kills at no point, on each store."""

CONSOLE: Final = Console(width=118)


def main() -> int:
    """Explore, seed faults, kill, say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    parser.add_argument("--seed", default=secrets.token_hex(4), help="which kills are made")
    given = parser.parse_args()
    figures.clear()
    is_explored = _explore()
    report = _kill(given.seed)
    _note(report, given.seed)
    _tell(figures.read())
    return 0 if is_explored and report.is_good else 1


def _explore() -> bool:
    """Run the tests of this folder in full, and the rig's own; the files run beside each other."""
    command = (sys.executable, "-m", "pytest", "-q", "tests/model", "tests/crash", "--numprocesses=auto")
    return subprocess.run(command, env={**os.environ, "OSTIARY_MODEL_WHOLE": "1"}, check=False).returncode == 0


def _kill(seed: str) -> Report:
    # A socket whose other end was killed is no news here.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    legs = plan(seed, stores=STORES, points=list(Point), times=AT_EACH_POINT, at_random=AT_RANDOM)
    report = asyncio.run(run(legs, tell=lambda line: CONSOLE.print(line, highlight=False)))
    print_report(report, CONSOLE)
    write_report(report)
    return report


def _note(report: Report, seed: str) -> None:
    at_random = sum(fate.is_dead and fate.kill.point is None for _, fate in report.fates)
    figures.note(
        "kills",
        seed=seed,
        made=report.kills,
        survived=report.kills - len(report.broken),
        missed=len(report.missed),
        points=len({fate.kill.point for _, fate in report.fates if fate.is_dead and fate.kill.point}),
        at_random=at_random,
        answers_acknowledged=report.answers,
        page_effects=report.effects,
        good=report.is_good,
    )


def _tell(kept: dict[str, dict[str, int]]) -> None:
    """The three figures, and what stands behind each."""
    explored, faults, machine, kills = (kept.get(name, {}) for name in ("exploration", "faults", "machine", "kills"))
    table = Table("", "", "behind it", show_edge=False)
    table.add_row(
        "states explored",
        f"{explored.get('states', 0):,}",
        f"{explored.get('scopes', 0)} scopes, {explored.get('transitions', 0):,} transitions, "
        f"{explored.get('promises', 0)} promises; {machine.get('steps', 0):,} steps beside the product",
    )
    table.add_row("seeded faults caught", f"{faults.get('caught', 0)} of {faults.get('seeded', 0)}")
    table.add_row(
        "kills survived",
        f"{kills.get('survived', 0)} of {kills.get('made', 0)}",
        f"{kills.get('points', 0)} named points and {kills.get('at_random', 0)} at random, on {', '.join(STORES)}",
    )
    CONSOLE.print(table)


if __name__ == "__main__":
    sys.exit(main())
