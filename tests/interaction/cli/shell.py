"""A person at a terminal: types commands in a folder that holds `ostiary.yaml`."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from typer.testing import CliRunner

from gateway.adapters.sql import open_postgresql, open_sqlite
from gateway.bootstrap import DATABASE
from gateway.cli import app
from gateway.runtime.ports import Tx

ROOT: Final = Path(__file__).parents[3]

FILE: Final = """\
version: 1
server: {{{server}}}
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
    """Its gateway keeps what it knows in `database`, or without one in SQLite in the data folder."""

    def __init__(self, folder: Path, database: str = "") -> None:
        self.file = folder / "ostiary.yaml"
        self.data = folder / "data"
        self.database = database
        self.listen_anew()

    def listen_anew(self) -> None:
        """Write the file, with another port."""
        self.port = free_port()
        server = f'listen: "127.0.0.1:{self.port}", builtins: [runtime.echo]'
        if self.database:
            server += f', database: "{self.database}"'
        self.file.write_text(FILE.format(server=server))

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

    def json_of_failing(self, *arguments: str) -> Any:
        done = CliRunner().invoke(app, self.line(*arguments, "--json"))
        assert done.exit_code == 1, done.output
        return json.loads(done.stdout)

    def fails(self, *arguments: str) -> str:
        done = CliRunner().invoke(app, self.line(*arguments))
        assert done.exit_code == 1, done.output
        assert "Traceback" not in done.stderr
        return done.stderr

    def fill(self, work: Callable[[Tx], None]) -> None:
        """Do something in the database, while no gateway runs."""
        self.data.mkdir(mode=0o700, exist_ok=True)
        asyncio.run(self._fill(work))

    async def _fill(self, work: Callable[[Tx], None]) -> None:
        room = {"ledger_cap": 100, "open_cap": 100}
        path = self.data / DATABASE
        store = open_postgresql(self.database, **room) if self.database else open_sqlite(path, **room)
        await store.run(work)
        await store.close()

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


def add_session(shell: Shell) -> dict[str, Any]:
    return shell.json("session", "add", "claude", "--user", "ada", "--site", "todo", "--scope", "todo.*")
