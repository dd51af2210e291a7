"""`ostiary migrate sqlite-to-postgres`: everything arrives and goes on, or nothing was written."""

import asyncio
import re
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from gateway.adapters.sql import open_sqlite
from gateway.bootstrap import DATABASE
from gateway.cli import app
from gateway.domain.calls import CallState
from gateway.runtime.ports import Tx
from tests.contract.samples import NOW, a_call, a_page, a_ticket, an_approval
from tests.interaction.cli.shell import Shell
from tests.support.gateway_process import invocation
from tests.support.postgres import execute, fresh_database

MOVE = ("migrate", "sqlite-to-postgres", "--to")
TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"


@pytest.fixture
def empty() -> Generator[str]:
    """A database without tables."""
    with fresh_database(is_empty=True) as url:
        yield url


@pytest.fixture
def made() -> Generator[str]:
    """A database with our tables, all empty."""
    with fresh_database() as url:
        yield url


def _post(shell: Shell, request: dict[str, Any]) -> Any:
    listen = re.search(r'listen: "(.+?)"', shell.file.read_text())
    assert listen is not None
    return httpx.post(f"http://{listen[1]}/surface/v1", timeout=30, **request).json()["result"]


def _token(shell: Shell) -> str:
    return shell.json("session", "add", "claude", "--user", "ada", "--scope", "runtime.*")["token"]


async def _leave_more(path: Path) -> None:
    """What an echo leaves nothing of: an approval, a page session, a ticket, a call nobody knows the end of."""
    store = open_sqlite(path, ledger_cap=100, open_cap=100)

    def fill(tx: Tx) -> None:
        tx.calls.add(a_call("call_1", state=CallState.UNKNOWN, dispatched_at=NOW), None)
        tx.approvals.add(an_approval("apr_1", "call_1"))
        tx.pages.add(a_page("page_1"))
        tx.tickets.add(a_ticket())
        tx.installation.put("ü\u2028🜚 '\"\\$1 %s\t\n\\N", bytes(range(256)))

    await store.run(fill)
    await store.close()


@dataclass(frozen=True)
class Lived:
    """A folder in which a gateway served calls: a token that is good there, and the ref of its call `one`."""

    folder: Path
    token: str
    ref: str


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """Made once for all tests."""
    folder = tmp_path_factory.mktemp("lived")
    shell = Shell(folder)
    token = _token(shell)
    with shell.serving():
        answer = _post(shell, invocation(token, "one"))
        assert answer["result"] == {"text": "one"}
    asyncio.run(_leave_more(shell.data / DATABASE))
    return Lived(folder, token, answer["ref"])


@pytest.fixture
def lived(shell: Shell, original: Lived) -> Lived:
    """A copy of it where the shell is."""
    shutil.copytree(original.folder / "data", shell.data)
    return original


def _serve_from(shell: Shell, url: str) -> None:
    shell.file.write_text(shell.file.read_text().replace("server: {", f'server: {{database: "{url}", '))


def _counts(url: str) -> dict[str, int]:
    tables = [name for (name,) in execute(url, TABLES) if name != "alembic_version"]
    return {name: execute(url, f"SELECT count(*) FROM {name}")[0][0] for name in tables}  # noqa: S608


def _sqlite_rows(shell: Shell, table: str) -> list[Any]:
    with closing(sqlite3.connect(shell.data / DATABASE)) as raw:
        return sorted(raw.execute(f"SELECT * FROM {table}").fetchall(), key=repr)  # noqa: S608


def test_a_gateway_goes_on_where_the_other_stood(shell: Shell, lived: Lived, empty: str) -> None:
    with closing(sqlite3.connect(shell.data / DATABASE)) as raw:
        heads = dict(raw.execute("SELECT stream, hex(hash) FROM audit GROUP BY stream HAVING seq = max(seq)"))
    told = shell.json(*MOVE, empty)
    assert {stream: head["hash"].upper() for stream, head in told["heads"].items()} == heads
    assert {name: told["rows"][name] for name in ("calls", "approvals", "page_sessions", "tickets")} == {
        "calls": 2,
        "approvals": 1,
        "page_sessions": 1,
        "tickets": 1,
    }
    assert _counts(empty) == {**told["rows"], "audit": told["rows"]["audit"] + 1}
    for table in sorted(told["rows"].keys() - {"audit"}):
        assert sorted(execute(empty, f"SELECT * FROM {table}"), key=repr) == _sqlite_rows(shell, table)  # noqa: S608

    _serve_from(shell, empty)
    assert shell.json("audit", "verify")["intact"]
    moved = shell.trail("admin")[-1]
    assert (moved["event"], moved["facts"]["rows"]) == ("store.migrated", sum(told["rows"].values()))
    assert moved["facts"]["by"].startswith("local:")
    with shell.serving():
        assert _post(shell, invocation(lived.token, "one"))["ref"] == lived.ref
        assert _post(shell, invocation(lived.token, "two"))["result"] == {"text": "two"}
        _token(shell)
    assert [call["call_id"] for call in shell.json("calls", "list")].count("call-one") == 1
    assert len(shell.json("calls", "list")) == 3
    assert shell.json("audit", "verify")["intact"]


