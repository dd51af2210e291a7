"""SQLite: where it may live, how a connection is set up, and `Connection` over it."""

import os
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from gateway.adapters.sql.connection import Row, Values
from gateway.adapters.sql.statements import Statement
from gateway.runtime.ports import DuplicateKey, StoreUnavailable

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

_TAKEN: Final = frozenset({sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY})

Connect = Callable[[Path], sqlite3.Connection]


class StoreRefused(Exception):
    """The store will not open here; the message says why and what to do."""


def connect(path: Path, *, factory: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """Open `path` for this process alone.

    Raises:
        StoreRefused: SQLite is too old, the file system is no place for it, or somebody else has it open.
    """
    check_version(sqlite3.sqlite_version_info)
    check_file_system(path, Path("/proc/self/mountinfo"))
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


class SqliteConnection:
    """`Connection` over one sqlite3 connection, which can be exchanged for a fresh one.

    `failure` keeps what went wrong in the database itself. From then to the next `renew` every statement fails
    the same way: SQLite may have dropped the transaction, and a unit that swallowed the exception would go on
    writing outside of one.
    """

    failure: StoreUnavailable | None
    _cursor: "sqlite3.Cursor | _Refusing"

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.attach(raw)

    def attach(self, raw: sqlite3.Connection) -> None:
        """Go on with another connection."""
        self.raw = raw
        self._control = raw.cursor()
        self.renew()

    def renew(self) -> None:
        """Forget the failure."""
        self.failure = None
        # INVARIANT: every method fetches all its rows at once, so that one cursor serves them all.
        self._cursor = self._control

    def command(self, sql: str) -> None:
        """Run a word of transaction control; its errors come as SQLite words them."""
        self._control.execute(sql)

    def check(self) -> None:
        """Raise what a unit of work swallowed."""
        if self.failure is not None:
            raise self.failure

    def execute(self, statement: Statement, values: Values = ()) -> int:
        try:
            return self._cursor.execute(statement.sqlite, values).rowcount
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def execute_many(self, statement: Statement, rows: Iterable[Values]) -> None:
        try:
            self._cursor.executemany(statement.sqlite, rows)
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def fetch_one(self, statement: Statement, values: Values = ()) -> Row | None:
        try:
            row: Row | None = self._cursor.execute(statement.sqlite, values).fetchone()
        except sqlite3.Error as error:
            raise self._translated(error) from error
        return row

    def fetch_all(self, statement: Statement, values: Values = ()) -> list[Row]:
        try:
            return self._cursor.execute(statement.sqlite, values).fetchall()
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def _translated(self, error: sqlite3.Error) -> Exception:
        if isinstance(error, sqlite3.IntegrityError):
            return DuplicateKey(str(error)) if error.sqlite_errorcode in _TAKEN else error
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError | sqlite3.DataError):
            return error
        self.failure = StoreUnavailable(f"the store failed: {error}")
        self._cursor = _Refusing(self.failure)
        return self.failure


class _Refusing:
    """A cursor that runs nothing."""

    def __init__(self, failure: StoreUnavailable) -> None:
        self._failure = failure

    def execute(self, _sql: str, _values: Values) -> sqlite3.Cursor:
        raise self._failure

    def executemany(self, _sql: str, _rows: Iterable[Values]) -> sqlite3.Cursor:
        raise self._failure


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
