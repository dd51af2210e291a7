"""`docs/tutorials/first-mini-app.md`: every command exactly as it is printed, and what it says comes out.

Blocks marked `sh` go to one shell, `sh second` to another that stays; a `text` block is the end of what the shell
printed before it. `make tutorial` shows the commands and their output.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, Final

import pytest

PAGE: Final = Path(__file__).parents[2] / "docs" / "tutorials" / "first-mini-app.md"
BLOCK: Final = re.compile(r"^```(sh|sh second|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PORT: Final = 8460
_OVER: Final = "tutorial-block-is-over"
_SECONDS: Final = 60


class Terminal:
    """A shell that stops at the first command that fails."""

    def __init__(self, folder: Path) -> None:
        paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
        self.process = subprocess.Popen(
            ["bash", "-e", "-o", "pipefail"],
            cwd=folder,
            env=os.environ | {"PATH": os.pathsep.join(paths), "COLUMNS": "120"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def type(self, commands: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(commands)
        self.process.stdin.flush()

    def run(self, commands: str) -> str:
        """What all of `commands` printed."""
        self.type(f"{commands}echo {_OVER}\n")
        return self.until(_OVER)

    def until(self, words: str) -> str:
        """What is printed before a line with `words`; the runner's time limit ends the wait."""
        printed: list[str] = []
        for line in _lines(self.process.stdout):
            if words in line:
                return "".join(printed)
            printed.append(line)
        raise AssertionError("a command failed after:\n" + "".join(printed))

    def leave_alone(self) -> None:
        """Nobody reads what is printed from now on, and it must not fill the pipe."""
        Thread(target=deque, args=(_lines(self.process.stdout), 0), daemon=True).start()

    def close(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(timeout=_SECONDS)
        for end in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):
                _lines(end).close()


def _lines(output: IO[str] | None) -> IO[str]:
    assert output is not None
    return output


@contextmanager
def terminal(folder: Path) -> Generator[Terminal]:
    opened = Terminal(folder)
    try:
        yield opened
    finally:
        opened.close()


@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("perl") is None, reason="the tutorial edits its files with perl")
def test_the_commands_of_the_tutorial_do_what_it_says(tmp_path: Path) -> None:
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", PORT)) != 0, f"port {PORT}, which the tutorial uses, is taken"
    said = ""
    with terminal(tmp_path) as first, terminal(tmp_path) as second:
        for kind, text in BLOCK.findall(PAGE.read_text()):
            if kind == "sh":
                sys.stdout.write(f"$ {text.rstrip()}".replace("\n", "\n$ ") + "\n")
                said = first.run(text)
                sys.stdout.write(f"{said}\n")
            elif kind == "sh second":
                sys.stdout.write(f"second$ {text}")
                second.type(f"cd first-steps\n{text}")
                second.until("ostiary serves")
                second.leave_alone()
            else:
                assert said.endswith(text), said
    assert "app.upgraded" in said
    assert "app.rolled_back" in said


def test_every_block_of_the_page_is_run_or_held_against_what_came_out() -> None:
    fences = re.findall(r"^```(.+)$", PAGE.read_text(), re.MULTILINE)
    assert len(fences) == len(BLOCK.findall(PAGE.read_text()))
