"""What mini apps keep for their app sessions: one row each, replaced by compare and set on its revision."""

from typing import Final

from sqlalchemy import Index, Table, delete, select, update

from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed
from gateway.adapters.sql.statements import Statement, insert_of, names_of, value
from gateway.domain.session_data import SessionData

SESSION_DATA: Final = Table(
    "session_data",
    METADATA,
    key("app", TEXT),
    key("app_session", TEXT),
    needed("revision", NUMBER),
    needed("data", TEXT),
    needed("at", NUMBER),
    sqlite_strict=True,
)
_D = SESSION_DATA.c
Index("session_data_of_app_session", _D.app_session)

_IS_IT = (_D.app == value(_D.app), _D.app_session == value(_D.app_session))
_FIND: Final = Statement(select(_D.revision, _D.data, _D.at).where(*_IS_IT), "app", "app_session")
_ADD: Final = Statement(insert_of(SESSION_DATA).on_conflict_do_nothing(), *names_of(SESSION_DATA))
_REPLACE: Final = Statement(
    update(SESSION_DATA)
    .values(revision=value(_D.revision), data=value(_D.data), at=value(_D.at))
    .where(*_IS_IT, _D.revision == value(_D.revision, "was")),
    "revision",
    "data",
    "at",
    "app",
    "app_session",
    "was",
)
ERASE_SESSION_DATA: Final = Statement(
    delete(SESSION_DATA).where(_D.app_session == value(_D.app_session)), "app_session"
)


class SqlSessionDatas:
    """`SessionDatas` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, app: str, app_session: str) -> SessionData | None:
        row = self._connection.fetch_one(_FIND, (app, app_session))
        if row is None:
            return None
        revision, data, at = row
        return SessionData(app=app, app_session=app_session, revision=revision, data=data, at=at)

    def put(self, data: SessionData) -> bool:
        if data.revision == 1:
            added = (data.app, data.app_session, data.revision, data.data, data.at)
            return bool(self._connection.execute(_ADD, added))
        replaced = (data.revision, data.data, data.at, data.app, data.app_session, data.revision - 1)
        return bool(self._connection.execute(_REPLACE, replaced))

    def erase(self, app_session: str) -> int:
        return self._connection.execute(ERASE_SESSION_DATA, (app_session,))
