"""The table of guards describes the code as it is; whether a test notices each of them is for `make guards`."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.guards.guard import ROOT, Guard
from tests.guards.table import GUARDS

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_stands_where_the_table_says(guard: Guard) -> None:
    text = (ROOT / guard.file).read_text()
    without = guard.removed_from(text)
    assert without != text
    if not guard.is_browser:
        compile(without, guard.file, "exec")


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_the_tests_of_a_guard_exist(guard: Guard) -> None:
    assert guard.tests
    for test in guard.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).exists(), f"`{guard.name}` names `{file}`, which is not there"
        assert file.endswith(".test.ts") == guard.is_browser
        assert not name or name in _functions(ROOT / file), f"`{guard.name}` names `{test}`, which is not there"


@cache
def _functions(path: Path) -> frozenset[str]:
    module = ast.parse(path.read_text())
    return frozenset(node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_names_are_unique_and_kebab_case() -> None:
    names = [guard.name for guard in GUARDS]
    assert len(set(names)) == len(names) >= 40
    assert [name for name in names if not NAME.fullmatch(name)] == []
