"""Remembered noes."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Index, Table, bindparam, delete, select, tuple_

from gateway.adapters.sql.connection import Connection, Row
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed
from gateway.adapters.sql.statements import Statement, insert_of, names_of, value
from gateway.domain.denials import Denial

DENIALS: Final = Table(
    "denials",
    METADATA,
    key("agent", TEXT),
    key("user", TEXT),
    key("request_fingerprint", TEXT),
    needed("capability", TEXT),
    needed("title", TEXT),
    needed("until", NUMBER),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_D = DENIALS.c
Index("denials_of_user", _D.user, _D.until)
Index("denials_until", _D.until)

_IS_LIVE = _D.until > value(_D.until, "now")

_FIND: Final = Statement(
    select(DENIALS).where(
        _D.agent == value(_D.agent),
        _D.user == value(_D.user),
        _D.request_fingerprint == value(_D.request_fingerprint),
        _IS_LIVE,
    ),
    "agent",
    "user",
    "request_fingerprint",
    "now",
)
_PUT: Final = Statement(
    (_insert := insert_of(DENIALS)).on_conflict_do_update(
        index_elements=["agent", "user", "request_fingerprint"],
        set_={name: _insert.excluded[name] for name in ("capability", "title", "until")},
    ),
    *names_of(DENIALS),
)
_LIFT: Final = Statement(
    delete(DENIALS).where(
        _D.user == value(_D.user), _D.capability == value(_D.capability), _D.agent == value(_D.agent)
    ),
    "user",
    "capability",
    "agent",
)
_LIST: Final = Statement(
    select(DENIALS).where(_D.user == value(_D.user), _IS_LIVE).order_by(_D.until, _D.agent, _D.request_fingerprint),
    "user",
    "now",
)
_PURGE: Final = Statement(
    delete(DENIALS).where(
        tuple_(_D.agent, _D.user, _D.request_fingerprint).in_(
            select(_D.agent, _D.user, _D.request_fingerprint)
            .where(_D.until <= value(_D.until, "now"))
            .order_by(_D.until)
            .limit(bindparam("limit", type_=NUMBER))
        )
    ),
    "now",
    "limit",
)


class SqlDenials:
    """`Denials` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, agent: str, user: str, request_fingerprint: str, now: int) -> Denial | None:
        row = self._connection.fetch_one(_FIND, (agent, user, request_fingerprint, now))
        return None if row is None else _denial_of(row)

    def put(self, denial: Denial) -> None:
        self._connection.write(
            _PUT,
            (
                denial.agent,
                denial.user,
                denial.request_fingerprint,
                denial.capability,
                denial.title,
                denial.until,
            ),
        )

    def lift(self, user: str, capability: str, agent: str) -> int:
        return self._connection.execute(_LIFT, (user, capability, agent))

    def list(self, user: str, now: int) -> Sequence[Denial]:
        return [_denial_of(row) for row in self._connection.fetch_all(_LIST, (user, now))]

    def purge(self, now: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (now, limit))


def _denial_of(row: Row) -> Denial:
    agent, user, request_fingerprint, capability, title, until = row
    return Denial(
        agent=agent,
        user=user,
        request_fingerprint=request_fingerprint,
        capability=capability,
        title=title,
        until=until,
    )
