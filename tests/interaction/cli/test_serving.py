"""The process itself: one to a folder, and a file that is read again."""

import json
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from subprocess import PIPE

import pytest

from tests.interaction.cli.shell import ROOT, Shell, add_session, first_line_with


def test_one_gateway_to_a_folder(shell: Shell) -> None:
    with shell.serving() as process:
        shell.listen_anew()
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


def test_a_refusal_of_the_gateway_is_one_line(shell: Shell) -> None:
    with shell.serving():
        said = shell.fails("session", "add", "cursor", "--user", "ada", "--scope", "todo.*")
    assert said == "error: there is no agent `cursor`; declare it under `agents:` and reload\n"
    assert shell.fails("calls", "show", "call_x") == "error: there is no call `call_x`\n"


def test_an_export_follows_a_gateway_to_its_end_and_says_where_to_go_on(shell: Shell) -> None:
    def event_of(line: str) -> tuple[str, str]:
        event = json.loads(line)
        return event["id"], event["type"]

    line = shell.line("audit", "export", "--format", "cloudevents", "--follow", "--stream", "admin")
    with ExitStack() as stack:
        with shell.serving():
            following = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "gateway.cli", *line], cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True
                )
            )
            assert following.stdout is not None
            assert event_of(following.stdout.readline()) == ("admin:1", "dev.ostiary.gateway.started")
            add_session(shell)
            assert event_of(following.stdout.readline()) == ("admin:2", "dev.ostiary.session.added")
        _, said = following.communicate(timeout=30)
    assert following.returncode == 1
    assert "no gateway runs" in said
    assert "to go on: --after admin:" in said
