"""Running a gateway from the command line, on each database: settling what is unknown, forgetting what is old."""

import pytest

from tests.interaction.cli.shell import Shell
from tests.support.databases import database

__all__ = ["database"]


def test_a_running_gateway_is_told_what_became_of_a_call_and_what_to_forget(filled: Shell) -> None:
    with filled.serving():
        told = filled.says("calls", "reconcile", "call_1", "--succeeded", "--reason", "seen in the shop")
        assert "call_1" in told
        assert "succeeded" in told
        said = filled.fails("calls", "reconcile", "call_1", "--failed")
        assert filled.json("purge") == {"calls": 1}
        assert filled.json("status")["ledger_rows"] == 2
    assert said == "error: call `call_1` is `succeeded`; only an `unknown` call can be reconciled\n"
    (record,) = filled.trail("agent_tool")
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
    assert filled.json("purge") == {"calls": 1}
    assert filled.json("purge") == {}
    assert [call["state"] for call in filled.json("calls", "list")] == ["unknown", "unknown"]
