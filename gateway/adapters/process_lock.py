"""One process per data folder: whoever holds the lock may open the database, everybody else asks that process.

`flock`, not `lockf`: a POSIX record lock is lost as soon as any other descriptor of the file is closed.
"""

import fcntl
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

LOCK: Final = "gateway.lock"


class LockHeld(Exception):
    """Another process has the data folder."""


class FolderRefused(Exception):
    """The data folder cannot be used; the message says why and what to do."""


@contextmanager
def hold_lock(data: Path) -> Generator[Path]:
    """Hold the data folder for the length of the block; makes the folder if there is none.

    Raises:
        LockHeld: another process holds it; the message names that process.
        FolderRefused: it cannot be made or is open to everybody.
    """
    descriptor = _open(data)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            raise LockHeld(f"another gateway holds `{data}` (pid {holder})") from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        # The file stays when the block ends: removing it would let two processes lock two files of one name.
        yield data / LOCK
    finally:
        os.close(descriptor)


def _open(data: Path) -> int:
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        if data.stat().st_mode & stat.S_IWOTH:
            raise FolderRefused(f"everybody may write into `{data}`; run `chmod 700 {data}`")
        return os.open(data / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise FolderRefused(f"cannot use the data folder `{data}`: {error.strerror}") from error