def test_a_person_is_told_what_was_compared_and_what_comes_next(shell: Shell, lived: Lived, made: str) -> None:
    done = CliRunner().invoke(app, shell.line(*MOVE, made))
    assert done.exit_code == 0, done.output
    assert "both databases hold the same" in done.stdout
    assert ["approvals", "1"] in [line.split() for line in done.stdout.splitlines()]
    assert "set `server.database`" in done.stderr
    assert made not in done.output

    _serve_from(shell, made)
    assert "there are rows in the table" in shell.fails(*MOVE[:-1])


def test_the_target_may_stand_in_the_file(shell: Shell, lived: Lived, made: str) -> None:
    assert "has no `server.database`" in shell.fails(*MOVE[:-1])
    _serve_from(shell, made)
    assert shell.json(*MOVE[:-1])["rows"]["calls"] == 2


def test_a_database_in_use_is_refused_and_not_touched(shell: Shell, lived: Lived, made: str) -> None:
    execute(made, "INSERT INTO installation (name, value) VALUES ('mine', '1')")
    before = _counts(made)
    assert "is in use: there are rows in the table `installation`" in shell.fails(*MOVE, made)
    assert _counts(made) == before


def test_a_running_gateway_is_stopped_first(shell: Shell, empty: str) -> None:
    with shell.serving():
        said = shell.fails(*MOVE, empty)
    assert "another gateway holds" in said
    assert "stop it first" in said
    assert execute(empty, TABLES) == []


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("mysql://me:s3cret@127.0.0.1/shop", "is not one of PostgreSQL"),
        ("postgresql://me:s3cret@127.0.0.1:1/shop", "cannot reach PostgreSQL `shop` at `127.0.0.1:1`"),
    ],
)
def test_an_address_that_leads_nowhere_is_told_without_its_password(
    shell: Shell, lived: Lived, to: str, said: str
) -> None:
    told = shell.fails(*MOVE, to)
    assert said in told
    assert "s3cret" not in told


def test_a_folder_without_a_database_is_a_mistake(shell: Shell, empty: str) -> None:
    assert "there is no data folder" in shell.fails(*MOVE, empty)
    assert not shell.data.exists()
    shell.data.mkdir(mode=0o700)
    assert "there is no SQLite database" in shell.fails(*MOVE, empty)
    assert execute(empty, TABLES) == []


def test_a_nul_is_found_and_the_target_stays_without_tables(shell: Shell, lived: Lived, empty: str) -> None:
    with closing(sqlite3.connect(shell.data / DATABASE)) as raw, raw:
        raw.execute("UPDATE tickets SET origin = 'http://' || char(0)")
    assert "column `origin` of table `tickets` holds a NUL character" in shell.fails(*MOVE, empty)
    assert execute(empty, TABLES) == []


TRIGGER = """
    CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {what}; END $$;
    CREATE {kind} TRIGGER meddle {when} INSERT ON {table} {deferred} FOR EACH ROW EXECUTE FUNCTION meddle()
"""


@pytest.mark.parametrize(
    ("trigger", "said"),
    [
        (
            TRIGGER.format(what="RAISE 'no'", kind="", when="BEFORE", table="approvals", deferred=""),
            "did not take it: no",
        ),
        (
            TRIGGER.format(what="RETURN NULL", kind="", when="BEFORE", table="page_sessions", deferred=""),
            "table `page_sessions` had 1 rows, but 0 arrived",
        ),
        (
            TRIGGER.format(what="NEW.hash = 'x'; RETURN NEW", kind="", when="BEFORE", table="audit", deferred=""),
            "the audit trail `agent_tool` ended differently",
        ),
        (
            TRIGGER.format(
                what="RAISE 'late no'",
                kind="CONSTRAINT",
                when="AFTER",
                table="audit",
                deferred="DEFERRABLE INITIALLY DEFERRED",
            ),
            "did not take it: late no",
        ),
    ],
    ids=["half-way", "rows-missing", "another-head", "at-the-commit"],
)
def test_a_move_that_fails_leaves_nothing_behind(
    shell: Shell, lived: Lived, made: str, trigger: str, said: str
) -> None:
    before = _counts(made)
    execute(made, trigger)
    assert said in shell.fails(*MOVE, made)
    assert _counts(made) == before
    execute(made, "DROP FUNCTION meddle CASCADE")
    assert shell.json(*MOVE, made)["rows"]["approvals"] == 1
