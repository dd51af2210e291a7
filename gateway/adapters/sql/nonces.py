"""Nonces seen inside their window, with the call each began."""

from typing import Final

from sqlalchemy import Index, Table, bindparam, delete, select, tuple_

from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed
from gateway.adapters.sql.statements import Statement, insert_of, names_of, value

NONCES: Final = Table(
    "nonces",
    METADATA,
    key("holder", TEXT),
    key("nonce", TEXT),
    needed("ref", TEXT),
    needed("until", NUMBER),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_N = NONCES.c
Index("nonces_until", _N.until)

_ADD: Final = Statement(insert_of(NONCES).on_conflict_do_nothing(), *names_of(NONCES))
_FIND: Final = Statement(
    select(_N.ref).where(_N.holder == value(_N.holder), _N.nonce == value(_N.nonce)), "holder", "nonce"
)
_PURGE: Final = Statement(
    delete(NONCES).where(
        tuple_(_N.holder, _N.nonce).in_(
            select(_N.holder, _N.nonce)
            .where(_N.until < value(_N.until, "before"))
            .order_by(_N.until)
            .limit(bindparam("limit", type_=NUMBER))
        )
    ),
    "before",
    "limit",
)


class SqlNonces:
    """`Nonces` on one connection. A nonce stays seen until it is purged, not only until its window ends."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, holder: str, nonce: str, *, ref: str, until: int) -> str | None:
        if self._connection.execute(_ADD, (holder, nonce, ref, until)):
            return None
        row = self._connection.fetch_one(_FIND, (holder, nonce))
        assert row is not None, "an insert met it in this transaction"
        earlier: str = row[0]
        return earlier

    def purge(self, before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (before, limit))
