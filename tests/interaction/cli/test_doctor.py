"""`ostiary doctor`: a healthy gateway is found healthy, and what does not work is named with its remedy."""

import json
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from gateway.cli import app
from tests.interaction.cli.shell import Shell, add_session


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
