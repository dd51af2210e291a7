"""From an author's folder to an agent's call and back: packages made, installed and managed at the command line."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.interaction.cli.authors import Author
from tests.interaction.cli.shell import Shell
from tests.support.agents import an_agent, called, names_of

APP = "com.example.notes"


@pytest.fixture
def author(tmp_path: Path) -> Author:
    return Author(tmp_path)


def granted(shell: Shell, scope: str = "notes.*") -> str:
    """The token of a session that may use what the app offers."""
    return shell.json("session", "add", "claude", "--user", "ada", "--scope", scope)["token"]


def events_of(shell: Shell) -> list[str]:
    return [record["event"] for record in shell.trail("admin") if record["event"].startswith("app.")]


async def counted(port: int, token: str) -> Any:
    async with an_agent(port, token) as client:
        return await called(client, "notes_count", {"text": "one two three"})


def test_a_package_becomes_a_tool_an_agent_calls(shell: Shell, author: Author) -> None:
    package, token = author.pack("0.1.0"), granted(shell)

    async def journey() -> None:
        async with an_agent(shell.port, token) as client:
            installed = await asyncio.to_thread(shell.json, "app", "install", package)
            assert (installed["state"], installed["tools"]) == (
                "disabled",
                ["notes.add", "notes.count", "notes.list"],
            )
            assert "notes_count" not in await names_of(client)
            await asyncio.to_thread(shell.says, "app", "enable", APP)
            assert "notes_count" in await names_of(client)
            answer = await called(client, "notes_count", {"text": "one two\nthree"})
            assert answer["result"] == {"words": 3, "lines": 2}
            await asyncio.to_thread(shell.says, "app", "disable", APP)
            assert "notes_count" not in await names_of(client)
            refused = await called(client, "notes_count", {"text": "one"})
            assert refused["code"] == "revoked"

    with shell.serving():
        asyncio.run(journey())
        assert events_of(shell) == ["app.installed", "app.enabled", "app.disabled"]


def test_versions_go_forward_and_back_while_an_agent_works(shell: Shell, author: Author) -> None:
    first = author.pack("0.1.0")
    second = author.pack("0.2.0", ("words=len(given.text.split())", "words=100 + len(given.text.split())"))
    token = granted(shell)
    with shell.serving():
        shell.says("app", "install", first)
        shell.says("app", "enable", APP)
        assert asyncio.run(counted(shell.port, token))["result"]["words"] == 3
        assert shell.json("app", "upgrade", second)["version"] == "0.2.0"
        # The description is told once more before it counts: the package is another one.
        assert asyncio.run(counted(shell.port, token))["code"] == "stale_inventory"
        assert asyncio.run(counted(shell.port, token))["result"]["words"] == 103
        # What was installed is kept: no package is needed to go back.
        for package in (first, second):
            Path(package).unlink()
        assert shell.json("app", "rollback", APP)["version"] == "0.1.0"
        asyncio.run(counted(shell.port, token))
        assert asyncio.run(counted(shell.port, token))["result"]["words"] == 3
        assert [v["version"] for v in shell.json("app", "list")[0]["versions"]] == ["0.2.0", "0.1.0"]
    with shell.serving():
        assert asyncio.run(counted(shell.port, token))["result"]["words"] == 3
    assert events_of(shell) == ["app.installed", "app.enabled", "app.upgraded", "app.rolled_back"]


def test_what_does_not_start_never_takes_the_place_of_what_runs(shell: Shell, author: Author) -> None:
    good, token = author.pack("0.1.0"), granted(shell)
    broken = author.pack(
        "0.2.0", ("ENTRIES_MAX = 100", "import os\nENTRIES_MAX = 100 if os.environ.get('HOME') else 1 / 0")
    )
    with shell.serving():
        shell.says("app", "install", good)
        shell.says("app", "enable", APP)
        assert "does not start" in shell.fails("app", "upgrade", broken)
        assert asyncio.run(counted(shell.port, token))["result"]["words"] == 3
        listed = shell.json("app", "list")[0]
        assert (listed["version"], [v["version"] for v in listed["versions"]]) == ("0.1.0", ["0.1.0"])
        assert len(list((shell.data / "apps").iterdir())) == 1


def test_a_damaged_package_changes_nothing_and_is_audited(shell: Shell, author: Author) -> None:
    good, token = author.pack("0.1.0"), granted(shell)
    bad = Path(author.pack("0.2.0"))
    bad.write_bytes(bad.read_bytes().replace(b"words=len", b"words=1en"))
    with shell.serving():
        shell.says("app", "install", good)
        shell.says("app", "enable", APP)
        assert "it is not a zip file, or a broken one" in shell.fails("app", "upgrade", str(bad))
        assert asyncio.run(counted(shell.port, token))["result"]["words"] == 3
    refused = [record for record in shell.trail("admin") if record["event"] == "app.refused"]
    assert [record["facts"]["reason"] for record in refused] == ["broken"]


def test_files_that_were_changed_do_not_run_and_the_gateway_does(shell: Shell, author: Author) -> None:
    package, token = author.pack("0.1.0"), granted(shell, "notes.*")
    shell.says("app", "install", package)
    shell.says("app", "enable", APP)
    (file,) = (shell.data / "apps").glob("*/notes.py")
    file.chmod(0o600)
    file.write_text(file.read_text() + "\nprint('planted')\n")
    with shell.serving():
        listed = shell.json("app", "list")[0]
        assert (listed["state"], listed["worker"]) == ("enabled", "stopped")
        assert "notes.py" in listed["fault"]
        assert asyncio.run(counted(shell.port, token))["code"] == "not_available"
        findings = {f["check"]: f["verdict"] for f in shell.json_of_failing("doctor")}
        assert findings[f"app `{APP}`"] == "fail"
        # The same package again mends it.
        shell.says("app", "install", package)
        assert asyncio.run(counted(shell.port, token))["result"]["words"] == 3
    assert [r["facts"]["version"] for r in shell.trail("admin") if r["event"] == "app.found_broken"] == ["0.1.0"]


def test_everything_works_without_a_gateway_too(shell: Shell, author: Author) -> None:
    first, second = author.pack("0.1.0"), author.pack("0.2.0")
    assert "installed com.example.notes 0.1.0, disabled" in shell.says("app", "install", first)
    assert "installed" in shell.says("app", "install", first)
    assert "`ostiary app upgrade` replaces that" in shell.fails("app", "install", second)
    assert "upgraded to com.example.notes 0.2.0" in shell.says("app", "upgrade", second)
    assert "does not come after" in shell.fails("app", "upgrade", first)
    assert "enabled com.example.notes 0.2.0" in shell.says("app", "enable", APP)
    assert "`ostiary app disable` comes first" in shell.fails("app", "remove", APP)
    assert "back to com.example.notes 0.1.0, enabled" in shell.says("app", "rollback", APP, "--to", "0.1.0")
    assert "no version before `0.1.0` is kept" in shell.fails("app", "rollback", APP)
    assert "disabled" in shell.says("app", "disable", APP)
    assert shell.says("app", "remove", APP) == "removed com.example.notes\n"
    assert "no app is installed" in shell.says("app", "list")
    assert list((shell.data / "apps").iterdir()) == []
    assert "there is no app `com.example.notes`" in shell.fails("app", "enable", APP)
    assert events_of(shell) == [
        "app.installed",
        "app.upgraded",
        "app.enabled",
        "app.rolled_back",
        "app.disabled",
        "app.removed",
    ]


def test_two_apps_do_not_share_the_first_segment_of_ids(shell: Shell, author: Author, tmp_path: Path) -> None:
    shell.says("app", "install", author.pack("0.1.0"))
    shutil.rmtree(author.folder)
    other = Author(tmp_path).pack("0.1.0", (f'app="{APP}"', 'app="org.example.other"'))
    assert f"belong to the installed app `{APP}`" in shell.fails("app", "install", other)
    assert [record["facts"]["reason"] for record in shell.trail("admin") if record["event"] == "app.refused"] == [
        "claimed"
    ]
