"""The official MCP server suite as a function: run it against a URL, get its checks as data.

    async with bearer_proxy(gateway_url, token) as url:
        report = await run_server_suite(url, "2026-07-28", out=tmp_path / "out")
    assert report.broken() == {}
    record_totals(report, through_spine={"tools-call-simple-text", …})

The command line tool has no way to send a bearer token; `bearer_proxy` adds it (see bearer_proxy.py).
"""

import json
import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, cast

import yaml

from tests.support.node_tools import ROOT, package_file, run_node

PACKAGE: Final = "@modelcontextprotocol/conformance"
TOTALS: Final = ROOT / "build" / "conformance.json"

_RESULT_FOLDER: Final = re.compile(r"^server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z$")


class Status(StrEnum):
    """What the suite says of one check."""

    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"
    WARNING = "WARNING"
    SKIPPED = "SKIPPED"
    INFO = "INFO"


@dataclass(frozen=True, slots=True)
class Check:
    """One verdict inside a scenario."""

    id: str
    status: Status
    message: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """One conversation the suite had with the server, and its checks in order."""

    name: str
    scored: bool  # False: run and reported, but not part of what the revision requires
    checks: tuple[Check, ...]

    def count(self, status: Status) -> int:
        """How many checks ended so."""
        return sum(check.status is status for check in self.checks)


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the suite found out about one server under one revision."""

    revision: str
    scenarios: Mapping[str, Scenario]
    exit_code: int
    output: str

    @property
    def passed(self) -> int:
        """Checks that succeeded, over all scenarios, scored or not."""
        return sum(scenario.count(Status.SUCCESS) for scenario in self.scenarios.values())

    @property
    def failed(self) -> int:
        """Checks that failed, over all scenarios, scored or not."""
        return sum(scenario.count(Status.FAILURE) for scenario in self.scenarios.values())

    def broken(self, *, scored_only: bool = False) -> dict[str, list[str]]:
        """Scenario → `check id: message` of what failed; empty when the server conforms."""
        return {
            scenario.name: failures
            for scenario in self.scenarios.values()
            if (scenario.scored or not scored_only) and (failures := _failures(scenario))
        }

    def passed_in(self, names: Collection[str]) -> int:
        """Checks that succeeded in these scenarios.

        Raises: KeyError for a name the suite did not run, so that a list cannot rot unseen.
        """
        return sum(self.scenarios[name].count(Status.SUCCESS) for name in names)


def _failures(scenario: Scenario) -> list[str]:
    return [f"{check.id}: {check.message}" for check in scenario.checks if check.status is Status.FAILURE]


async def run_server_suite(
    url: str, revision: str, *, out: Path, scenario: str | None = None, time_limit: float = 300
) -> Report:
    """Run what `revision` requires (or one scenario of it) against `url`; raw results stay in `out`.

    A server that fails checks is a report, not an exception. Raises: ToolMissing, TimeoutError,
    RuntimeError if the suite itself did not get as far as a result.
    """
    script = package_file(PACKAGE, "dist/index.js")
    _empty(out)
    # One scenario by name and the frozen set exclude each other on the command line.
    what = ["--requirements", revision] if scenario is None else ["--scenario", scenario, "--spec-version", revision]
    arguments = ["server", "--url", url, *what, "--output-dir", str(out)]
    ended = await run_node(script, *arguments, cwd=out, time_limit=time_limit)
    report = Report(revision, read_results(out, unscored(revision)), ended.exit_code, ended.stdout + ended.stderr)
    if not report.scenarios:
        raise RuntimeError(f"the conformance suite gave no result:\n{report.output}")
    return report


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def unscored(revision: str) -> frozenset[str]:
    """Server scenarios the suite runs under `revision` without holding anyone to them."""
    text = package_file(PACKAGE, f"requirements/{revision}.yaml").read_text()
    entries = cast("list[dict[str, Any]]", yaml.safe_load(text)["not_scored"])
    return frozenset(entry["scenario"] for entry in entries if entry["leg"] == "server")


def read_results(out: Path, not_scored: Collection[str] = ()) -> dict[str, Scenario]:
    """Parse the folder the suite wrote: one `checks.json` per scenario, in the order they ran."""
    scenarios: dict[str, Scenario] = {}
    for path in sorted(out.glob("server-*/checks.json"), key=lambda path: path.stat().st_mtime_ns):
        if folder := _RESULT_FOLDER.match(path.parent.name):
            name = folder["scenario"]
            checks = cast("list[dict[str, Any]]", json.loads(path.read_text()))
            scenarios[name] = Scenario(name, name not in not_scored, tuple(_check(raw) for raw in checks))
    return scenarios


def _check(raw: Mapping[str, Any]) -> Check:
    return Check(raw["id"], Status(raw["status"]), raw.get("errorMessage") or raw.get("description", ""))


def record_totals(report: Report, *, through_spine: Collection[str], path: Path = TOTALS) -> None:
    """Keep the totals of one revision for the summary of `make test`, split by how they were earned.

    `through_spine` names the scenarios whose calls took the gateway's own call path; the rest were
    answered by handlers that exist for the suite alone, and the summary says so.
    """
    spine = report.passed_in(through_spine)
    totals: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    totals[report.revision] = {
        "passed": report.passed,
        "failed": report.failed,
        "through_spine": spine,
        "fixture_only": report.passed - spine,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(totals, indent=2, sort_keys=True) + "\n")
