"""On which database the gateways of a test run: suites that import the fixture `database` run on each.

Without it a rig keeps to its own habit: a store in memory, or SQLite in its folder.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from gateway.runtime.ports import Store
from tests.contract.stores import MemoryOpener, Opener, PostgresqlOpener, SqliteOpener
from tests.support.postgres import clean_database

KINDS: Final = ("sqlite", "postgresql")


@dataclass(kw_only=True)
class Databases:
    """Those of one test."""

    kind: str
    folder: Path
    stack: ExitStack
    urls: dict[Path, str] = field(default_factory=dict[Path, str])
    count: int = 0

    def opener(self) -> Opener:
        """Opens stores over a database of its own."""
        self.count += 1
        if self.kind == "postgresql":
            return PostgresqlOpener(self.stack.enter_context(clean_database()))
        return SqliteOpener(self.folder / f"rig-{self.count}.sqlite3")

    def url_for(self, data: Path) -> str:
        """`server.database` of the gateway over `data`: at every start the same."""
        if self.kind != "postgresql":
            return ""
        if data not in self.urls:
            self.urls[data] = self.stack.enter_context(clean_database())
        return self.urls[data]


_NOW: Final[list[Databases]] = []


@pytest.fixture(params=KINDS, autouse=True)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Databases]:
    """Run on each database."""
    with ExitStack() as stack:
        _NOW.append(Databases(kind=request.param, folder=tmp_path, stack=stack))
        yield _NOW[-1]
        _NOW.pop()


def url_for(data: Path) -> str:
    """`server.database` of a gateway over `data`; empty for SQLite."""
    return _NOW[-1].url_for(data) if _NOW else ""


def open_own() -> tuple[Store, Callable[[], Callable[[], None]]]:
    """A store over a database of its own, and what lets its commits fail until the answer is called."""
    opener = _NOW[-1].opener() if _NOW else MemoryOpener()
    store = opener()
    return store, lambda: opener.fail_commits(store)
