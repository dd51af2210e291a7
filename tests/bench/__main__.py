"""`python -m tests.bench`: everything in one run, as a table and as build/bench.json."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.bench.client import Load, Measured
from tests.bench.idle_pages import idle_pages
from tests.bench.page import round_trips
from tests.bench.rows import Row, print_rows, write_rows

ROUNDS: Final = 9
SECONDS: Final = 1.0
REPORT: Final = Path("build/bench.json")


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
    """Start one of the servers."""
    with tempfile.TemporaryDirectory(prefix="ostiary-bench-") as folder:
        command = [sys.executable, "-m", "tests.bench.servers", kind, folder, str(tools)]
        with Path(folder, "log").open("w") as log:  # a line per request and call is part of what is measured
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout is not None
            yield Target(process, **json.loads(process.stdout.readline()))
        finally:
            process.terminate()
            process.wait(timeout=20)


@dataclass(frozen=True, slots=True)
class Pair:
    """The same load on both, in turn, so that a drifting machine drifts for both."""

    gateway: Target
    baseline: Target

    def compare(self, name: str, unit: str, pick: Callable[[Measured], float], **load: object) -> list[Row]:
        """Medians of all rounds: the figure, and the server's CPU time per answer beside it."""
        for target in (self.gateway, self.baseline):
            target.run(**load, seconds=SECONDS / 2)
        ours, theirs = list[tuple[Measured, float]](), list[tuple[Measured, float]]()
        for number in range(ROUNDS):
            turns = [(self.gateway, ours), (self.baseline, theirs)]
            for target, runs in turns if number % 2 == 0 else reversed(turns):
                runs.append(target.run(**load, seconds=SECONDS))
        return [
            _row(name, unit, [pick(measured) for measured, _ in ours], [pick(measured) for measured, _ in theirs]),
            _row(f"{name}.cpu", "µs", [cpu for _, cpu in ours], [cpu for _, cpu in theirs]),
        ]


def _row(name: str, unit: str, ours: list[float], theirs: list[float]) -> Row:
    value, baseline = statistics.median(ours), statistics.median(theirs)
    return Row(name=name, value=value, unit=unit, baseline=baseline, ratio=value / baseline)


ECHO: Final[dict[str, Any]] = {
    "method": "tools/call",
    "tool": "runtime_echo",
    "arguments": {"text": "the quick brown fox"},
    "expect": "the quick brown fox",
}


def calls() -> list[Row]:
    """`tools/call` of `runtime.echo` at 1, 16 and 64 connections, and how long the slowest wait at half of that."""
    rows: list[Row] = []
    with pair_of(tools=1) as pair:
        for connections in (1, 16, 64):
            rows += pair.compare(
                f"mcp.tools_call.c{connections}", "calls/s", _per_second, **ECHO, connections=connections
            )
        most = {row.name: row.value for row in rows}["mcp.tools_call.c16"]
        half = {**ECHO, "connections": 16, "rate": most / 2}
        rows += pair.compare("mcp.tools_call.half_load.p99", "ms", lambda measured: measured.p99_ms, **half)
    return rows


def calls_on_postgresql() -> list[Row]:
    """The same with PostgreSQL as the store: client, server and database share the machine."""
    rows: list[Row] = []
    with pair_of(tools=1, kind="gateway-pg") as pair:
        for connections in (16, 64):
            name = f"mcp.tools_call_pg.c{connections}"
            rows += pair.compare(name, "calls/s", _per_second, **ECHO, connections=connections)
    return rows


def _per_second(measured: Measured) -> float:
    return measured.per_second


def lists() -> list[Row]:
    """`tools/list` with 100 and 300 visible tools."""
    rows: list[Row] = []
    for count in (100, 300):
        with pair_of(tools=count) as pair:
            rows += pair.compare(
                f"mcp.tools_list.{count}",
                "ms",
                lambda measured: 1_000 / measured.per_second,
                method="tools/list",
                tool=None,
                arguments=None,
                expect=f"runtime_echo{count - 1}",
                connections=1,
            )
    return rows


def page() -> list[Row]:
    """Agent to page to agent."""
    trip = round_trips(300)
    return [
        Row(name="page.roundtrip", value=trip.p50_ms, unit="ms"),
        Row(name="page.roundtrip.p95", value=trip.p95_ms, unit="ms"),
    ]


def idle() -> list[Row]:
    """Memory of the gateway for one page that is connected and says nothing."""
    found = idle_pages(1_000)
    return [Row(name="page.idle_memory.1000", value=found.bytes_per_page / 1_024, unit="KiB")]


@contextmanager
def pair_of(*, tools: int, kind: str = "gateway") -> Generator[Pair]:
    """A gateway and the baseline, running."""
    with server(kind, tools) as gateway, server("baseline", tools) as baseline:
        yield Pair(gateway, baseline)


def main() -> None:
    """Measure, print, write."""
    rows = [*calls(), *calls_on_postgresql(), *lists(), *page(), *idle()]
    print_rows(rows, title="rows named .cpu: server time per answer; ratio: value over baseline")
    write_rows(rows, REPORT)


if __name__ == "__main__":
    main()
