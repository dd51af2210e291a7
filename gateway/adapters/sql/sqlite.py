"""SQLite: where it may live, and how a connection is set up."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gateway.runtime.ports import StoreRefused

OLDEST: Final = (3, 37, 0)
"""The first version with STRICT tables."""

NETWORK_FILE_SYSTEMS: Final = frozenset(
    {
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse.ceph",
        "fuse.davfs",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "orangefs",
        "pvfs2",
        "smb3",
        "smbfs",
    }
)

_PRAGMAS: Final = (
    "locking_mode = EXCLUSIVE",
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "secure_delete = ON",  # what is erased must not linger in free pages
    "trusted_schema = OFF",
    "temp_store = MEMORY",
    "cache_size = -65536",
)

Connect = Callable[[Path], sqlite3.Connection]


def connect(path: Path, *, factory: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Open `path` for this process alone.

    Raises:
        StoreRefused: SQLite is too old, the file system is no place for it, or somebody else has it open.
    """
    check_place(path)
    create(path)
    raw = sqlite3.connect(
        path,
        timeout=1.0,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
        factory=factory,
    )
    try:
        for pragma in _PRAGMAS:
            raw.execute(f"PRAGMA {pragma}")
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("COMMIT")
    except sqlite3.Error as error:
        raw.close()
        raise StoreRefused(f"cannot open `{path}`: {error}; is another gateway running?") from error
    return raw


def create(path: Path) -> None:
    """Make an empty file only its owner can read; the files SQLite puts beside it take after it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def check_place(path: Path) -> None:
    """Judge what shows before the file is opened.

    Raises:
        StoreRefused: SQLite is too old, or the file system is no place for it.
    """
    check_version(sqlite3.sqlite_version_info)
    check_file_system(path, Path("/proc/self/mountinfo"))


def check_version(version: tuple[int, ...]) -> None:
    if version < OLDEST:
        words = ".".join(map(str, version))
        raise StoreRefused(f"SQLite `{words}` is too old: use a Python built with SQLite 3.37 or newer")


def check_file_system(path: Path, mounts: Path) -> None:
    """Refuse network file systems: their locks and syncs do not hold what SQLite builds on."""
    if not mounts.exists():
        return
    here, kind = path.absolute().parent.resolve(), ""
    longest = -1
    for line in mounts.read_text(errors="surrogateescape").splitlines():
        place, _, rest = line.partition(" - ")
        point = Path(_unescaped(place.split(" ")[4]))
        if len(point.parts) >= longest and here.is_relative_to(point):
            longest, kind = len(point.parts), rest.split(" ")[0]
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreRefused(f"`{path}` lies on a network file system (`{kind}`): put the data on a local disk")


def _unescaped(point: str) -> str:
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(octal, character)
    return point
