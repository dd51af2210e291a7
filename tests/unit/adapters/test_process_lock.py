import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.adapters.process_lock import FolderRefused, LockHeld, hold_lock

TRY = """
import sys
from pathlib import Path
from gateway.adapters.process_lock import LockHeld, hold_lock
try:
    with hold_lock(Path(sys.argv[1])):
        print("held")
except LockHeld as error:
    print(error)
"""


def attempt(data: Path) -> str:
    """What a second process is told."""
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", TRY, str(data)], cwd=root, capture_output=True, text=True, check=True, timeout=30
    )
    return done.stdout.strip()


def test_a_second_process_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with hold_lock(data):
        assert attempt(data) == f"another gateway holds `{data}` (pid {os.getpid()})"
    assert attempt(data) == "held"


def test_closing_another_descriptor_of_the_file_does_not_let_go(tmp_path: Path) -> None:
    """The reason for `flock`: with record locks this close would drop the lock."""
    with hold_lock(tmp_path) as lock:
        lock.read_text()
        assert attempt(tmp_path).startswith("another gateway holds")


def test_the_folder_is_made_for_its_owner_only(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"
    with hold_lock(data) as lock:
        assert data.stat().st_mode & 0o777 == 0o700
        assert lock.stat().st_mode & 0o777 == 0o600


def test_a_folder_everybody_may_write_into_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    with pytest.raises(FolderRefused, match="chmod 700"), hold_lock(data):
        pass


def test_one_process_cannot_hold_it_twice(tmp_path: Path) -> None:
    with hold_lock(tmp_path), pytest.raises(LockHeld), hold_lock(tmp_path):
        pass
