"""Runs chosen tests over a copy of the tree and says which one failed first. Called in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from tests.guards.guard import ROOT

CACHE: Final = ROOT / "build" / "guards" / "pycache"
"""Compiled files of the copies, kept from run to run."""

_OPTIONS: Final = ("-q", "--no-header", "-p", "no:cacheprovider", "--timeout=60")
_QUIET: Final = (
    # Other packages are imported before pytest starts, so it cannot rewrite their assertions, and says so.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
    # A test that fails half-way leaves sockets open, which pytest would raise at its very end.
    *("-W", "ignore::pytest.PytestUnraisableExceptionWarning"),
)
_OURS: Final = ("tests", "gateway", "capabilities", "policy", "surface_host")
_TOLD_LINES: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How chosen tests ended. `first` is the first that failed; `trouble` says why they could not be asked."""

    first: str | None = None
    trouble: str | None = None


@dataclass(eq=False)
class _Listener:
    failed: list[str] = field(default_factory=list[str])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A fixture that cannot be made is no test that noticed."""
        if report.failed and report.when == "call":
            self.failed.append(report.nodeid)


def ask_pytest(tree: Path, tests: Iterable[str], *, stop: bool) -> Answer:
    """Run pytest over `tests` of `tree` in this very process, which can only tell the answer afterwards."""
    ours = _move_to(tree)
    listener, log = _Listener(), tree / "pytest.log"
    with log.open("wb") as told:
        os.dup2(told.fileno(), 1)
        os.dup2(told.fileno(), 2)
        try:
            code = pytest.main([*_OPTIONS, *_QUIET, *(["-x"] if stop else []), *tests], plugins=[listener])
        finally:
            sys.modules.update(ours)
    if code == pytest.ExitCode.OK:
        return Answer()
    if code == pytest.ExitCode.TESTS_FAILED and listener.failed:
        return Answer(first=listener.failed[0])
    return Answer(trouble=_end_of(log.read_text(errors="replace")))


def _move_to(tree: Path) -> dict[str, ModuleType]:
    """Let everything of ours be imported from `tree`; what was imported from elsewhere is returned."""
    ours = {name: sys.modules.pop(name) for name in tuple(sys.modules) if name.partition(".")[0] in _OURS}
    sys.path[:] = [str(tree), *(place for place in sys.path if place not in ("", str(ROOT)))]
    sys.path_importer_cache.clear()
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(CACHE)
    for name in [name for name in os.environ if name.startswith("PYTHON")]:
        del os.environ[name]
    os.chdir(tree)
    return ours


def ask_vitest(tree: Path, tests: Iterable[str], *, stop: bool) -> Answer:
    """Run Vitest over `tests` of `tree`, paths from its root."""
    report = tree / "vitest.json"
    report.unlink(missing_ok=True)
    command = ["npx", "vitest", "run", "--reporter=json", f"--outputFile={report}", *(["--bail=1"] if stop else [])]
    files = [name.removeprefix("surface_host/") for name in tests]
    ended = subprocess.run([*command, *files], cwd=tree / "surface_host", capture_output=True, text=True, check=False)
    if not report.exists():
        return Answer(trouble=_end_of(ended.stdout + ended.stderr))
    found: dict[str, Any] = json.loads(report.read_text())
    for suite in found["testResults"]:
        for case in suite["assertionResults"]:
            if case["status"] == "failed":
                return Answer(first=f"{Path(suite['name']).relative_to(tree)} > {case['fullName']}")
    return Answer() if found["success"] else Answer(trouble="a test file could not be loaded")


def _end_of(text: str) -> str:
    return "\n".join(text.splitlines()[-_TOLD_LINES:])
