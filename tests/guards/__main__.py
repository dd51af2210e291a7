"""`python -m tests.guards [NAME…]`: take each guard out, print the test that noticed; exits 1 if none did."""

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from typing import Final

from tests.guards.asking import Answer, ask_pytest, ask_vitest
from tests.guards.copies import Copy
from tests.guards.guard import ROOT, Guard
from tests.guards.preload import preload
from tests.guards.table import GUARDS

BUILD: Final = ROOT / "build"
AT_ONCE: Final = min(4, os.cpu_count() or 1)

_fork: Final = multiprocessing.get_context("fork")

Copies = SimpleQueue[Copy]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What happened without one guard."""

    guard: Guard
    answer: Answer
    seconds: float

    @property
    def line(self) -> str:
        """For people."""
        told = self.answer.first or "NOTHING: no test noticed"
        if self.answer.trouble:
            told = f"BROKEN: its tests could not be run\n{self.answer.trouble}"
        return f"{self.guard.name:<56} {told}"


def main(*names: str) -> int:
    """Run the table, or the guards that are named."""
    unknown = set(names) - {guard.name for guard in GUARDS}
    if unknown:
        print(f"there is no guard `{min(unknown)}`")
        return 2
    chosen = [guard for guard in GUARDS if not names or guard.name in names]
    copies = [Copy(BUILD / "guards" / f"tree-{number}") for number in range(AT_ONCE)]
    preload()
    findings = list(_without_each(chosen, copies))
    broken = _with_all_guards(findings, copies[0])
    if broken:
        print(f"a test that noticed fails with every guard in place, too: {broken}")
        return 1
    return _conclude(findings, whole=not names)


def _with_all_guards(findings: list[Finding], copy: Copy) -> str | None:
    """The first of the tests that noticed which fails though nothing was taken out, if there is one."""
    noticed = [finding for finding in findings if finding.answer.first]
    python = [finding.answer.first for finding in noticed if not finding.guard.is_browser]
    browser = [test for finding in noticed if finding.guard.is_browser for test in finding.guard.tests]
    with _fork.Pool(1, maxtasksperchild=1) as pool:
        answers = [
            pool.apply(ask, (copy.root, tuple(dict.fromkeys(tests))), {"stop": False})
            for ask, tests in ((ask_pytest, python), (ask_vitest, browser))
            if tests
        ]
    return next((told for answer in answers if (told := answer.first or answer.trouble)), None)


def _without_each(guards: list[Guard], copies: list[Copy]) -> Iterator[Finding]:
    free: Copies = _fork.SimpleQueue()
    for copy in copies:
        free.put(copy)
    # A child for each guard: what it imported is of its own copy.
    with _fork.Pool(len(copies), _free.append, (free,), maxtasksperchild=1) as pool:
        for finding in pool.imap(_without, guards):
            print(finding.line, flush=True)
            yield finding


_free: Final[list[Copies]] = []
"""In a child: the copies nobody works on."""


def _without(guard: Guard) -> Finding:
    copy, started = _free[0].get(), time.monotonic()
    try:
        copy.remove(guard)
        ask = ask_vitest if guard.is_browser else ask_pytest
        answer = ask(copy.root, guard.tests, stop=True)
        copy.restore(guard)
    finally:
        _free[0].put(copy)
    return Finding(guard=guard, answer=answer, seconds=time.monotonic() - started)


def _conclude(findings: list[Finding], *, whole: bool) -> int:
    uncaught = [finding.guard.name for finding in findings if finding.answer.first is None]
    report = {
        "guards": [
            {
                "name": finding.guard.name,
                "section": finding.guard.section,
                "why": finding.guard.why,
                "file": finding.guard.file,
                "caught_by": finding.answer.first,
                "seconds": round(finding.seconds, 1),
            }
            for finding in findings
        ],
        "uncaught": uncaught,
    }
    if whole:
        (BUILD / "guards.json").write_text(json.dumps(report, indent=2) + "\n")
    print(f"\n{len(findings)} guards taken out, {len(findings) - len(uncaught)} noticed, {len(uncaught)} uncaught")
    for name in uncaught:
        print(f"uncaught: {name}")
    return 1 if uncaught else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
