"""The command line against a gateway that runs, and against a database nobody holds."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from typer.testing import CliRunner

from gateway.cli import app

ROOT = Path(__file__).parents[3]

FILE = """\
version: 1
server: {{listen: "127.0.0.1:{port}", builtins: [runtime.echo]}}
sites:
  todo:
    address: http://localhost:3000/
    origins: [http://localhost:3000]
    users: any
    expose: [todo.add]
agents:
  claude: {{label: Claude Code}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Shell:
    """Types commands in a folder that holds `ostiary.yaml`."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "ostiary.yaml"
        self.data = folder / "data"
        self.file.write_text(FILE.format(port=free_port()))

    def line(self, *arguments: str) -> list[str]:
        places = ["--data", str(self.data)]
        if arguments[0] != "reload":
            places += ["--config", str(self.file)]
        return [*arguments, *places]

    def says(self, *arguments: str) -> str:
        done = CliRunner().invoke(app, self.line(*arguments))
        assert done.exit_code == 0, done.output
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.says(*arguments, "--json"))

    def trail(self, stream: str) -> list[Any]:
        lines = self.says("audit", "tail", "--stream", stream, "--json").splitlines()
        return [json.loads(line) for line in lines]

    def fails(self, *arguments: str) -> str:
        done = CliRunner().invoke(app, self.line(*arguments))
        assert done.exit_code == 1, done.output
        assert "Traceback" not in done.stderr
        return done.stderr

    @contextmanager
    def serving(self) -> Generator[subprocess.Popen[str]]:
        with subprocess.Popen(
            [sys.executable, "-m", "gateway.cli", *self.line("serve")],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                first_line_with("ostiary serves", process.stdout)
                yield process
            finally:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=30)
        assert process.returncode == 0


def first_line_with(words: str, output: IO[str]) -> str:
    """Wait for a line of the program's output."""
    read: list[str] = []
    for line in output:
        if words in line:
            return line
        read.append(line)
    raise AssertionError("it ended after: " + "".join(read))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def add_session(shell: Shell) -> dict[str, Any]:
    return shell.json("session", "add", "claude", "--user", "ada", "--site", "todo", "--scope", "todo.*")


def test_what_is_made_before_the_start_counts_after_it_and_the_whole_is_audited(shell: Shell) -> None:
    first = add_session(shell)
    with shell.serving():
        second = add_session(shell)
        assert [s["session"] for s in shell.json("session", "list")] == [second["session"], first["session"]]
        assert "is revoked" in shell.says("session", "revoke", first["session"])
        key = shell.json("site", "key", "add", "todo")
        assert [k["key"] for k in shell.json("site", "key", "list", "todo")] == [key["key"]]
        shell.says("site", "key", "revoke", key["key"])
        assert shell.json("agent", "list") == [{"agent": "claude", "label": "Claude Code"}]
        assert shell.json("site", "list")[0]["expose"] == [{"id": "todo.add"}]
        assert shell.json("calls", "list") == []
        assert shell.json("status")["sessions"] == 1
        told = shell.json("explain", second["session"], "runtime.echo")
        assert [(place["page"], place["verdict"]) for place in told["places"]] == [(None, "forbid")]
        assert "nothing declares it now" in shell.says("explain", second["session"], "todo.add")

    lines = shell.says("audit", "tail", "--stream", "admin", "--json").splitlines()
    assert [json.loads(line)["event"] for line in lines] == [
        "session.added",
        "gateway.started",
        "session.added",
        "session.revoked",
        "key.added",
        "key.revoked",
        "gateway.stopped",
    ]
    assert shell.json("audit", "verify") == {
        "intact": True,
        "records": 7,
        "streams": 1,
        "broken": [],
        "starts": {},
        "unchecked": [],
    }
    assert "no gateway runs" in shell.fails("reload")
    trail = "".join(lines)
    assert not any(secret in trail for secret in (first["token"], second["token"], key["secret"]))


def test_one_gateway_to_a_folder(shell: Shell) -> None:
    with shell.serving() as process:
        shell.file.write_text(FILE.format(port=free_port()))
        second = subprocess.run(
            [sys.executable, "-m", "gateway.cli", *shell.line("serve")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert second.returncode == 1
        assert second.stderr == f"error: another gateway holds `{shell.data}` (pid {process.pid})\n"


@pytest.mark.parametrize("by_signal", [False, True], ids=["ostiary reload", "SIGHUP"])
def test_a_broken_file_keeps_the_old_one_and_a_good_one_is_taken_over(shell: Shell, by_signal: bool) -> None:
    with shell.serving() as process:
        assert process.stdout is not None
        good = shell.file.read_text()
        before = shell.json("status")["policy"]
        shell.file.write_text(good + "enforcment: strict\n")
        if by_signal:
            process.send_signal(signal.SIGHUP)
            assert f"{shell.file}:11:1" in first_line_with("configuration_refused", process.stdout)
        else:
            assert f"{shell.file}:11:1: unknown key `enforcment`" in shell.fails("reload")
        assert shell.json("status")["policy"] == before

        shell.file.write_text(good + "# a remark\n")
        if by_signal:
            process.send_signal(signal.SIGHUP)
            first_line_with("configuration_loaded", process.stdout)
        else:
            assert re.fullmatch(r"loaded `policy-[0-9a-f]{12}`\n", shell.says("reload"))
        assert shell.json("status")["policy"] != before


def test_an_admin_token_is_shown_once_and_listed_with_its_standing(shell: Shell) -> None:
    made = shell.json("admin-token", "add", "pipeline", "--scope", "admin.read", "--expires", "12h")
    assert made["expires_at"] - made["created_at"] == 12 * 3_600_000
    assert "pipeline" in shell.says("admin-token", "list")
    assert made["token"] not in shell.says("admin-token", "list", "--json")
    assert shell.says("admin-token", "revoke", "pipeline").endswith("is revoked\n")
    assert [token["standing"] for token in shell.json("admin-token", "list")] == ["revoked"]
    assert "`soon` is no length of time" in shell.fails(
        "admin-token", "add", "x", "-s", "admin.read", "--expires", "soon"
    )


def test_a_refusal_of_the_gateway_is_one_line(shell: Shell) -> None:
    with shell.serving():
        said = shell.fails("session", "add", "cursor", "--user", "ada", "--scope", "todo.*")
    assert said == "error: there is no agent `cursor`; declare it under `agents:` and reload\n"
    assert shell.fails("calls", "show", "call_x") == "error: there is no call `call_x`\n"
