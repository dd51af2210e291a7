"""From a folder to a package: what travels, and what an author's code may do to the build (nothing)."""

import os
import select
from pathlib import Path
from typing import Final

import pytest

from capabilities.building import BuildRefused, build
from capabilities.package import write_package
from capabilities.project import ProjectRefused, read_project
from tests.support.mini_apps import NOTES, SURFACE_FILES

PROJECT: Final = 'python = "notes"\n'

SURFACE: Final = """
from dataclasses import replace
from capabilities.contract import Surface
TOOLS = replace(TOOLS, surfaces=(Surface(id="clock", title="Clock", html="surface/index.html", css="surface/look.css"),))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path, "ostiary-app.toml", PROJECT)
    put(tmp_path, "notes.py", NOTES.decode())
    return tmp_path


def put(folder: Path, path: str, text: str | bytes) -> None:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())


def paths(folder: Path) -> list[str]:
    return list(build(read_project(folder)).files)


def refusal(folder: Path) -> str:
    with pytest.raises((ProjectRefused, BuildRefused)) as refused:
        build(read_project(folder))
    return str(refused.value)


def test_the_module_alone_travels(folder: Path) -> None:
    put(folder, "test_notes.py", "")
    put(folder, "README.md", "")
    assert paths(folder) == ["notes.py"]


def test_what_surfaces_name_and_what_is_included_travels_too(folder: Path) -> None:
    put(folder, "notes.py", NOTES.decode() + SURFACE)
    for path, data in SURFACE_FILES.items():
        put(folder, path, data)
    put(folder, "words/en.json", "{}")
    put(folder, "ostiary-app.toml", PROJECT + 'include = ["words"]\n')
    assert paths(folder) == ["notes.py", "surface/index.html", "surface/look.css", "words/en.json"]


def test_a_package_travels_whole_without_what_the_machine_put_in_it(folder: Path) -> None:
    (folder / "notes.py").rename(folder / "__init__.py")
    put(folder, "notes/tools.py", NOTES.decode())
    put(folder, "notes/words/en.json", "{}")
    put(folder, "notes/__init__.py", "")
    put(folder, "notes/__pycache__/tools.cpython-311.pyc", b"\0")
    put(folder, "notes/.cache/x", "")
    put(folder, "ostiary-app.toml", 'python = "notes.tools"\n')
    package = build(read_project(folder))
    assert list(package.files) == ["notes/__init__.py", "notes/tools.py", "notes/words/en.json"]
    assert package.manifest.python is not None
    assert package.manifest.python.module == "notes.tools"


def test_nothing_compiled_is_left_in_the_folder(folder: Path) -> None:
    paths(folder)
    assert sorted(os.listdir(folder)) == ["notes.py", "ostiary-app.toml"]


def test_the_same_sources_are_the_same_bytes_wherever_and_whenever(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("elsewhere")
    for name in ("notes.py", "ostiary-app.toml"):
        put(other, name, (folder / name).read_bytes())
        os.utime(other / name, (1, 1))
        (other / name).chmod(0o700)
    assert write_package(build(read_project(other))) == write_package(build(read_project(folder)))


# ---- what the author's code does --------------------------------------------------------------------------------


def with_first_line(folder: Path, line: str) -> None:
    put(folder, "notes.py", f"{line}\n" + NOTES.decode())


@pytest.mark.parametrize(
    "line",
    [
        "print('hello', flush=True)",
        "import os; os.write(1, b'{}')",
        "import sys; sys.stdout.write('{\"declaration\": {}}'); sys.stdout.flush()",
        "import subprocess; subprocess.run(['echo', 'hello'])",
        "import sys; sys.argv[:] = []",
    ],
)
def test_what_it_prints_is_no_part_of_the_answer(line: str, folder: Path) -> None:
    with_first_line(folder, line)
    assert paths(folder) == ["notes.py"]


def test_it_does_not_run_in_the_process_that_builds(folder: Path) -> None:
    with_first_line(folder, f"import os; assert os.getpid() != {os.getpid()}; os.environ['OSTIARY_SEEN'] = '1'")
    assert paths(folder) == ["notes.py"]
    assert "OSTIARY_SEEN" not in os.environ


def test_it_does_not_see_the_environment_of_the_builder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    with_first_line(folder, "import os; assert not {'DEPLOY_TOKEN', 'PYTHONPATH'} & set(os.environ), 'seen'")
    assert paths(folder) == ["notes.py"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import os; os._exit(0)", "ended its process while it was imported (exit 0)"),
        ("import os; os.kill(os.getpid(), 9)", "(exit -9)"),
        ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
        ("raise RuntimeError('no')", "cannot be imported: RuntimeError: no"),
        ("import nothing_of_that_name", "cannot be imported: ModuleNotFoundError"),
        ("this is no Python", "cannot be imported: SyntaxError"),
    ],
)
def test_what_it_breaks_is_said(line: str, said: str, folder: Path) -> None:
    with_first_line(folder, line)
    assert said in refusal(folder)


def test_a_failure_shows_where_it_was(folder: Path) -> None:
    with_first_line(folder, "1 / 0")
    with pytest.raises(BuildRefused) as refused:
        build(read_project(folder))
    assert "notes.py" in refused.value.trace


def test_it_has_a_time_and_what_it_started_ends_with_it(folder: Path) -> None:
    with_first_line(
        folder,
        "import os, subprocess, time; child = subprocess.Popen(['sleep', '600']);"
        " open('started', 'w').write(str(child.pid)); time.sleep(600)",
    )
    with pytest.raises(BuildRefused, match=r"`notes` took more than 3 s to import"):
        build(read_project(folder), seconds=3)
    assert has_ended(int((folder / "started").read_text()))


def has_ended(process: int) -> bool:
    """Whether a process that was killed is gone, as soon as the system says so."""
    try:
        ended = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([ended], [], [], 10)[0])
    finally:
        os.close(ended)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "`notes` has no `TOOLS = agent_tools(…)`"),
        ("TOOLS = {'tools': []}", "`notes` has no `TOOLS = agent_tools(…)`"),
        (NOTES.decode() + "TOOLS = TOOLS.tools[0]", "`notes` has no `TOOLS = agent_tools(…)`"),
    ],
)
def test_a_module_declares_its_tools(source: str, said: str, folder: Path) -> None:
    put(folder, "notes.py", source)
    assert said in refusal(folder)


@pytest.mark.parametrize("module", ["json", "capabilities", "pydantic"])
def test_a_module_named_like_another_is_refused(module: str, folder: Path) -> None:
    put(folder, f"{module}.py", NOTES.decode())
    put(folder, "ostiary-app.toml", f'python = "{module}"\n')
    assert "choose one that is the app's own" in refusal(folder)


# ---- the project file and the files -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "`python` names the module"),
        ("python = 1", "`python` names the module"),
        ('python = "../notes"', "`python` names the module"),
        ('python = "notes"\nmodule = "x"', "`module` is none of its keys"),
        ('python = "notes"\ninclude = "words"', "`include` is a list"),
        ('python = "notes"\ninclude = [1]', "`include` is a list"),
        ("python = ", "cannot be read"),
        (b"\xff", "cannot be read"),
        ('python = "other"', "there is no module `other` in the app's folder"),
        ('python = "notes"\ninclude = ["../other"]', "`../other` is no path"),
        ('python = "notes"\ninclude = ["/etc"]', "`/etc` is no path"),
        ('python = "notes"\ninclude = ["."]', "`.` is no path"),
        ('python = "notes"\ninclude = ["manifest.json"]', "`manifest.json` is no path"),
        ('python = "notes"\ninclude = ["missing"]', "`missing` cannot be read"),
    ],
)
def test_a_project_file_is_judged(text: str | bytes, said: str, folder: Path) -> None:
    put(folder, "ostiary-app.toml", text)
    assert said in refusal(folder)


def test_a_folder_without_one_is_no_project(tmp_path: Path) -> None:
    assert "`ostiary app new NAME` makes a project" in refusal(tmp_path)


@pytest.mark.parametrize("target", ["/etc/hostname", "notes.py"])
def test_links_do_not_travel(target: str, folder: Path) -> None:
    put(folder, "ostiary-app.toml", PROJECT + 'include = ["words"]\n')
    (folder / "words").mkdir()
    (folder / "words" / "link").symlink_to(target)
    assert "`words/link` is a link" in refusal(folder)


def test_what_lies_behind_a_link_does_not_travel(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    put(folder, "notes.py", NOTES.decode() + SURFACE)
    for path, data in SURFACE_FILES.items():
        put(tmp_path_factory.getbasetemp(), path, data)
    (folder / "surface").symlink_to(tmp_path_factory.getbasetemp() / "surface")
    assert "`surface/index.html` is a link, or lies behind one" in refusal(folder)


def test_a_file_that_is_too_large_is_not_even_read_whole(folder: Path) -> None:
    with (folder / "large").open("wb") as file:
        file.truncate(2**40)
    put(folder, "ostiary-app.toml", PROJECT + 'include = ["large"]\n')
    assert "`large` is larger than 8388608 bytes" in refusal(folder)


def test_a_name_no_package_may_hold_is_told(folder: Path) -> None:
    put(folder, "words/a b.txt", "")
    put(folder, "ostiary-app.toml", PROJECT + 'include = ["words"]\n')
    assert "`words/a b.txt` is no path a package may hold" in refusal(folder)


def test_a_folder_with_too_much_in_it_is_told(folder: Path) -> None:
    for number in range(513):
        put(folder, f"words/{number}.txt", "")
    put(folder, "ostiary-app.toml", PROJECT + 'include = ["words"]\n')
    assert "more than 512 files" in refusal(folder)


def test_a_missing_file_of_a_surface_is_told(folder: Path) -> None:
    put(folder, "notes.py", NOTES.decode() + SURFACE)
    assert "`surface/index.html` cannot be read" in refusal(folder)
