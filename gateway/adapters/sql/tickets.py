"""Host tokens, kept as hashes; each is used once."""

from typing import Final

from sqlalchemy import Index, Table, bindparam, delete, select, update

from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.metadata import BYTES, METADATA, NUMBER, TEXT, key, needed, optional
from gateway.adapters.sql.statements import Statement, insert_of, names_of, value
from gateway.adapters.sql.texts import list_of_text, text_of_list
from gateway.domain.sites import Ticket

TICKETS: Final = Table(
    "tickets",
    METADATA,
    key("hash", BYTES),
    needed("site", TEXT),
    needed("user", TEXT),
    needed("origin", TEXT),
    needed("capabilities", TEXT),
    needed("key", TEXT),
    needed("created_at", NUMBER),
    needed("expires_at", NUMBER),
    optional("used_at", NUMBER),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_T = TICKETS.c
Index("tickets_expires", _T.expires_at)

_ADD: Final = Statement(insert_of(TICKETS), *names_of(TICKETS))
_FIND: Final = Statement(select(TICKETS).where(_T.hash == value(_T.hash)), "hash")
_USE: Final = Statement(
    update(TICKETS).values(used_at=value(_T.used_at)).where(_T.hash == value(_T.hash, "which"), _T.used_at.is_(None)),
    "used_at",
    "which",
)
_PURGE: Final = Statement(
    delete(TICKETS).where(
        _T.hash.in_(
            select(_T.hash)
            .where(_T.expires_at < value(_T.expires_at, "before"))
            .order_by(_T.expires_at)
            .limit(bindparam("limit", type_=NUMBER))
        )
    ),
    "before",
    "limit",
)


class SqlTickets:
    """`Tickets` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, ticket: Ticket) -> None:
        self._connection.write(
            _ADD,
            (
                ticket.hash,
                ticket.site,
                ticket.user,
                ticket.origin,
                text_of_list(ticket.capabilities),
                ticket.key,
                ticket.created_at,
                ticket.expires_at,
                ticket.used_at,
            ),
        )

    def find(self, ticket_hash: bytes) -> Ticket | None:
        row = self._connection.fetch_one(_FIND, (ticket_hash,))
        if row is None:
            return None
        digest, site, user, origin, capabilities, key_id, created_at, expires_at, used_at = row
        return Ticket(
            hash=digest,
            site=site,
            user=user,
            origin=origin,
            capabilities=list_of_text(capabilities),
            key=key_id,
            created_at=created_at,
            expires_at=expires_at,
            used_at=used_at,
        )

    def use(self, ticket_hash: bytes, at: int) -> bool:
        return self._connection.execute(_USE, (at, ticket_hash)) == 1

    def purge(self, before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (before, limit))
