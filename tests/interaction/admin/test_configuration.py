"""C39 and C41 at the admin API: one verdict for check, start, reload and here, with line, key and hint."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.adapters.configuration_file import load
from gateway.cli import app
from tests.interaction.admin.client import Program, program
from tests.interaction.page.rig import running

pytestmark = pytest.mark.anyio

CASES = Path(__file__).parents[2] / "cases"
C39 = (CASES / "C39" / "input.yaml").read_text().split("\n---\n")
C41 = (CASES / "C41" / "input.yaml").read_text()
GOOD = "version: 1\nagents:\n  alice: {}\n"
ANCHORS = "version: 1\na: &a [x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 12)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[Program]:
    """A program, and a gateway that reads `tmp_path / ostiary.yaml` again when it is told to."""
    async with running(file=tmp_path / "ostiary.yaml") as rig:
        yield await program(rig)


def here(admin: Program, text: str) -> str:
    """`text` as a file of this gateway, which must go on answering to its address."""
    return (
        f'{text}\nserver: {{listen: "127.0.0.1:{admin.rig.port}", public_url: "http://127.0.0.1:{admin.rig.port}"}}\n'
    )


async def check(admin: Program, text: str | bytes) -> Any:
    return await admin.ask("POST", "/configuration/check", content=text, headers={"Content-Type": "application/yaml"})


async def reload(admin: Program, tmp_path: Path, text: str) -> Any:
    (tmp_path / "ostiary.yaml").write_text(text)
    return await admin.ask("POST", "/configuration/reload")


@pytest.mark.parametrize(
    "text", [C41, *C39, GOOD, "", "version: 1\nversion: 1\n", ANCHORS, "{"], ids=lambda text: repr(text[:20])
)
async def test_check_reload_and_the_command_line_agree(admin: Program, tmp_path: Path, text: str) -> None:
    text = here(admin, text)
    checked, reloaded = await check(admin, text), await reload(admin, tmp_path, text)
    printed = CliRunner().invoke(app, ["check", str(tmp_path / "ostiary.yaml")])
    assert checked.status_code == reloaded.status_code == (422 if printed.exit_code else 200)
    if not printed.exit_code:
        assert checked.json() == reloaded.json()
        return
    error = checked.json()["error"]
    assert error["code"] == "configuration_refused"
    assert error["problems"] == reloaded.json()["error"]["problems"]
    lines = [
        f"{tmp_path / 'ostiary.yaml'}:{p['line']}:{p['column']}: {p['message']}"
        + (f"; {p['hint']}" if p["hint"] else "")
        for p in error["problems"]
    ]
    assert lines == printed.stderr.splitlines()


async def test_c41_is_refused_with_the_line_and_the_key(admin: Program, tmp_path: Path) -> None:
    before = await admin.get("/configuration")
    answer = await reload(admin, tmp_path, C41)
    assert answer.status_code == 422
    assert [(p["line"], p["key"]) for p in answer.json()["error"]["problems"]] == [
        (2, "enforcment"),
        (6, "agents.bob.limits"),
        (8, "bob"),
        (12, "agents.0123"),
        (22, "sites.notes.in_page_agent.expose"),
    ]
    assert await admin.get("/configuration") == before, "the old configuration stays in force"
    (record,) = await admin.news()
    assert (record.event, record.facts["kept"]) == ("configuration.refused", before["configuration"])
    assert record.facts["places"][0].endswith("ostiary.yaml:2:1")


async def test_a_good_file_is_taken_over_by_whoever_asked(admin: Program, tmp_path: Path) -> None:
    text = here(admin, GOOD)
    answer = await reload(admin, tmp_path, text)
    assert answer.status_code == 200
    assert answer.json()["configuration"] == load(text, "ostiary.yaml").revision
    assert (await admin.get("/agents"))["items"] == [{"agent": "alice", "label": "alice"}]
    (record,) = await admin.news()
    assert (record.event, record.facts["configuration"]) == ("configuration.loaded", answer.json()["configuration"])


async def test_a_reload_can_insist_on_what_it_replaces(admin: Program, tmp_path: Path) -> None:
    tag = (await admin.ask("GET", "/configuration")).headers["etag"]
    assert (await reload(admin, tmp_path, here(admin, GOOD))).status_code == 200
    late = await admin.ask("POST", "/configuration/reload", headers={"If-Match": tag})
    assert (late.status_code, late.json()["error"]["code"]) == (412, "precondition_failed")


async def test_a_check_changes_nothing_and_a_refused_one_is_noted(admin: Program) -> None:
    before = await admin.get("/configuration")
    assert (await check(admin, GOOD)).status_code == 200
    assert await admin.news() == []
    assert (await check(admin, "version: 2\n")).status_code == 422
    (record,) = await admin.news()
    assert (record.event, record.facts["code"]) == ("admin.refused", "configuration_refused")
    assert await admin.get("/configuration") == before


async def test_a_text_that_is_none_or_too_long_is_refused(admin: Program) -> None:
    assert (await check(admin, b"\xff")).json()["error"]["code"] == "bad_request"
    assert (await check(admin, b"#" * 1_048_577)).status_code == 413


async def test_a_gateway_without_a_file_has_nothing_to_reload() -> None:
    async with running() as rig:
        answer = await (await program(rig)).ask("POST", "/configuration/reload")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "state_conflict")


async def test_c39_a_name_nobody_declares_is_pointed_out(admin: Program, tmp_path: Path) -> None:
    assert (await reload(admin, tmp_path, here(admin, C39[8]))).status_code == 200
    (site,) = (await admin.get("/sites"))["items"]
    assert site["undeclared"] == [entry["id"] for entry in site["expose"]] == ["notes.reed"]
