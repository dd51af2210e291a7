"""Files of installed packages: whole or not there, and looked at again."""

import os
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.adapters.app_files import FolderAppFiles
from gateway.domain.mini_apps import FileSeal
from gateway.runtime.ports import AppFiles, FilesRefused
from gateway.testing.app_files import MemoryAppFiles

FILES: Final = {"manifest.json": b"{}", "notes/__init__.py": b"", "notes/tools.py": b"TOOLS = 1\n"}
SEALS: Final = {path: FileSeal.of(content) for path, content in FILES.items()}
DIGEST: Final = "a" * 64


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> AppFiles:
    return MemoryAppFiles() if request.param == "memory" else FolderAppFiles(tmp_path)


@pytest.fixture
def on_disk(tmp_path: Path) -> FolderAppFiles:
    kept = FolderAppFiles(tmp_path)
    kept.put(DIGEST, FILES)
    return kept


def test_what_was_put_is_whole_and_can_be_read(files: AppFiles) -> None:
    files.put(DIGEST, FILES)
    assert files.flaw(DIGEST, SEALS) is None
    assert files.read(DIGEST, "notes/tools.py") == b"TOOLS = 1\n"
    with pytest.raises(FilesRefused, match=r"cannot read `notes/other.py`"):
        files.read(DIGEST, "notes/other.py")


def test_what_is_missing_added_or_changed_is_named(files: AppFiles) -> None:
    files.put(DIGEST, FILES)
    assert files.flaw(DIGEST, {**SEALS, "z.py": FileSeal.of(b"")}) == "`z.py` is missing"
    less = {path: seal for path, seal in SEALS.items() if path != "notes/tools.py"}
    assert files.flaw(DIGEST, less) == "`notes/tools.py` does not belong to the package"
    assert files.flaw(DIGEST, {**SEALS, "manifest.json": FileSeal.of(b"[]")}) == "`manifest.json` was changed"
    assert "cannot be read" in str(files.flaw("b" * 64, SEALS))


def test_to_put_it_again_mends_it(files: AppFiles) -> None:
    files.put(DIGEST, {**FILES, "notes/tools.py": b"TOOLS = 2\n"})
    files.put(DIGEST, FILES)
    assert files.flaw(DIGEST, SEALS) is None


def test_what_is_removed_is_gone(files: AppFiles) -> None:
    files.put(DIGEST, FILES)
    files.remove(DIGEST)
    files.remove(DIGEST)
    assert "cannot be read" in str(files.flaw(DIGEST, SEALS))


def test_everything_but_what_is_needed_is_swept(files: AppFiles) -> None:
    assert files.keep_only([DIGEST]) == 0
    files.put(DIGEST, FILES)
    files.put("b" * 64, FILES)
    assert files.keep_only([DIGEST, "c" * 64]) == 1
    assert files.flaw(DIGEST, SEALS) is None
    assert "cannot be read" in str(files.flaw("b" * 64, SEALS))


# -- on a disk ---------------------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_written_leaves_the_name_to_whole_packages(tmp_path: Path) -> None:
    kept = FolderAppFiles(tmp_path)
    with pytest.raises(FilesRefused, match="cannot write"):
        kept.put(DIGEST, {**FILES, "n" * 300: b""})
    assert os.listdir(tmp_path / "apps") == []


def test_what_a_kill_leaves_half_written_is_swept(on_disk: FolderAppFiles, tmp_path: Path) -> None:
    for name in (".incoming-1", ".leaving-2"):
        (tmp_path / "apps" / name / "notes").mkdir(parents=True)
    assert on_disk.keep_only([DIGEST]) == 2
    assert [entry.name for entry in (tmp_path / "apps").iterdir()] == [DIGEST]


def test_a_link_in_place_of_a_file_is_a_flaw(on_disk: FolderAppFiles, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_bytes(FILES["notes/tools.py"])
    file = on_disk.folder(DIGEST) / "notes" / "tools.py"
    file.unlink()
    file.symlink_to(elsewhere)
    assert on_disk.flaw(DIGEST, SEALS) == "`notes/tools.py` was changed"
    with pytest.raises(FilesRefused):
        on_disk.read(DIGEST, "notes/tools.py")


@pytest.mark.parametrize("added", ["notes/extra.pyc", "empty/"])
def test_what_was_laid_beside_the_files_is_a_flaw(on_disk: FolderAppFiles, added: str) -> None:
    place = on_disk.folder(DIGEST) / added
    if added.endswith("/"):
        place.mkdir()
    else:
        place.write_bytes(b"")
    assert on_disk.flaw(DIGEST, SEALS) == f"`{added}` does not belong to the package"


def test_only_the_gateway_reads_the_files_and_nobody_writes_them(on_disk: FolderAppFiles) -> None:
    modes = {
        str(path.relative_to(on_disk.folder(DIGEST))): path.stat().st_mode & 0o777
        for path in on_disk.folder(DIGEST).rglob("*")
    }
    assert modes == {**dict.fromkeys(FILES, 0o400), "notes": 0o700}


def test_a_disk_that_takes_nothing_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "apps").write_text("in the way")
    with pytest.raises(FilesRefused, match="cannot write"):
        FolderAppFiles(tmp_path).put(DIGEST, FILES)
    assert os.listdir(tmp_path) == ["apps"]


def test_a_package_that_is_there_is_not_written_again(on_disk: FolderAppFiles) -> None:
    before: Any = on_disk.folder(DIGEST).stat()
    on_disk.put(DIGEST, FILES)
    assert on_disk.folder(DIGEST).stat().st_ino == before.st_ino
