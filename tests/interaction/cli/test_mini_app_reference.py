"""`docs/reference/mini-apps.md` shows an app that builds, and names every part there is."""

import re
import runpy
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import BaseModel

from capabilities.building import build
from capabilities.check import RESERVED_SEGMENTS
from capabilities.contract import AppContext, CallContext, ContextError
from capabilities.manifest_shape import Manifest, SurfaceEntry, ToolEntry
from capabilities.project import Project
from capabilities.testing import FakeContext

PAGE: Final = (Path(__file__).parents[3] / "docs" / "reference" / "mini-apps.md").read_text()
DECLARATION, TRIAL = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def section(title: str) -> str:
    return PAGE.partition(f"# {title}\n")[2].partition("\n#")[0]


def first_cells(text: str) -> set[str]:
    """The names in the first column of the tables of a section."""
    return {
        name
        for line in text.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }


def fields(*models: type[BaseModel]) -> set[str]:
    return {name for model in models for name in model.model_fields}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "tracker.py").write_text(DECLARATION)
    (tmp_path / "surface").mkdir()
    for name in ("clock.html", "clock.js"):
        (tmp_path / "surface" / name).write_text("")
    return Project(folder=tmp_path, module="tracker")


def test_the_app_it_shows_builds(project: Project) -> None:
    package = build(project)
    assert [tool.method for tool in package.manifest.tools] == ["tracker.open", "tracker.work", "tracker.stop"]


def test_the_trial_it_shows_passes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(project.folder), *sys.path])
    (project.folder / "trial.py").write_text(TRIAL)
    ran: dict[str, Any] = runpy.run_path(str(project.folder / "trial.py"))
    sys.modules.pop("tracker")
    assert isinstance(ran["context"], FakeContext)


def test_every_field_of_a_tool_is_explained_and_no_other() -> None:
    assert first_cells(section("A tool").partition("| call model")[0]) == fields(ToolEntry)


def test_every_field_of_a_manifest_is_explained_and_no_other() -> None:
    assert first_cells(section("The manifest")) == fields(Manifest)


def test_every_field_of_a_surface_is_named() -> None:
    row = next(line for line in section("The manifest").splitlines() if line.startswith("| `surfaces`"))
    assert set(re.findall(r"`(\w+)`", row.split("|")[2])) == fields(SurfaceEntry)


def test_everything_a_context_has_is_explained_and_nothing_else() -> None:
    members = {name for protocol in (AppContext, CallContext) for name in vars(protocol) if not name.startswith("_")}
    told = section("What a handler may touch")
    assert first_cells(told.partition("| a handler raises")[0]) == members


def test_everything_a_context_raises_is_named() -> None:
    raised = {error.__name__ for error in ContextError.__subclasses__()}
    assert raised <= set(re.findall(r"`(\w+)`", section("What a handler may touch")))


def test_every_reserved_segment_is_named() -> None:
    row = next(line for line in section("A tool").splitlines() if line.startswith("| `method`"))
    assert set(re.findall(r"`(\w+)`", row)) >= RESERVED_SEGMENTS
