"""Facts of this installation: named values that outlive restarts."""

from typing import Final

from sqlalchemy import Table, select

from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.metadata import BYTES, METADATA, TEXT, key, needed
from gateway.adapters.sql.statements import Statement, insert_of, names_of, value

INSTALLATION: Final = Table(
    "installation",
    METADATA,
    key("name", TEXT),
    needed("value", BYTES),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_I = INSTALLATION.c

_GET: Final = Statement(select(_I.value).where(_I.name == value(_I.name)), "name")
_PUT: Final = Statement(
    (_insert := insert_of(INSTALLATION)).on_conflict_do_update(
        index_elements=["name"], set_={"value": _insert.excluded.value}
    ),
    *names_of(INSTALLATION),
)


class SqlInstallation:
    """`Installation` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> bytes | None:
        row = self._connection.fetch_one(_GET, (name,))
        return None if row is None else row[0]

    def put(self, name: str, value: bytes) -> None:
        self._connection.write(_PUT, (name, value))
