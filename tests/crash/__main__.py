"""`python -m tests.crash`: every failpoint on every store, as a table and as build/crash.json; 1 if something broke.

`--seed` and `--point` make the kills of an earlier run again; the timing stays the machine's.
"""

import argparse
import asyncio
import logging
import secrets
import sys
import time

from rich.console import Console

from gateway.failpoints import Point
from tests.crash.plan import AT_RANDOM_KILLS, TIMES, plan
from tests.crash.report import print_report, write_report
from tests.crash.run import run
from tests.crash.stores import STORES


def main() -> int:
    """Plan, kill, report."""
    given = _arguments()
    # A socket whose other end was killed is no news here.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    began = time.monotonic()
    points = [Point(given.point)] if given.point else list(Point)
    legs = plan(
        given.seed,
        stores=[given.store] if given.store else STORES,
        points=points,
        times=given.times,
        at_random=0 if given.point else AT_RANDOM_KILLS,
    )
    console = Console(width=118)
    console.print(f"seed `{given.seed}`; `make crash SEED={given.seed}` makes these kills again", highlight=False)
    report = asyncio.run(run(legs, tell=lambda line: console.print(line, highlight=False)))
    print_report(report, console)
    write_report(report)
    console.print(f"{time.monotonic() - began:.0f} s", highlight=False)
    return 0 if report.is_good else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--seed", default=secrets.token_hex(4))
    parser.add_argument("--point", choices=[point.value for point in Point], default=None)
    parser.add_argument("--store", choices=STORES, default=None)
    parser.add_argument("--times", type=int, default=TIMES, help="kills per point and store")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
