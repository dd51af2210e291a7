"""From an empty folder to a signed package, by the commands an author types."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import CliRunner

from capabilities.manifest import make_manifest
from capabilities.package import package_of, read_package, write_package
from capabilities.signatures import Standing, TrustedKey, read_public_key, verdict_on
from gateway.cli import app

PACKED: Final = "com.example.notes-0.1.0.ostiary-app"


def run(*arguments: str | Path, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, ["app", *map(str, arguments)])
    assert done.exit_code == code, done.output
    assert code == 0 or "capabilities/" not in done.stderr
    return done.stdout, done.stderr


def says(*arguments: str | Path) -> str:
    return run(*arguments)[0]


def fails(*arguments: str | Path) -> str:
    return run(*arguments, code=1)[1]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    says("new", "notes")
    return tmp_path / "notes"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    made = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", made], check=True, capture_output=True)
    return made


def edit(project: Path, old: str, new: str) -> None:
    source = (project / "notes.py").read_text()
    assert old in source
    (project / "notes.py").write_text(source.replace(old, new))


def test_a_new_project_works_at_once(project: Path) -> None:
    assert says("check", project) == f"{project}: good, `com.example.notes` 0.1.0, 3 tools\n"
    assert says("build", project).startswith(f"wrote `{project / 'manifest.json'}`")
    said = says("pack", project)
    package = read_package((project / PACKED).read_bytes())
    assert said.endswith(f"digest {package.digest}\n")
    assert list(package.files) == ["notes.py"]
    assert json.loads((project / "manifest.json").read_bytes()) == json.loads(package.manifest.text)


def test_the_tests_of_a_new_project_pass_and_its_code_is_clean(project: Path) -> None:
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": ""},
    )  # fmt: skip
    assert "3 passed" in tested.stdout, tested.stdout
    linted = subprocess.run(
        [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--line-length", "120", project],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert linted.returncode == 0, linted.stdout


def test_the_words_of_a_project_may_be_chosen(tmp_path: Path) -> None:
    says("new", "team_notes", "--id", "org.acme.team", "--into", tmp_path / "deep" / "er")
    assert "`org.acme.team` 0.1.0, 3 tools" in says("check", tmp_path / "deep" / "er")
    assert (tmp_path / "deep" / "er" / "team_notes.py").is_file()


def test_a_new_project_with_a_frame_works_at_once(tmp_path: Path) -> None:
    project = tmp_path / "notes"
    said = says("new", "notes", "--frame", "--into", project)
    assert said == f"wrote `{project}`; edit `{project}/surface/notes.js`, then `ostiary app check {project}`\n"
    assert says("check", project) == f"{project}: good, `com.example.notes` 0.1.0, 2 tools\n"
    says("build", project)
    says("pack", project)
    package = read_package((project / PACKED).read_bytes())
    assert {tool.handler.kind for tool in package.manifest.tools} == {"miniapp_sdk"}
    assert list(package.files) == ["surface/notes.css", "surface/notes.html", "surface/notes.js"]


def test_an_id_is_made_of_the_name(tmp_path: Path) -> None:
    says("new", "team_notes_", "--into", tmp_path / "x")
    assert "`com.example.team-notes` 0.1.0" in says("check", tmp_path / "x")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Notes", "is no name for a module"),
        ("1notes", "is no name for a module"),
        ("team-notes", "is no name for a module"),
        ("team.notes", "is no name for a module"),
        ("../notes", "is no name for a module"),
        ("", "is no name for a module"),
        ("ui", "ids that begin with `ui.` are the gateway's"),
        ("json", "is the name of a module that Python or the gateway has"),
        ("gateway_", ""),
        ("capabilities", "is the name of a module that Python or the gateway has"),
    ],
)
def test_a_name_is_judged_before_anything_is_written(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if said:
        assert said in fails("new", name)
        assert list(tmp_path.iterdir()) == []
    else:
        says("new", name)


def test_a_folder_that_is_there_is_not_touched(project: Path) -> None:
    before = (project / "notes.py").read_bytes()
    assert "is already there; it was not touched" in fails("new", "notes")
    assert (project / "notes.py").read_bytes() == before


def test_check_tells_all_faults_at_once(project: Path) -> None:
    edit(project, '"notes.count"', '"app.count"')
    edit(project, "call_model=CallModel.QUERY,\n            readiness", "timeout_ms=1,\n            readiness")
    said = fails("check", project)
    assert f"{project}: /tools/2/timeout_ms: " in said
    edit(project, "timeout_ms=1,", "timeout_ms=1_000, permissions=['ftp:x'],")
    lines = fails("check", project).splitlines()
    assert [line.removeprefix(f"{project}: ").partition(":")[0] for line in lines] == [
        "/tools/0/method",
        "/tools/2/permissions/0",
    ]


def test_check_tells_faults_to_programs(project: Path) -> None:
    assert json.loads(says("check", project, "--json")) == []
    edit(project, '"notes.count"', '"app.count"')
    (fault,) = json.loads(run("check", project, "--json", code=1)[0])
    assert fault["pointer"] == "/tools/0/method"
    assert "`app.`" in fault["reason"]


def with_surface(project: Path, html: str) -> None:
    edit(project, "    agent_tools,\n", "    agent_tools,\n    Surface,\n")
    edit(project, "TOOLS = agent_tools(", "TOOLS = agent_tools(surfaces=[Surface(id='a', title='A', html='a.html')],")
    (project / "a.html").write_text(html)


@pytest.mark.parametrize("command", ["check", "build", "pack"])
def test_a_surface_no_frame_would_show_is_told(command: str, project: Path) -> None:
    with_surface(project, "<script src='https://elsewhere.example.com/x.js'></script>")
    said = fails(command, project)
    assert f"{project}: /surfaces/0/html: `<script>` is not for surfaces; put it in js\n" in said


def test_a_package_with_such_a_surface_is_told_too(project: Path, tmp_path: Path) -> None:
    with_surface(project, "<p>fine</p>")
    says("pack", project)
    good = read_package((project / PACKED).read_bytes())
    html = b"<a href='javascript:x()'>a</a>"
    value: Any = json.loads(good.manifest.text)
    value["files"][0] |= {"bytes": len(html), "sha256": hashlib.sha256(html).hexdigest()}
    files = {**good.files, "a.html": html}
    package = package_of({"manifest.json": make_manifest(value).text, **files})
    (tmp_path / "bad.ostiary-app").write_bytes(write_package(package))
    assert "/surfaces/0/html: an address may not be script" in fails("check", tmp_path / "bad.ostiary-app")


@pytest.mark.parametrize("command", ["check", "build", "pack"])
def test_code_that_fails_is_shown_where_it_fails_and_writes_nothing(command: str, project: Path) -> None:
    edit(project, "TOOLS = agent_tools(", "1 / 0\nTOOLS = agent_tools(")
    before = sorted(project.iterdir())
    said = fails(command, project)
    assert "ZeroDivisionError" in said
    assert "notes.py" in said
    assert sorted(project.iterdir()) == before


def test_a_word_nobody_knows_is_told_with_those_there_are(project: Path) -> None:
    edit(project, "call_model=CallModel.QUERY", 'call_model="query"')
    says("build", project)
    edit(project, 'call_model="query"', 'call_model="question"')
    said = " ".join(fails("build", project).split())
    assert "call_model: `question` is none of `query`, `command`, `interactive`, `operation`" in said


def test_a_fault_cannot_move_the_cursor_of_a_terminal(project: Path) -> None:
    edit(project, '"notes.count"', r'"notes.\x1b[2J"')
    assert "\x1b" not in fails("check", project)


def test_a_manifest_older_than_the_code_is_told(project: Path) -> None:
    says("build", project)
    says("check", project)
    edit(project, 'title="Count words"', 'title="Count"')
    assert f"`ostiary app build {project}` writes it anew" in fails("check", project)
    says("build", project)
    says("check", project)


def test_packing_twice_writes_the_same_bytes(project: Path, tmp_path: Path) -> None:
    says("pack", project)
    says("pack", project, "--out", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (project / PACKED).read_bytes()


def test_a_signed_package_is_its_signers(project: Path, key: Path) -> None:
    said = run("pack", project, "--sign", key)[1]
    public = said.rpartition("`")[0].rpartition("`")[2]
    package = read_package((project / PACKED).read_bytes())
    trusted = [TrustedKey(name="team", public=read_public_key(public))]
    assert verdict_on(package.digest, package.signature, trusted).standing is Standing.TRUSTED
    assert "3 tools, signed" in says("check", project / PACKED)
    assert "PRIVATE" not in said


@pytest.mark.parametrize(("content", "said"), [(None, "cannot read"), (b"no key", "no private key in PEM")])
def test_a_package_is_not_written_unsigned_where_it_should_be_signed(
    content: bytes | None, said: str, project: Path, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    if content is not None:
        key.write_bytes(content)
    assert said in fails("pack", project, "--sign", key)
    assert not (project / PACKED).exists()


def test_a_package_is_checked_like_a_project(project: Path) -> None:
    says("pack", project)
    assert says("check", project / PACKED) == f"{project / PACKED}: good, `com.example.notes` 0.1.0, 3 tools\n"
    data = (project / PACKED).read_bytes()
    (project / PACKED).write_bytes(data.replace(b"Counts", b"Courts", 1))
    assert "no package: it is not a zip file, or a broken one" in fails("check", project / PACKED)


@pytest.mark.parametrize("place", ["nowhere", "nowhere/x.ostiary-app"])
def test_a_place_that_is_not_there_is_told(place: str, tmp_path: Path) -> None:
    assert f"`{tmp_path / place}` has no `ostiary-app.toml`" in fails("check", tmp_path / place)


def test_a_place_that_cannot_be_written_is_told(project: Path, tmp_path: Path) -> None:
    assert "cannot write" in fails("pack", project, "--out", tmp_path / "none" / "x")
    (project / "manifest.json").mkdir()
    assert "cannot write" in fails("build", project)


def test_the_commands_run_as_a_program_too(project: Path) -> None:
    command: list[Any] = [sys.executable, "-m", "gateway.cli", "app", "check", project]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
