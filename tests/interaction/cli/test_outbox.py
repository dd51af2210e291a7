"""Minding the outbox from the command line, with and without a gateway, on each database."""

import pytest

from gateway.domain.outbox import OutboxEvent, step
from gateway.runtime.ports import Tx
from tests.contract.samples import NOW, an_entry
from tests.interaction.cli.shell import Shell
from tests.support.databases import database

__all__ = ["database"]


@pytest.fixture
def full(shell: Shell) -> Shell:
    """With two dead letters, and one entry behind them."""
    shell.fill(_bury_two)
    return shell


def _bury_two(tx: Tx) -> None:
    for name in ("call_1:end", "call_2:end"):
        tx.outbox.add(an_entry(name, key=name, data='{"secret":"MARKER-7731"}'))
        [claimed] = tx.outbox.claim("lease", now=NOW, until=NOW + 1, limit=1)
        dead = step(claimed, OutboxEvent.GIVE_UP, now=NOW, error="it answered 503")
        tx.outbox.save(dead, holder="lease")
    tx.outbox.add(an_entry("call_3:end", key="call_1:end"))


def test_dead_letters_are_listed_and_put_back_one_or_all(full: Shell) -> None:
    said = full.says("outbox", "list")
    assert "call_1:end" in said
    assert "it answered 503" in said
    assert [e["entry"] for e in full.json("outbox", "list")] == ["call_1:end", "call_2:end"]
    assert full.says("outbox", "requeue", "call_2:end") == "1 entry is on its way again\n"
    assert [e["entry"] for e in full.json("outbox", "list")] == ["call_1:end"]
    assert full.json("outbox", "requeue", "--all") == {"requeued": 1}
    assert full.says("outbox", "list") == "no dead entry\n"
    # In the order they go: what was put back stands behind.
    pending = full.json("outbox", "list", "--state", "pending")
    assert [(e["entry"], e["attempts"]) for e in pending] == [("call_3:end", 0), ("call_2:end", 0), ("call_1:end", 0)]
    records = [r["facts"] for r in full.trail("admin") if r["event"] == "outbox.requeued"]
    assert [record["entry"] for record in records] == ["call_2:end", "call_1:end"]
    assert all(record["by"].startswith("local:") for record in records)


def test_a_running_gateway_does_it_too(full: Shell) -> None:
    with full.serving():
        assert full.json("outbox", "requeue", "call_1:end") == {"requeued": 1}
        assert [e["entry"] for e in full.json("outbox", "list")] == ["call_2:end"]


def test_what_entries_say_is_not_shown(full: Shell) -> None:
    for arguments in (("list",), ("list", "--json"), ("list", "--state", "pending", "--json")):
        assert "MARKER-7731" not in full.says("outbox", *arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["requeue"], "name one entry, or say `--all`"),
        (["requeue", "call_1:end", "--all"], "name one entry, or say `--all`"),
        (["requeue", "call_9:end"], "there is no outbox entry `call_9:end`; `ostiary outbox list` shows them"),
        (["requeue", "call_3:end"], "outbox entry `call_3:end` is `pending`; only a `dead` one can be requeued"),
        (["list", "--state", "lost"], "there is no state `lost`"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(full: Shell, arguments: list[str], said: str) -> None:
    assert said in full.fails("outbox", *arguments)
    assert len(full.json("outbox", "list")) == 2
    assert [r for r in full.trail("admin") if r["event"] == "outbox.requeued"] == []
