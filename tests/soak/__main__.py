"""`python -m tests.soak`: minutes of mixed load, as a table and as build/soak.json. Fails when a promise broke.

`SOAK_SECONDS` (600), `SOAK_PAGES` (200) and `SOAK_AGENTS` (50) set the load.
"""

import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from tests.soak.run import Report, soak

REPORT: Final = Path("build/soak.json")


def show(report: Report) -> None:
    """Print it."""
    table = Table("what", "value", title=f"{report.pages} pages, {report.agents} agents, {report.seconds:g} s")
    rows = {
        "calls": f"{report.calls:,}",
        "answers": ", ".join(f"{kind} {n:,}" for kind, n in sorted(report.answers.items())),
        "events": ", ".join(f"{kind} {n:,}" for kind, n in sorted(report.events.items())),
        "median, 99th, slowest": f"{report.p50_ms:.0f}, {report.p99_ms:.0f}, {report.slowest_ms:.0f} ms",
        "memory at first, half, last": f"{report.rss_first_mib:.0f}, {report.rss_half_mib:.0f}, "
        f"{report.rss_last_mib:.0f} MiB",
        "fitted rise in the second half": f"{report.growth_mib:.1f} MiB",
        "left over": ", ".join(f"{name} {n}" for name, n in report.after.items()),
        "problems": "\n".join(report.problems) or "none",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    Console(width=110).print(table)


def main() -> int:
    """Run, print, write."""
    report = asyncio.run(
        soak(
            seconds=float(os.environ.get("SOAK_SECONDS", "600")),
            pages=int(os.environ.get("SOAK_PAGES", "200")),
            agents=int(os.environ.get("SOAK_AGENTS", "50")),
        )
    )
    show(report)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps(asdict(report), indent=2) + "\n")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
