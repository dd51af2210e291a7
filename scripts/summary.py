"""The summary at the end of `make test`: steps, services, tests by folder, MCP conformance, sizes of the surface host.

It reads what the steps left behind and judges nothing; a missing file is said, not guessed.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

WIDTH = 78


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the run and how it went."""

    name: str
    passed: bool
    seconds: float


def step_lines(steps: list[Step]) -> Iterator[str]:
    """One line per step."""
    for step in steps:
        yield f"{step.name:<24}{'ok' if step.passed else 'FAILED':<10}{step.seconds:>8.1f} s"


def service_lines(found: Path) -> Iterator[str]:
    """What the tests ran against."""
    if not found.exists():
        yield "not asked"
        return
    services = json.loads(found.read_text())
    yield from services["used"]
    for line in services["missing"]:
        yield f"MISSING {line}"


def folder_lines(report: Path) -> Iterator[str]:
    """Tests by folder below tests/, from pytest's JUnit report."""
    if not report.exists():
        yield "no pytest report"
        return
    total: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314  our own file, written a moment ago
        folder = ".".join(case.get("classname", "").split(".")[1:2]) or "tests"
        total[folder] += 1
        bad[folder] += any(child.tag in ("failure", "error") for child in case)
        skipped[folder] += any(child.tag == "skipped" for child in case)
    for folder in total:
        notes = [f"{bad[folder]} FAILED"] * bool(bad[folder]) + [f"{skipped[folder]} skipped"] * bool(skipped[folder])
        yield f"{folder:<24}{total[folder]:>6} tests   {', '.join(notes)}".rstrip()


def conformance_lines(totals: Path) -> Iterator[str]:
    """Totals of the official MCP server suite, per revision of the protocol."""
    if not totals.exists():
        yield "not run"
        return
    for revision, counts in sorted(json.loads(totals.read_text()).items()):
        spine, fixture = counts["through_spine"], counts["fixture_only"]
        checks = f"{counts['passed']} checks kept, {counts['failed']} broken"
        yield f"{revision:<24}{checks} ({spine} through the call path, {fixture} by fixtures)"


def size_lines(bundles: Path) -> Iterator[str]:
    """Each built script as it is and as it travels."""
    scripts = sorted(path for path in bundles.rglob("*") if path.suffix in (".js", ".mjs"))
    if not scripts:
        yield "not built"
    for script in scripts:
        raw = script.read_bytes()
        packed = len(gzip.compress(raw, 9))
        yield f"{script.relative_to(bundles)!s:<34}{len(raw) / 1000:>8.1f} kB{packed / 1000:>8.2f} kB gzip"


def print_summary(steps: list[Step], *, build: Path, bundles: Path) -> None:
    """Print the parts under one heading."""
    parts = {
        "steps": step_lines(steps),
        "services": service_lines(build / "services.json"),
        "python tests": folder_lines(build / "pytest.xml"),
        "MCP conformance": conformance_lines(build / "conformance.json"),
        "surface host": size_lines(bundles),
    }
    print(f"\n{' summary ':-^{WIDTH}}")
    for title, lines in parts.items():
        print(title)
        for line in lines:
            print(f"  {line}")
    failed = [step.name for step in steps if not step.passed]
    print(f"{'-' * WIDTH}\n{'FAILED: ' + ', '.join(failed) if failed else 'everything passed'}", flush=True)
