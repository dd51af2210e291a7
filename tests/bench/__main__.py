"""`python -m tests.bench`: everything in one run, as a table and as build/bench.json."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from tests.bench.client import Load, Measured
from tests.bench.page import round_trips

ROUNDS: Final = 5
SECONDS: Final = 2.0
REPORT: Final = Path("build/bench.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure. `ratio` is value over baseline; whether more or less is better, the unit says."""

    name: str
    value: float
    unit: str
    baseline: float | None
    ratio: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A running server and how to spend its time."""

    process: subprocess.Popen[str]
    port: int
    token: str

    def run(self, **load: object) -> tuple[Measured, float]:
        """One load; what came back and the server's CPU microseconds per answer."""
        wanted = Load(host="127.0.0.1", port=self.port, token=self.token, **load)  # type: ignore[arg-type] - by name
        before = self._cpu_seconds()
        client = subprocess.run(
            [sys.executable, "-m", "tests.bench.client"],
            input=json.dumps(asdict(wanted)),
            capture_output=True,
            text=True,
            check=True,
        )
        measured = Measured(**json.loads(client.stdout))
        return measured, (self._cpu_seconds() - before) / measured.answers * 1e6

    def _cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(kind: str, tools: int) -> Generator[Target]:
    """Start one of the two servers."""
    with tempfile.TemporaryDirectory(prefix="ostiary-bench-") as folder:
        command = [sys.executable, "-m", "tests.bench.servers", kind, folder, str(tools)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield Target(process, **json.loads(process.stdout.readline()))
        finally:
            process.terminate()
            process.wait(timeout=20)


@dataclass(slots=True)
class Pair:
    """The same load on both, in turn, so that a drifting machine drifts for both."""

    gateway: Target
    baseline: Target

    def compare(self, pick: Callable[[Measured], float], **load: object) -> tuple[float, float, float, float]:
        """Medians: gateway, baseline, and the CPU microseconds per answer of each."""
        for target in (self.gateway, self.baseline):
            target.run(**{**load, "seconds": 0.5})
        runs = [(self.gateway.run(**load), self.baseline.run(**load)) for _ in range(ROUNDS)]
        ours, theirs = zip(*runs, strict=True)
        return (
            statistics.median(pick(measured) for measured, _ in ours),
            statistics.median(pick(measured) for measured, _ in theirs),
            statistics.median(cpu for _, cpu in ours),
            statistics.median(cpu for _, cpu in theirs),
        )


def calls() -> list[Row]:
    """`tools/call` of `runtime.echo` at 1, 16 and 64 connections."""
    rows: list[Row] = []
    with ExitStack() as stack:
        pair = Pair(*(stack.enter_context(server(kind, 1)) for kind in ("gateway", "baseline")))
        for connections in (1, 16, 64):
            value, base, cpu, base_cpu = pair.compare(
                lambda measured: measured.per_second,
                method="tools/call",
                name="runtime_echo",
                arguments={"text": "the quick brown fox"},
                expect="the quick brown fox",
                connections=connections,
                seconds=SECONDS,
            )
            note = f"server CPU {cpu:.0f} µs a call, baseline {base_cpu:.0f} µs"
            rows.append(_row(f"mcp.tools_call.c{connections}", value, "calls/s", base, note))
    return rows


def lists() -> list[Row]:
    """`tools/list` with 100 and 300 visible tools."""
    rows: list[Row] = []
    for count in (100, 300):
        with ExitStack() as stack:
            pair = Pair(*(stack.enter_context(server(kind, count)) for kind in ("gateway", "baseline")))
            value, base, cpu, base_cpu = pair.compare(
                lambda measured: 1_000 / measured.per_second,
                method="tools/list",
                name=None,
                arguments=None,
                expect=f"runtime_echo{count - 1}",
                connections=1,
                seconds=1.0,
            )
            note = f"server CPU {cpu:.0f} µs a list, baseline {base_cpu:.0f} µs"
            rows.append(_row(f"mcp.tools_list.{count}", value, "ms", base, note))
    return rows


def _row(name: str, value: float, unit: str, baseline: float, note: str) -> Row:
    return Row(name=name, value=value, unit=unit, baseline=baseline, ratio=value / baseline, note=note)


def main() -> None:
    """Measure, print, write."""
    trip = round_trips(300)
    rows = [
        *calls(),
        *lists(),
        Row(
            name="page.roundtrip",
            value=trip.p50_ms,
            unit="ms",
            baseline=None,
            ratio=None,
            note=f"p95 {trip.p95_ms:.1f} ms over {trip.count} calls, agent to page to agent",
        ),
    ]
    table = Table("row", "value", "unit", "baseline", "ratio", "beside it")
    for row in rows:
        base, ratio = ("-", "-") if row.ratio is None else (f"{row.baseline:.2f}", f"{row.ratio:.2f}")
        table.add_row(row.name, f"{row.value:.2f}", row.unit, base, ratio, row.note)
    Console(width=140).print(table)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
