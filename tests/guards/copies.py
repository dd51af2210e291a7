"""Copies of the tree to break: what git knows of, and links to what was built."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final
from zlib import crc32

from tests.guards.guard import ROOT, Guard

_BUILT: Final = ("surface_host/node_modules", "surface_host/dist")
"""Not known to git, and needed by the tests."""


class Copy:
    """One copy; whoever has it may break it, one guard at a time."""

    def __init__(self, place: Path) -> None:
        """Make it at `place`, or make it anew there."""
        self.root = place
        self._kept = b"", 0.0
        shutil.rmtree(place, ignore_errors=True)
        for name in _known_files():
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
        for name in _BUILT:
            if (ROOT / name).exists():
                (place / name).symlink_to(ROOT / name)

    def remove(self, guard: Guard) -> None:
        """Take `guard` out."""
        path = self.root / guard.file
        self._kept = path.read_bytes(), path.stat().st_mtime
        text = guard.removed_from(path.read_text())
        path.write_text(text)
        # Compiled files are told apart by the size and the seconds of their source: other text, another time.
        at = crc32(text.encode()) // 2
        os.utime(path, (at, at))

    def restore(self, guard: Guard) -> None:
        """Put it back."""
        path, (text, at) = self.root / guard.file, self._kept
        path.write_bytes(text)
        os.utime(path, (at, at))


def _known_files() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
