"""A folder with a file, and one whose gateway has a past."""

from pathlib import Path

import pytest

from gateway.domain.calls import CallState
from gateway.runtime.ports import Tx
from tests.contract.samples import NOW, a_call
from tests.interaction.cli.shell import Shell
from tests.support.databases import url_for


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, url_for(tmp_path / "data"))


@pytest.fixture
def filled(shell: Shell) -> Shell:
    """With two unknown calls of one page, and one that ended long ago."""
    shell.fill(_lose_two_calls)
    return shell


def _lose_two_calls(tx: Tx) -> None:
    lost = {"state": CallState.UNKNOWN, "dispatched_at": NOW}
    tx.calls.add(a_call("call_1", page="page_1", epoch=1, **lost), None)
    tx.calls.add(a_call("call_2", page="page_1", epoch=1, **lost), None)
    tx.calls.add(a_call("call_3", state=CallState.FAILED, ended_at=NOW), None)
