"""The audit trail on its way out, on each database: whole, in order, and in shapes other programs read."""

import hashlib
import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from typer.testing import CliRunner

from gateway.cli import app
from gateway.domain.audit import AuditEvent
from gateway.runtime import audit
from gateway.runtime.ports import Tx
from tests.contract.samples import NOW, a_full_call
from tests.interaction.cli.shell import Shell, add_session
from tests.support.databases import database

__all__ = ["database"]


def lines_of(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def value_after(previous: str, line: Any) -> str:
    """The chain value of an exported line, by what is in it and the value before it: as a stranger would compute it."""
    body = {name: line[name] for name in ("stream", "seq", "event", "at", "facts")}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return hashlib.sha256(bytes.fromhex(previous) + text).hexdigest()


def test_the_trail_is_exported_in_pieces_that_fit_together(filled: Shell, tmp_path: Path) -> None:
    out = tmp_path / "trail.jsonl"
    add_session(filled)
    filled.says("calls", "reconcile", "call_1", "--failed")
    assert filled.says("audit", "export", "--out", str(out)) == ""
    assert out.stat().st_mode & 0o777 == 0o600
    assert "is already there; it was not touched" in filled.fails("audit", "export", "--out", str(out))
    filled.says("calls", "reconcile", "call_2", "--failed")
    first = lines_of(out.read_text())
    second = lines_of(filled.says("audit", "export", "--stream", "agent_tool", "--after", "agent_tool:1"))
    assert [(r["stream"], r["seq"], r["event"]) for r in [*first, *second]] == [
        ("agent_tool", 1, "call.reconciled"),
        ("admin", 1, "session.added"),
        ("agent_tool", 2, "call.reconciled"),
    ]
    assert second[0]["hash"] == value_after(first[0]["hash"], second[0])
    assert filled.says("audit", "export", "--since", "2100-01-01") == ""
    assert "names no record" in filled.fails("audit", "export", "--stream", "admin", "--after", "identity:3")


LONG: Final = 1_203
"""Records that come in three pages."""

ODD: Final = "\u2028ñ🜚\u0085\u009b2J\u202e"
"""Ends of lines to some readers, and what commands a terminal."""


def write_long_trail(tx: Tx) -> None:
    for number in range(LONG):
        tx.audit.append(audit.of_admin(AuditEvent.KEY_ADDED, NOW + number, key=f"key_{number}", by=f"test:{ODD}"))


def test_a_long_trail_is_exported_whole_in_order_and_can_be_checked_line_by_line(shell: Shell) -> None:
    shell.fill(write_long_trail)
    told = lines_of(shell.says("audit", "export"))
    assert [(line["seq"], line["facts"]["key"]) for line in told] == [(n + 1, f"key_{n}") for n in range(LONG)]
    for before, line in pairwise([{"hash": "00" * 32}, *told]):
        assert line["hash"] == value_after(before["hash"], line)
    events = lines_of(shell.says("audit", "export", "--format", "cloudevents", "--after", "admin:1"))
    assert [event["data"] for event in events] == told[1:]
    assert len({(event["source"], event["id"]) for event in events}) == LONG - 1


def test_whatever_a_record_holds_it_stays_one_line_of_ascii(shell: Shell) -> None:
    shell.fill(write_long_trail)
    for command in (["tail", "--json"], ["export"], ["export", "--format", "cloudevents"]):
        said = shell.says("audit", *command)
        assert said.isascii()
        assert ODD in json.dumps(lines_of(said)[-1], ensure_ascii=False)


def test_a_cloud_event_names_its_record_for_ever_and_the_trace_it_belongs_to(shell: Shell) -> None:
    add_session(shell)
    shell.fill(lambda tx: tx.calls.add(a_full_call("call_1"), None))
    shell.says("calls", "reconcile", "call_1", "--failed")
    call, session = lines_of(shell.says("audit", "export", "--format", "cloudevents"))
    assert call.pop("data")["facts"]["ref"] == "call_1"
    at = session.pop("data")["at"]
    assert datetime.fromisoformat(session["time"]) == datetime.fromtimestamp(at / 1_000, UTC)
    common = {"specversion": "1.0", "datacontenttype": "application/json", "source": f"http://127.0.0.1:{shell.port}"}
    assert call == {
        **common,
        "id": "agent_tool:1",
        "type": "dev.ostiary.call.reconciled",
        "time": call["time"],
        "subject": "call_1",
        "traceparent": a_full_call().traceparent,
    }
    assert session == {
        **common,
        "id": "admin:1",
        "type": "dev.ostiary.session.added",
        "time": session["time"],
        "subject": shell.json("session", "list")[0]["session"],
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
