"""Commands that need no gateway: init, check, connect, and what they say about likely mistakes."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli import app

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "cases"

runner = CliRunner()


def test_init_writes_a_file_that_check_finds_good_and_never_overwrites_one(tmp_path: Path) -> None:
    made = runner.invoke(app, ["init", str(tmp_path / "new")])
    assert made.exit_code == 0, made.output
    file = tmp_path / "new" / "ostiary.yaml"
    checked = runner.invoke(app, ["check", str(file)])
    assert checked.exit_code == 0
    assert ": good, `policy-" in checked.output

    file.write_text("mine")
    again = runner.invoke(app, ["init", str(tmp_path / "new")])
    assert (again.exit_code, file.read_text()) == (1, "mine")
    assert "is already there; it was not touched" in again.stderr


def test_c41_check_gives_the_verdict_of_the_real_load() -> None:
    file = CASES / "C41" / "input.yaml"
    checked = runner.invoke(app, ["check", str(file)])
    served = runner.invoke(app, ["serve", "--config", str(file), "--data", "/nonexistent"])
    assert checked.exit_code == served.exit_code == 1
    assert checked.stderr == served.stderr
    assert f"{file}:2:1: unknown key `enforcment`" in checked.stderr
    assert f"{file}:8:3: `bob` stands here a second time; the first is on line 4" in checked.stderr


def test_check_loads_neither_server_nor_store() -> None:
    heavy = "{'fastapi', 'starlette', 'uvicorn', 'sqlalchemy', 'mcp', 'rich.table'}"
    program = (
        "import sys\nfrom typer.testing import CliRunner\nfrom gateway.cli import app\n"
        f"CliRunner().invoke(app, ['check', 'gateway/cli/starter.yaml'])\nprint(sorted({heavy} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


TOKEN = "ost_agent_abc"
URL = "https://gate.example.com"


def connect(client: str, *more: str) -> str:
    done = runner.invoke(app, ["connect", client, "--url", URL, *more])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_connect_prints_what_each_client_reads() -> None:
    assert connect("claude-code", "--token", TOKEN) == (
        f"claude mcp add --transport http ostiary {URL}/mcp --header 'Authorization: Bearer {TOKEN}'\n"
    )
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert json.loads(connect("cursor", "--token", TOKEN)) == {
        "mcpServers": {"ostiary": {"url": f"{URL}/mcp", "headers": headers}}
    }
    assert tomllib.loads(connect("codex", "--token", TOKEN)) == {
        "mcp_servers": {"ostiary": {"url": f"{URL}/mcp", "http_headers": headers, "tool_timeout_sec": 300}}
    }
    assert json.loads(connect("vscode", "--token", TOKEN)) == {
        "servers": {"ostiary": {"type": "http", "url": f"{URL}/mcp", "headers": headers}}
    }


def test_without_a_token_vscode_asks_and_the_others_get_a_placeholder() -> None:
    asked = json.loads(connect("vscode"))
    assert asked["servers"]["ostiary"]["headers"] == {"Authorization": "Bearer ${input:ostiary-token}"}
    assert asked["inputs"][0]["password"] is True
    assert "ost_agent_YOUR_TOKEN" in connect("cursor", "--name", "gate")


def test_connect_takes_the_address_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "ostiary.yaml"
    file.write_text("version: 1\nserver: {public_url: https://gate.test}\n")
    done = runner.invoke(app, ["connect", "cursor", "--config", str(file)])
    assert '"https://gate.test/mcp"' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["connect", "cursor", "--token", "ost_site_x"], "error: this is no agent token"),
        (["connect", "cursor", "--token", "ost_agent_x'; rm -rf"], "error: this is no agent token"),
        (["connect", "cursor", "--url", "gate.example.com"], "is not an origin"),
        (["connect", "cursor", "--name", "a b"], "`a b` is not a server name"),
        (["connect", "emacs"], "'emacs' is not one of"),
        (["check", "nowhere.yaml"], "nowhere.yaml:1:1: cannot read the file: No such file or directory"),
        (["serve", "--config", "nowhere.yaml"], "nowhere.yaml:1:1: cannot read the file"),
        (["session", "list", "--data", "nowhere"], "error: there is no data folder `nowhere`"),
        (["reload", "--data", "nowhere"], "error: no gateway runs over `nowhere`"),
    ],
)
def test_a_likely_mistake_is_one_line_with_the_next_step(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = runner.invoke(app, arguments)
    assert done.exit_code in {1, 2}
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []
