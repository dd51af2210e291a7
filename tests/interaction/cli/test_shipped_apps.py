"""The apps that come along: installed by their name, and of use at once."""

import asyncio
from typing import Any, Final

import pytest

from capabilities.shipped import shipped
from tests.interaction.cli.shell import Shell
from tests.support.agents import an_agent, called

RULE: Final = """
rules:
  - {id: notes, agents: ["*"], capabilities: [handoff.*], verdict: permit}
"""

NOTE: Final = {"author": "Ada", "subject": "Login", "summary": "Half done.", "next_steps": ["write the test"]}


def test_these_come_along() -> None:
    assert list(shipped()) == ["handoff", "pomodoro", "svg-canvas"]


@pytest.mark.parametrize("name", sorted(shipped()))
def test_one_is_installed_by_its_name(shell: Shell, name: str) -> None:
    with shell.serving():
        installed = shell.json("app", "install", name)
        assert (installed["app"], installed["state"]) == (f"dev.ostiary.{name}", "disabled")
        assert shell.json("app", "enable", installed["app"])["state"] == "enabled"
        again = shell.json("app", "install", name)
        assert (again["app"], again["version"]) == (installed["app"], installed["version"])


def test_a_note_goes_from_one_agent_to_the_next_through_a_restart(shell: Shell) -> None:
    shell.file.write_text(shell.file.read_text() + RULE)
    grant = ("--user", "ada", "--scope", "handoff.*", "--conversation", "login")
    ada, bob = (shell.json("session", "add", "claude", *grant)["token"] for _ in range(2))

    async def ask(token: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        async with an_agent(shell.port, token) as client:
            return (await called(client, tool, arguments))["result"]

    with shell.serving():
        shell.says("app", "install", "handoff")
        shell.says("app", "enable", "dev.ostiary.handoff")
        assert asyncio.run(ask(ada, "handoff_leave", NOTE)) == {"number": 1, "open": 1}
    with shell.serving():
        taken = asyncio.run(ask(bob, "handoff_take", {"by": "Bob"}))
        assert (taken["summary"], taken["next_steps"], taken["taken_by"]) == ("Half done.", ["write the test"], "Bob")
        assert asyncio.run(ask(ada, "handoff_list", {})) == {"notes": []}
