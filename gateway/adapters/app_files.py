"""Installed packages on disk: one folder for each digest, written whole and given its name last.

Nothing is ever changed in a folder that has its name. What a crash leaves under another name is swept at the start.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from gateway.failpoints import Point, reach
from gateway.runtime.ports import FilesRefused

FOLDER: Final = "apps"
_INCOMING: Final = ".incoming-"
_LEAVING: Final = ".leaving-"


class FolderAppFiles:
    """`AppFiles` below a data folder. Whoever uses it holds the lock of that folder."""

    def __init__(self, data: Path) -> None:
        # Whoever runs a package stands in another folder than we do.
        self._root = (data / FOLDER).absolute()

    def fetch(self, source: Path, *, limit: int) -> bytes:
        try:
            with source.open("rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise FilesRefused(f"`{source}` is no file")
                return file.read(limit + 1)
        except OSError as error:
            raise FilesRefused(f"cannot read `{source}`: {error.strerror}") from error

    def folder(self, digest: str) -> Path:
        return self._root / digest

    def put(self, digest: str, files: Mapping[str, bytes]) -> None:
        with suppress(FilesRefused):
            if self.load(digest) == files:
                return
        part = self._root / f"{_INCOMING}{secrets.token_hex(8)}"
        try:
            self._root.mkdir(mode=0o700, exist_ok=True)
            _write(part, files)
            reach(Point.PACKAGE_WRITTEN)
            # Only a damaged folder can be in the way here.
            self.remove(digest)
            part.rename(self.folder(digest))
            _sync(self._root)
            reach(Point.PACKAGE_NAMED)
        except OSError as error:
            raise FilesRefused(f"cannot write `{self.folder(digest)}`: {error.strerror}") from error
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def load(self, digest: str) -> Mapping[str, bytes]:
        folder = self.folder(digest)
        try:
            return {path: _read(folder / path) for path in sorted(_entries_of(folder))}
        except OSError as error:
            raise FilesRefused(f"cannot read `{error.filename or folder}`: {error.strerror}") from error

    def remove(self, digest: str) -> None:
        leaving = self._root / f"{_LEAVING}{secrets.token_hex(8)}"
        try:
            # Half a folder never has the name of a whole one.
            self.folder(digest).rename(leaving)
        except FileNotFoundError:
            return
        except OSError as error:
            raise FilesRefused(f"cannot remove `{self.folder(digest)}`: {error.strerror}") from error
        _sync(self._root)
        shutil.rmtree(leaving, ignore_errors=True)

    def digests(self) -> frozenset[str]:
        return frozenset(name for name in self._folders() if not name.startswith("."))

    def keep_only(self, digests: Collection[str]) -> int:
        swept = [name for name in self._folders() if name not in digests]
        for name in swept:
            self.remove(name)
        return len(swept)

    def _folders(self) -> list[str]:
        if not self._root.is_dir():
            return []
        return [entry.name for entry in os.scandir(self._root) if entry.is_dir(follow_symlinks=False)]


def _write(part: Path, files: Mapping[str, bytes]) -> None:
    part.mkdir(mode=0o700)
    folders = {part}
    for path, content in files.items():
        file = part / path
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folders |= {folder for folder in file.parents if folder.is_relative_to(part)}
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(file, flags, 0o400), "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
    for folder in folders:
        _sync(folder)


def _entries_of(folder: Path, below: str = "") -> Iterator[str]:
    """Everything in `folder` that is no folder, and every empty folder."""
    is_empty = True
    for entry in os.scandir(folder / below):
        is_empty = False
        path = f"{below}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _entries_of(folder, f"{path}/")
        else:
            yield path
    if is_empty and below:
        yield below


def _read(file: Path) -> bytes:
    # A pipe laid here by a stranger would be waited for.
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(file))
        with os.fdopen(descriptor, "rb", closefd=False) as source:
            return source.read()
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
