"""What repeatable requests of the admin API made."""

from typing import Final

from sqlalchemy import Index, Table, bindparam, delete, select, tuple_

from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed
from gateway.adapters.sql.statements import Statement, insert_of, names_of, value
from gateway.domain.admin_requests import Made

ADMIN_REQUESTS: Final = Table(
    "admin_requests",
    METADATA,
    key("holder", TEXT),
    key("key", TEXT),
    needed("request", TEXT),
    needed("name", TEXT),
    needed("until", NUMBER),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_R = ADMIN_REQUESTS.c
Index("admin_requests_until", _R.until)

_ADD: Final = Statement(insert_of(ADMIN_REQUESTS), *names_of(ADMIN_REQUESTS))
_FIND: Final = Statement(
    select(ADMIN_REQUESTS).where(_R.holder == value(_R.holder), _R.key == value(_R.key)), "holder", "key"
)
_PURGE: Final = Statement(
    delete(ADMIN_REQUESTS).where(
        tuple_(_R.holder, _R.key).in_(
            select(_R.holder, _R.key)
            .where(_R.until < value(_R.until, "before"))
            .order_by(_R.until)
            .limit(bindparam("limit", type_=NUMBER))
        )
    ),
    "before",
    "limit",
)


class SqlAdminRequests:
    """`AdminRequests` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, made: Made) -> None:
        self._connection.write(_ADD, (made.holder, made.key, made.request, made.name, made.until))

    def find(self, holder: str, key: str) -> Made | None:
        row = self._connection.fetch_one(_FIND, (holder, key))
        if row is None:
            return None
        found_holder, found_key, request, name, until = row
        return Made(holder=found_holder, key=found_key, request=request, name=name, until=until)

    def purge(self, before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (before, limit))
