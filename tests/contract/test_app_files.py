"""Files of installed packages: whole or not there."""

import os
from pathlib import Path
from typing import Final

import pytest

from gateway.adapters.app_files import FolderAppFiles
from gateway.runtime.ports import AppFiles, FilesRefused
from gateway.testing.app_files import MemoryAppFiles

FILES: Final = {"manifest.json": b"{}", "notes/__init__.py": b"", "notes/tools.py": b"TOOLS = 1\n"}
DIGEST: Final = "a" * 64
OTHER: Final = "b" * 64


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> AppFiles:
    return MemoryAppFiles() if request.param == "memory" else FolderAppFiles(tmp_path)


@pytest.fixture
def on_disk(tmp_path: Path) -> FolderAppFiles:
    kept = FolderAppFiles(tmp_path)
    kept.put(DIGEST, FILES)
    return kept


def test_what_was_put_is_loaded_whole(files: AppFiles) -> None:
    files.put(DIGEST, FILES)
    assert files.load(DIGEST) == FILES
    with pytest.raises(FilesRefused, match="cannot read"):
        files.load(OTHER)


def test_a_folder_is_found_from_wherever_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = FolderAppFiles(Path("data"))
    (tmp_path / "data").mkdir()
    monkeypatch.chdir("/")
    assert kept.folder(DIGEST) == tmp_path / "data" / "apps" / DIGEST


def test_to_put_it_again_mends_it(files: AppFiles) -> None:
    files.put(DIGEST, {**FILES, "notes/tools.py": b"TOOLS = 2\n", "notes/extra.py": b""})
    files.put(DIGEST, FILES)
    assert files.load(DIGEST) == FILES


def test_what_is_removed_is_gone(files: AppFiles) -> None:
    files.put(DIGEST, FILES)
    files.remove(DIGEST)
    files.remove(DIGEST)
    with pytest.raises(FilesRefused):
        files.load(DIGEST)


def test_everything_but_what_is_needed_is_swept(files: AppFiles) -> None:
    assert files.keep_only([DIGEST]) == 0
    assert files.digests() == frozenset()
    files.put(DIGEST, FILES)
    files.put(OTHER, FILES)
    assert files.digests() == {DIGEST, OTHER}
    assert files.keep_only([DIGEST, "c" * 64]) == 1
    assert files.load(DIGEST) == FILES
    with pytest.raises(FilesRefused):
        files.load(OTHER)


# -- on a disk ---------------------------------------------------------------------------------------------------


def test_a_named_file_is_fetched_and_never_much_more_than_its_limit(tmp_path: Path) -> None:
    source = tmp_path / "some.file"
    source.write_bytes(b"12345")
    kept = FolderAppFiles(tmp_path)
    assert kept.fetch(source, limit=5) == b"12345"
    assert kept.fetch(source, limit=3) == b"1234"
    with pytest.raises(FilesRefused, match="No such file"):
        kept.fetch(tmp_path / "none", limit=5)
    with pytest.raises(FilesRefused, match="directory"):
        kept.fetch(tmp_path, limit=5)


def test_a_file_that_cannot_be_written_leaves_the_name_to_whole_packages(tmp_path: Path) -> None:
    kept = FolderAppFiles(tmp_path)
    with pytest.raises(FilesRefused, match="cannot write"):
        kept.put(DIGEST, {**FILES, "n" * 300: b""})
    assert os.listdir(tmp_path / "apps") == []


def test_what_a_kill_leaves_half_written_is_swept(on_disk: FolderAppFiles, tmp_path: Path) -> None:
    for name in (".incoming-1", ".leaving-2"):
        (tmp_path / "apps" / name / "notes").mkdir(parents=True)
    assert on_disk.digests() == {DIGEST}
    assert on_disk.keep_only([DIGEST]) == 2
    assert [entry.name for entry in (tmp_path / "apps").iterdir()] == [DIGEST]


def test_a_link_or_a_pipe_in_place_of_a_file_is_not_read(on_disk: FolderAppFiles, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_bytes(FILES["notes/tools.py"])
    file = on_disk.folder(DIGEST) / "notes" / "tools.py"
    file.unlink()
    file.symlink_to(elsewhere)
    with pytest.raises(FilesRefused, match=r"notes/tools.py"):
        on_disk.load(DIGEST)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(FilesRefused, match=r"notes/tools.py.*not a file"):
        on_disk.load(DIGEST)


def test_what_was_laid_beside_the_files_is_loaded_with_them_or_refused(on_disk: FolderAppFiles) -> None:
    (on_disk.folder(DIGEST) / "notes" / "extra.pyc").write_bytes(b"1")
    assert on_disk.load(DIGEST) == {**FILES, "notes/extra.pyc": b"1"}
    (on_disk.folder(DIGEST) / "empty").mkdir()
    with pytest.raises(FilesRefused, match="empty"):
        on_disk.load(DIGEST)


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
    before = on_disk.folder(DIGEST).stat().st_ino
    on_disk.put(DIGEST, FILES)
    assert on_disk.folder(DIGEST).stat().st_ino == before
