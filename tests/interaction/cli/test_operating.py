"""Running a gateway from the command line: settling what is unknown, forgetting what is old."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.adapters.sql import open_sqlite
from gateway.bootstrap import DATABASE
from gateway.cli import app
from gateway.domain.audit import chain
from gateway.domain.calls import CallState
from gateway.runtime.ports import Tx
from tests.contract.samples import NOW, a_call, a_page, a_ticket
from tests.interaction.cli.test_with_a_gateway import Shell, add_session, shell

__all__ = ["shell"]

DAY = 86_400_000


async def _fill(path: Path) -> None:
    store = open_sqlite(path, ledger_cap=100, open_cap=100)
    lost = {"state": CallState.UNKNOWN, "dispatched_at": NOW}
    await store.run(lambda tx: tx.calls.add(a_call("call_1", page="page_1", epoch=1, **lost), None))
    await store.run(lambda tx: tx.calls.add(a_call("call_2", page="page_1", epoch=1, **lost), None))
    await store.run(lambda tx: tx.calls.add(a_call("call_3", state=CallState.FAILED, ended_at=NOW), None))
    await store.close()


@pytest.fixture
def filled(shell: Shell) -> Shell:
    """A data folder with two unknown calls of one page, and one that ended long ago."""
    shell.data.mkdir(mode=0o700)
    asyncio.run(_fill(shell.data / DATABASE))
    return shell


def test_reconcile_settles_one_call_and_says_who_did_it(filled: Shell) -> None:
    with filled.serving():
        told = filled.says("calls", "reconcile", "call_1", "--succeeded", "--reason", "seen in the shop")
        assert "call_1" in told
        assert "succeeded" in told
        said = filled.fails("calls", "reconcile", "call_1", "--failed")
    assert said == "error: call `call_1` is `succeeded`; only an `unknown` call can be reconciled\n"
    (line,) = filled.says("audit", "tail", "--stream", "agent_tool", "--json").splitlines()
    record = json.loads(line)
    assert record["event"] == "call.reconciled"
    assert record["facts"]["by"].startswith("local:")
    assert record["facts"]["reason"] == "seen in the shop"


def test_reconcile_of_many_is_rehearsed_first(filled: Shell) -> None:
    where = ("--page", "page_1", "--since", "2000-01-01", "--until", "1s")
    found = filled.json("calls", "reconcile", "--failed", *where, "--dry-run")
    assert [(call["ref"], call["state"]) for call in found] == [("call_1", "unknown"), ("call_2", "unknown")]
    assert filled.json("calls", "show", "call_1")["state"] == "unknown"
    settled = filled.json("calls", "reconcile", "--failed", *where)
    assert [(call["ref"], call["state"]) for call in settled] == [("call_1", "failed"), ("call_2", "failed")]
    assert "no unknown call is meant" in filled.says("calls", "reconcile", "--failed", *where)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["call_1"], "say what you found out"),
        (["--succeeded"], "name one call by its ref, or several"),
        (["call_1", "--page", "page_1", "--succeeded"], "name one call by its ref, or several"),
        (["call_1", "--dry-run", "--succeeded"], "`--dry-run` goes with several calls"),
        (["--since", "yesterday", "--succeeded"], "`--since yesterday` is no time"),
        (["call_3", "--succeeded"], "call `call_3` is `failed`"),
        (["call_9", "--succeeded"], "there is no call `call_9`"),
    ],
)
def test_reconcile_says_what_is_missing(filled: Shell, arguments: list[str], said: str) -> None:
    assert said in filled.fails("calls", "reconcile", *arguments)


def test_purge_forgets_what_is_old_and_nothing_unknown(filled: Shell) -> None:
    with filled.serving():
        assert filled.json("purge") == {"calls": 1}
        assert filled.json("purge") == {}
        assert filled.json("status")["ledger_rows"] == 2
    assert [call["state"] for call in filled.json("calls", "list")] == ["unknown", "unknown"]


def test_the_trail_is_exported_in_pieces_that_fit_together(filled: Shell, tmp_path: Path) -> None:
    out = tmp_path / "trail.jsonl"
    with filled.serving():
        filled.says("calls", "reconcile", "call_1", "--failed")
        assert filled.says("audit", "export", "--out", str(out)) == ""
        assert out.stat().st_mode & 0o777 == 0o600
        assert "is already there; it was not touched" in filled.fails("audit", "export", "--out", str(out))
        filled.says("calls", "reconcile", "call_2", "--failed")
        rest = filled.says("audit", "export", "--stream", "agent_tool", "--after", "agent_tool:1")
    first = [json.loads(line) for line in out.read_text().splitlines()]
    second = [json.loads(line) for line in rest.splitlines()]
    assert [(r["stream"], r["seq"], r["event"]) for r in [*first, *second]] == [
        ("agent_tool", 1, "call.reconciled"),
        ("admin", 1, "gateway.started"),
        ("agent_tool", 2, "call.reconciled"),
    ]
    body = {name: second[0][name] for name in ("stream", "seq", "event", "at", "facts")}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert chain(bytes.fromhex(first[0]["hash"]), text).hex() == second[0]["hash"]
    assert filled.says("audit", "export", "--since", "2100-01-01") == ""
    assert "names no record" in filled.fails("audit", "export", "--stream", "admin", "--after", "identity:3")


def test_a_cloud_event_names_its_record_for_ever(filled: Shell) -> None:
    filled.says("calls", "reconcile", "call_1", "--failed")
    (line,) = filled.says("audit", "export", "--format", "cloudevents").splitlines()
    event = json.loads(line)
    data = event.pop("data")
    assert data["facts"]["ref"] == "call_1"
    assert datetime.fromisoformat(event.pop("time")) == datetime.fromtimestamp(data["at"] / 1_000, UTC)
    assert event.pop("source").startswith("http://127.0.0.1:")
    assert event == {
        "specversion": "1.0",
        "id": "agent_tool:1",
        "type": "dev.ostiary.call.reconciled",
        "subject": "call_1",
        "datacontenttype": "application/json",
    }


def test_a_checkpoint_kept_elsewhere_shows_a_trail_that_was_written_anew(filled: Shell, tmp_path: Path) -> None:
    kept = tmp_path / "checkpoint"
    filled.says("calls", "reconcile", "call_1", "--failed")
    kept.write_text(filled.says("audit", "checkpoint"))
    filled.says("calls", "reconcile", "call_2", "--failed")
    assert filled.json("audit", "verify", "--checkpoint", str(kept))["intact"] is True
    kept.write_text(kept.read_text().replace("\n1\n", "\n2\n"))
    told = CliRunner().invoke(app, filled.line("audit", "verify", "--checkpoint", str(kept)))
    assert (told.exit_code, "broken: stream agent_tool, record 2" in told.stdout) == (1, True)
    kept.write_text("nonsense")
    assert "a checkpoint is four lines" in filled.fails("audit", "verify", "--checkpoint", str(kept))


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
    lines = filled.says("audit", "tail", "--stream", "admin", "--json").splitlines()
    assert "gateway.backed_up" in [json.loads(line)["event"] for line in lines]


def test_a_restored_gateway_takes_up_the_old_state_and_nothing_of_it_can_repeat(shell: Shell, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    grant = add_session(shell)
    key = shell.json("site", "key", "add", "todo")
    asyncio.run(_leave_things_open(shell.data / DATABASE))
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


async def _leave_things_open(path: Path) -> None:
    store = open_sqlite(path, ledger_cap=100, open_cap=100)

    def work(tx: Tx) -> None:
        tx.calls.add(a_call("call_ready", deadline=2**52), "{}")
        tx.calls.add(a_call("call_out", state=CallState.DISPATCHED, dispatched_at=NOW, execute_by=2**52), None)
        tx.pages.add(a_page("page_1"))
        tx.tickets.add(a_ticket(expires_at=2**52))

    await store.run(work)
    await store.close()


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


def found(shell: Shell, *, code: int) -> dict[str, tuple[str, str]]:
    told = CliRunner().invoke(app, shell.line("doctor", "--json"))
    assert told.exit_code == code, told.output
    return {finding["check"]: (finding["verdict"], finding["said"]) for finding in json.loads(told.stdout)}


def test_doctor_finds_a_healthy_gateway_healthy_and_says_what_is_missing(shell: Shell) -> None:
    grant = add_session(shell)
    with shell.serving():
        checks = found(shell, code=0)
        assert checks["keys of `todo`"][0] == "warn"
        secret = shell.json("site", "key", "add", "todo")["secret"]
        told = CliRunner().invoke(app, shell.line("doctor"))
        assert told.exit_code == 0
        assert grant["token"] not in told.output
        assert secret not in told.output
        checks = found(shell, code=0)
    assert {name for name, (verdict, _) in checks.items() if verdict != "ok"} <= {"space"}
    assert {"gateway", "reachability", "clock", "ledger", "store", "surface host", "open files"} <= set(checks)
    assert found(shell, code=0)["gateway"][0] == "warn"


def _write(shell: Shell, old: str, new: str) -> None:
    shell.file.write_text(shell.file.read_text().replace(old, new))


def _open_folder(shell: Shell) -> None:
    shell.data.chmod(0o755)


def _break_file(shell: Shell) -> None:
    _write(shell, "version: 1", "version: 2")


def _go_far_with_the_site(shell: Shell) -> None:
    _write(shell, "[http://localhost:3000]", "[https://todo.example.com]")


def _leave_tls_out(shell: Shell) -> None:
    _write(shell, "builtins:", "public_url: http://gate.example.com, builtins:")


@pytest.mark.parametrize(
    ("harm", "check", "said"),
    [
        (_open_folder, "data folder", "has mode 0755"),
        (_break_file, "configuration", "version"),
        (_go_far_with_the_site, "site `todo`", "on their own machine"),
        (_leave_tls_out, "public url", "is not https"),
    ],
)
def test_doctor_fails_for_what_does_not_work(
    filled: Shell, harm: Callable[[Shell], None], check: str, said: str
) -> None:
    harm(filled)
    told = CliRunner().invoke(app, filled.line("doctor", "--json"))
    assert told.exit_code == 1
    matching = [f for f in json.loads(told.stdout) if f["check"] == check and f["verdict"] == "fail"]
    assert len(matching) == 1
    assert said in matching[0]["said"]
    assert matching[0]["fix"]
