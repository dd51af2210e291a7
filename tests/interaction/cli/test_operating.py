"""Running a gateway from the command line: settling what is unknown, forgetting what is old."""

import asyncio
import json
from pathlib import Path

import pytest

from gateway.adapters.sql import open_sqlite
from gateway.bootstrap import DATABASE
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
