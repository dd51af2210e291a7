"""Copies of a SQLite database: written beside their place, checked, and only then given their name."""

import os
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gateway.runtime.ports import StoreRefused

_MAGIC: Final = b"SQLite format 3\x00"
_BESIDE: Final = ("", "-wal", "-shm", "-journal")


@contextmanager
def begun(target: Path) -> Generator[Path]:
    """An empty file beside `target` for the length of the block, which is gone after it.

    Raises:
        StoreRefused: `target` is there already, or nothing can be written beside it.
    """
    part = target.with_name(f"{target.name}.part")
    if target.exists():
        raise StoreRefused(f"`{target}` is already there; it was not touched")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError as error:
        raise StoreRefused(f"`{part}` is in the way: another backup is being written, or one was cut off") from error
    except OSError as error:
        raise StoreRefused(f"cannot write `{part}`: {error.strerror}") from error
    try:
        yield part
    finally:
        remove(part)


def seal(part: Path, target: Path) -> None:
    """Check a finished copy and give it its name.

    Raises:
        StoreRefused: it is damaged, or `target` came up meanwhile.
    """
    check(part)
    _sync(part)
    try:
        # Unlike a renaming, a link never takes the place of a file that is there.
        os.link(part, target)
    except OSError as error:
        raise StoreRefused(f"cannot name the backup `{target}`: {error.strerror}") from error
    _sync(target.parent)


def stage(file: Path, beside: Path) -> Path:
    """Copy a backup to a file beside the database `beside`, and check it there.

    Raises:
        StoreRefused: it cannot be read, is no SQLite database, or is damaged.
    """
    staged = beside.with_name(f"{beside.name}.restoring")
    remove(staged)
    try:
        with (
            file.open("rb") as source,
            os.fdopen(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy,
        ):
            _expect_database(file, source.read(len(_MAGIC)))
            source.seek(0)
            shutil.copyfileobj(source, copy, 1024 * 1024)
        check(staged)
    except OSError as error:
        remove(staged)
        raise StoreRefused(f"cannot copy `{file}`: {error.strerror}") from error
    except BaseException:
        remove(staged)
        raise
    return staged


def swap(staged: Path, database: Path, *, stamp: str) -> Path | None:
    """Put `staged` in the place of `database`; returns where the old one is kept now, None if there was none."""
    _sync(staged)
    kept = database.with_name(f"{database.name}.before-{stamp}")
    if not database.exists():
        staged.replace(database)
        _sync(database.parent)
        return None
    _close_log(database, kept)
    # At no moment is there no database: a start would make an empty one.
    os.link(database, kept)
    staged.replace(database)
    _sync(database.parent)
    return kept


def _close_log(database: Path, kept: Path) -> None:
    """Leave no log beside `database`: SQLite would read it into whatever file has that name next."""
    try:
        raw = sqlite3.connect(database)
        try:
            raw.execute("PRAGMA journal_mode = DELETE")
        finally:
            raw.close()
    except sqlite3.Error:
        # It is past reading; its log goes where it goes.
        for end in _BESIDE[1:]:
            beside = database.with_name(database.name + end)
            if beside.exists():
                beside.replace(kept.with_name(kept.name + end))


def _expect_database(file: Path, head: bytes) -> None:
    if head != _MAGIC:
        raise StoreRefused(f"`{file}` is no backup: it is not a SQLite database")


def remove(file: Path) -> None:
    """Remove a database file and what SQLite puts beside it."""
    for end in _BESIDE:
        file.with_name(file.name + end).unlink(missing_ok=True)


def check(file: Path) -> None:
    """Read a whole database file.

    Raises:
        StoreRefused: it is damaged.
    """
    raw = sqlite3.connect(file)
    try:
        # A copy alone: no log of its own belongs to it.
        raw.execute("PRAGMA journal_mode = DELETE")
        flaw = raw.execute("PRAGMA integrity_check(1)").fetchone()[0]
        stray = raw.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.Error as error:
        raise StoreRefused(f"`{file}` is damaged: {error}") from error
    finally:
        raw.close()
    if flaw != "ok" or stray is not None:
        raise StoreRefused(
            f"`{file}` is damaged: {flaw if flaw != 'ok' else 'rows refer to others that are missing'}"
        )


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
