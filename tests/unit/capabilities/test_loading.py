"""An app's module comes from its own folder, or from nowhere."""

import sys
from pathlib import Path

import pytest

from capabilities.loading import AppNotLoaded, load_app
from tests.support.mini_apps import NOTES


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """What loading changes about this process is undone."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", sys.dont_write_bytecode)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def put(folder: Path, path: str, text: bytes) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(text)


@pytest.mark.parametrize(("path", "module"), [("oneself.py", "oneself"), ("mine/inner/tools.py", "mine.inner.tools")])
def test_a_module_of_the_folder_is_loaded(path: str, module: str, tmp_path: Path) -> None:
    put(tmp_path, path, NOTES)
    assert load_app(tmp_path, module).app == "com.example.notes"


@pytest.mark.parametrize(
    "module", ["json", "json.decoder", "this", "capabilities", "policy.engine", "pydantic", "sys"]
)
def test_the_name_of_another_module_is_not_loaded(module: str, tmp_path: Path) -> None:
    put(tmp_path, f"{module.replace('.', '/')}.py", NOTES)
    with pytest.raises(AppNotLoaded, match="is the name of another module"):
        load_app(tmp_path, module)


def test_another_folder_is_not_searched(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    put(tmp_path, "other.py", NOTES)
    sys.path.append(str(tmp_path))
    with pytest.raises(AppNotLoaded, match="is the name of another module"):
        load_app(tmp_path / "app", "other")


def test_a_mere_folder_of_that_name_elsewhere_is_no_other_module(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "oneself").mkdir(parents=True)
    put(tmp_path, "app/oneself.py", NOTES)
    sys.path.insert(0, str(tmp_path / "elsewhere"))
    assert load_app(tmp_path / "app", "oneself").app == "com.example.notes"


@pytest.mark.parametrize("module", ["missing", "missing.tools"])
def test_a_module_that_is_not_there_is_told(module: str, tmp_path: Path) -> None:
    with pytest.raises(AppNotLoaded, match="there is no module `missing` in the app's folder"):
        load_app(tmp_path, module)


def test_what_the_module_raised_is_kept(tmp_path: Path) -> None:
    put(tmp_path, "broken.py", b"raise SystemExit(7)")
    with pytest.raises(AppNotLoaded, match="SystemExit: 7") as refused:
        load_app(tmp_path, "broken")
    assert isinstance(refused.value.__cause__, SystemExit)
