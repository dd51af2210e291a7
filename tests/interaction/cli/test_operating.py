"""Running a gateway from the command line: settling what is unknown, forgetting what is old."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.adapters.sql import open_sqlite
from gateway.bootstrap import DATABASE
from gateway.cli import app
from gateway.domain.audit import chain
from gateway.domain.calls import CallState
from tests.contract.samples import NOW, a_call
from tests.interaction.cli.test_with_a_gateway import Shell, shell

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
