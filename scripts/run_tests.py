"""Run every test of both halves, then print one summary. Used by `make test`; exits 1 if any step failed.

Arguments go to pytest: `make test PYTEST_ARGS="-k approval -x"`.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from summary import Step, print_summary

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
WEB = "surface_host"

# Cheap and narrow first, so that a mistake is named by the smallest test that sees it.
ORDER = (
    "unit",
    "architecture",
    "contract",
    "cases",
    "model",
    "interaction",
    "security",
    "crash",
    "fuzz",
    "conformance",
    "examples",
)
LAST = ("e2e",)
NOT_TESTS = ("support", "bench")

WORKERS = min(4, os.cpu_count() or 1)
"""Test files run beside each other, each whole in one process."""


def test_folders() -> list[str]:
    """Every folder below tests/ that holds tests: the known ones in order, a new one before the browser's."""
    found = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    found -= {*NOT_TESTS, "node_modules"}
    first = [name for name in ORDER if name in found]
    last = [name for name in LAST if name in found]
    return [f"tests/{name}" for name in [*first, *sorted(found - {*first, *last}), *last]]


def run(name: str, *command: str) -> Step:
    """Run one step with its output on our own, and keep how it went."""
    print(f"\n=== {name}: {' '.join(command)}", flush=True)
    started = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    return Step(name, code == 0, time.monotonic() - started)


def main(pytest_args: list[str]) -> int:
    """Ask the services, then both halves, the size gate between them, pytest last: its closing line counts most."""
    BUILD.mkdir(exist_ok=True)
    for stale in ("pytest.xml", "conformance.json", "services.json"):
        (BUILD / stale).unlink(missing_ok=True)
    workers = (f"--numprocesses={WORKERS}", "--dist=loadfile")
    python = (sys.executable, "-m", "pytest", *test_folders(), f"--junitxml={BUILD / 'pytest.xml'}", *workers)
    steps = [
        run("services", sys.executable, "-m", "scripts.services", str(BUILD / "services.json")),
        run("surface host", "npm", "--prefix", WEB, "run", "--silent", "test"),
        run("size gate", "npm", "--prefix", WEB, "run", "--silent", "size"),
        run("pytest", *python, *pytest_args),
    ]
    print_summary(steps, build=BUILD, bundles=ROOT / WEB / "dist")
    return 0 if all(step.passed for step in steps) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
