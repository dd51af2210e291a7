"""docs/explanation/guarantees.md names tests, guards and crash points that exist, for every clause."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from gateway.failpoints import Point
from tests.guards.guard import ROOT
from tests.guards.table import GUARDS

PAGE = (ROOT / "docs" / "explanation" / "guarantees.md").read_text()
ROWS = ("means", "excluded", "tests", "guards", "crash points")

Clause = dict[str, str]


def clauses() -> dict[str, Clause]:
    """Heading to its rows."""
    found: dict[str, Clause] = {}
    for section in PAGE.split("\n### ")[1:]:
        heading, _, body = section.partition("\n")
        found[heading] = dict(re.findall(r"^\| ([a-z ]+) \| (.+) \|$", body, re.MULTILINE))
    return found


CLAUSES = clauses()


def named(heading: str, row: str) -> list[str]:
    return re.findall(r"`([^`]+)`", CLAUSES[heading][row])


@cache
def functions(path: Path) -> frozenset[str]:
    module = ast.parse(path.read_text())
    return frozenset(node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_the_promise_stands_as_the_readme_has_it_and_has_its_six_clauses() -> None:
    assert "nothing is retried behind your back" in PAGE
    promised, _, _ = PAGE.partition("\n## What security rests on")
    assert promised.count("\n### ") == 6
    assert "docs/explanation/guarantees.md" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("heading", CLAUSES)
def test_a_clause_says_what_it_means_and_what_it_does_not(heading: str) -> None:
    assert tuple(CLAUSES[heading]) == ROWS
    assert all(len(CLAUSES[heading][row]) > 20 for row in ("means", "excluded"))


@pytest.mark.parametrize("heading", CLAUSES)
def test_its_tests_exist(heading: str) -> None:
    tests = named(heading, "tests")
    assert tests
    for test in tests:
        file, _, function = test.partition("::")
        assert (ROOT / file).is_file(), f"`{file}` is not there"
        assert function in functions(ROOT / file), f"`{test}` is not there"


@pytest.mark.parametrize("heading", CLAUSES)
def test_its_guards_and_crash_points_exist(heading: str) -> None:
    guards = named(heading, "guards")
    assert guards
    assert set(guards) <= {guard.name for guard in GUARDS}
    points = named(heading, "crash points")
    assert points
    assert set(points) <= {point.value for point in Point}
