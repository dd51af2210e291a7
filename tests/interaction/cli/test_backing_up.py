"""Copies of a gateway's database, and the way back to one of them."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gateway.bootstrap import DATABASE
from gateway.domain.calls import CallState
from gateway.runtime.ports import Tx
from tests.contract.samples import NOW, a_call, a_page, a_ticket
from tests.interaction.cli.shell import Shell, add_session
from tests.support.postgres import clean_database


def test_a_backup_of_a_running_gateway_is_whole_and_overwrites_nothing(filled: Shell, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    with filled.serving():
        assert "wrote" in filled.says("backup", str(copy))
        assert "is already there; it was not touched" in filled.fails("backup", str(copy))
        assert "cannot write" in filled.fails("backup", str(tmp_path / "nowhere" / "copy"))
        said = filled.fails("restore", str(copy))
        assert "another gateway holds" in said
        assert "stop it first" in said
    assert copy.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.sqlite3", "data", "ostiary.yaml"]
    with closing(sqlite3.connect(copy)) as raw:
        assert raw.execute("SELECT ref FROM calls ORDER BY ref").fetchall() == [("call_1",), ("call_2",), ("call_3",)]
    assert "gateway.backed_up" in [record["event"] for record in filled.trail("admin")]


def test_a_restored_gateway_takes_up_the_old_state_and_nothing_of_it_can_repeat(shell: Shell, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    grant = add_session(shell)
    key = shell.json("site", "key", "add", "todo")
    shell.fill(_leave_things_open)
    shell.says("backup", str(copy))
    add_session(shell)
    told = shell.says("restore", str(copy))
    assert "2 open calls ended" in told
    assert "1 page sessions and 1 tickets ended" in told
    assert "revoked 1 agent sessions, 1 service keys" in told

    with shell.serving():
        (session,) = shell.json("session", "list")
        assert (session["session"], session["standing"]) == (grant["session"], "revoked")
        assert [(k["key"], k["standing"]) for k in shell.json("site", "key", "list")] == [(key["key"], "revoked")]
        calls = {call["ref"]: (call["state"], call["code"]) for call in shell.json("calls", "list")}
        assert calls == {"call_ready": ("cancelled", "outcome_unknown"), "call_out": ("unknown", "outcome_unknown")}
        assert shell.json("audit", "verify")["intact"] is True
        (restored,) = [r for r in shell.trail("admin") if r["event"] == "gateway.restored"]
    assert restored["facts"]["by"].startswith("local:")
    assert {name: restored["facts"][name] for name in ("unknown", "cancelled", "pages", "tickets", "sessions")} == {
        "unknown": 1,
        "cancelled": 1,
        "pages": 1,
        "tickets": 1,
        "sessions": 1,
    }
    (kept,) = shell.data.glob(f"{DATABASE}.before-*")
    with closing(sqlite3.connect(kept)) as raw:
        assert raw.execute("SELECT count(*) FROM agent_sessions").fetchone() == (2,)
    assert list(shell.data.glob("*.restoring*")) == []


def _leave_things_open(tx: Tx) -> None:
    tx.calls.add(a_call("call_ready", deadline=2**52), "{}")
    tx.calls.add(a_call("call_out", state=CallState.DISPATCHED, dispatched_at=NOW, execute_by=2**52), None)
    tx.pages.add(a_page("page_1"))
    tx.tickets.add(a_ticket(expires_at=2**52))


def test_on_postgresql_its_own_tools_copy_and_the_mark_is_ours(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with clean_database() as url:
        shell = Shell(tmp_path, url)
        grant = add_session(shell)
        shell.fill(_leave_things_open)
        assert "back it up with `pg_dump --format=custom`" in shell.fails("backup", str(copy))
        assert "restore it with `pg_restore`, then `ostiary restore --mark`" in shell.fails("restore", str(copy))
        assert not copy.exists()
        assert [session["standing"] for session in shell.json("session", "list")] == ["live"]

        assert "2 open calls ended" in shell.says("restore", "--mark")
        (session,) = shell.json("session", "list")
        assert (session["session"], session["standing"]) == (grant["session"], "revoked")
        calls = {call["ref"]: (call["state"], call["code"]) for call in shell.json("calls", "list")}
        assert calls == {"call_ready": ("cancelled", "outcome_unknown"), "call_out": ("unknown", "outcome_unknown")}
        assert [record["event"] for record in shell.trail("admin")] == ["session.added", "gateway.restored"]
        assert shell.json("audit", "verify")["intact"] is True


def test_grants_are_kept_where_that_is_asked_for(shell: Shell, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    add_session(shell)
    shell.says("backup", str(copy))
    shell.says("restore", str(copy), "--keep-grants")
    assert [s["standing"] for s in shell.json("session", "list")] == ["live"]
    shell.says("restore", "--mark")
    assert [s["standing"] for s in shell.json("session", "list")] == ["revoked"]
    assert [r["event"] for r in shell.trail("admin")].count("gateway.restored") == 2


@pytest.mark.parametrize("harm", ["no database", "a cut page", "a broken trail", "a newer version"])
def test_a_backup_that_cannot_be_trusted_leaves_everything_as_it_was(
    filled: Shell, tmp_path: Path, harm: str
) -> None:
    copy = tmp_path / "copy.sqlite3"
    filled.says("calls", "reconcile", "call_1", "--failed")
    filled.says("backup", str(copy))
    said = _HARMS[harm](copy)
    filled.says("calls", "reconcile", "call_2", "--failed")
    before = filled.trail("agent_tool")
    assert said in filled.fails("restore", str(copy))
    assert filled.trail("agent_tool") == before
    assert sorted(path.name for path in filled.data.iterdir()) == sorted(["gateway.lock", DATABASE])


def _no_database(copy: Path) -> str:
    copy.write_text("hello")
    return "it is not a SQLite database"


def _cut(copy: Path) -> str:
    copy.write_bytes(copy.read_bytes()[:-4_096])
    return "is damaged"


def _broken_trail(copy: Path) -> str:
    with closing(sqlite3.connect(copy)) as raw:
        raw.execute("UPDATE audit SET body = CAST(replace(CAST(body AS TEXT), 'call_1', 'call_9') AS BLOB)")
        raw.commit()
    return "the audit trail of"


def _newer(copy: Path) -> str:
    with closing(sqlite3.connect(copy)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
        raw.commit()
    return "newer than this gateway knows"


_HARMS: dict[str, Callable[[Path], str]] = {
    "no database": _no_database,
    "a cut page": _cut,
    "a broken trail": _broken_trail,
    "a newer version": _newer,
}
