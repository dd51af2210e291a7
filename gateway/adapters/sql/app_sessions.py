"""App sessions and their visible record."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Index, Table, bindparam, delete, func, insert, literal_column, select

from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed, optional
from gateway.adapters.sql.rows import Rows
from gateway.adapters.sql.session_data import ERASE_SESSION_DATA
from gateway.adapters.sql.statements import (
    Statement,
    insert_of,
    names_of,
    names_of_replace,
    replace_of,
    value,
)
from gateway.domain.app_sessions import AppEntry, AppSession, EntryKind

APP_SESSIONS: Final = Table(
    "app_sessions",
    METADATA,
    key("id", TEXT),
    needed("app", TEXT),
    needed("user", TEXT),
    needed("conversation", TEXT),
    needed("opened_at", NUMBER),
    optional("ended_at", NUMBER),
    sqlite_strict=True,
)
_A = APP_SESSIONS.c
Index("app_sessions_ended", _A.ended_at)

ENTRIES: Final = Table(
    "app_session_entries",
    METADATA,
    key("app_session", TEXT),
    key("seq", NUMBER),
    needed("kind", TEXT),
    needed("ref", TEXT),
    needed("capability", TEXT),
    optional("state", TEXT),
    needed("at", NUMBER),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_E = ENTRIES.c
_SESSIONS: Final = Rows(AppSession)
_LINES: Final = Rows(AppEntry, words={"kind": EntryKind})

_ADD: Final = Statement(insert_of(APP_SESSIONS), *names_of(APP_SESSIONS))
_SAVE: Final = Statement(replace_of(APP_SESSIONS, "id"), *names_of_replace(APP_SESSIONS, "id"))
_FIND: Final = Statement(select(APP_SESSIONS).where(_A.id == value(_A.id)), "id")
_NEXT_SEQ = select(func.coalesce(func.max(_E.seq), 0) + literal_column("1")).where(
    _E.app_session == value(_E.app_session)
)
_APPEND: Final = Statement(
    insert(ENTRIES).from_select(
        ["app_session", "seq", "kind", "ref", "capability", "state", "at"],
        select(
            value(_E.app_session, "holder"),
            _NEXT_SEQ.scalar_subquery(),
            *(value(_E[name]) for name in ("kind", "ref", "capability", "state", "at")),
        ),
    ),
    "holder",
    "app_session",
    "kind",
    "ref",
    "capability",
    "state",
    "at",
)
_READ: Final = Statement(
    select(*(_E[name] for name in _LINES.names))
    .where(_E.app_session == value(_E.app_session), _E.seq > value(_E.seq, "after"))
    .order_by(_E.seq)
    .limit(bindparam("limit", type_=NUMBER)),
    "app_session",
    "after",
    "limit",
)
_ENDED: Final = Statement(
    select(_A.id)
    .where(_A.ended_at < value(_A.ended_at, "ended_before"))
    .order_by(_A.ended_at)
    .limit(bindparam("limit", type_=NUMBER)),
    "ended_before",
    "limit",
)
_FORGET_ENTRIES: Final = Statement(delete(ENTRIES).where(_E.app_session == value(_E.app_session)), "app_session")
_FORGET: Final = Statement(delete(APP_SESSIONS).where(_A.id == value(_A.id)), "id")


class SqlAppSessions:
    """`AppSessions` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, session: AppSession) -> None:
        self._connection.write(_ADD, _SESSIONS.values(session))

    def save(self, session: AppSession) -> None:
        self._connection.write(_SAVE, (*_SESSIONS.values(session, without="id"), session.id))

    def find(self, session: str) -> AppSession | None:
        row = self._connection.fetch_one(_FIND, (session,))
        return None if row is None else _SESSIONS.thing(row)

    def append(self, session: str, kind: EntryKind, *, ref: str, capability: str, state: str | None, at: int) -> None:
        self._connection.write(_APPEND, (session, session, kind.value, ref, capability, state, at))

    def entries(self, session: str, *, after: int = 0, limit: int) -> Sequence[AppEntry]:
        return [_LINES.thing(row) for row in self._connection.fetch_all(_READ, (session, after, limit))]

    def purge(self, ended_before: int, limit: int) -> int:
        ended = self._connection.fetch_all(_ENDED, (ended_before, limit))
        self._connection.write_many(_FORGET_ENTRIES, ended)
        self._connection.write_many(ERASE_SESSION_DATA, ended)
        self._connection.write_many(_FORGET, ended)
        return len(ended)
