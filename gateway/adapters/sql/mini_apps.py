"""Installed mini apps, and the versions of each that are kept."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import CheckConstraint, ForeignKey, Table, UniqueConstraint, delete, select

from gateway.adapters.sql.connection import Connection, Row, Values
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed, optional
from gateway.adapters.sql.rows import Rows
from gateway.adapters.sql.statements import Statement, insert_of, names_of, one_of, value
from gateway.adapters.sql.texts import list_of_text, text_of_list
from gateway.domain.mini_apps import AppState, AppVersion, MiniApp

APPS: Final = Table(
    "mini_apps",
    METADATA,
    key("id", TEXT),
    needed("state", TEXT),
    needed("digest", TEXT),
    needed("granted", TEXT),
    needed("installed_at", NUMBER),
    needed("changed_at", NUMBER),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_A = APPS.c
APPS.append_constraint(
    CheckConstraint(one_of(_A.state, [AppState.DISABLED, AppState.ENABLED]), name="mini_apps_state")
)

VERSIONS: Final = Table(
    "mini_app_versions",
    METADATA,
    key("digest", TEXT),
    needed("app", TEXT, ForeignKey(APPS.c.id)),
    needed("version", TEXT),
    needed("manifest", TEXT),
    optional("key", TEXT),
    needed("installed_at", NUMBER),
    UniqueConstraint("app", "version"),
    sqlite_strict=True,
)
_V = VERSIONS.c
_VERSIONS: Final = Rows(AppVersion)

_PUT: Final = Statement(
    (_insert := insert_of(APPS)).on_conflict_do_update(
        index_elements=["id"],
        set_={column.name: _insert.excluded[column.name] for column in APPS.columns if column.name != "id"},
    ),
    *names_of(APPS),
)
_FIND: Final = Statement(select(APPS).where(_A.id == value(_A.id)), "id")
_LIST: Final = Statement(select(APPS).order_by(_A.id))
_REMOVE: Final = Statement(delete(APPS).where(_A.id == value(_A.id)), "id")
_ADD_VERSION: Final = Statement(insert_of(VERSIONS), *names_of(VERSIONS))
_FIND_VERSION: Final = Statement(select(VERSIONS).where(_V.digest == value(_V.digest)), "digest")
_VERSIONS_OF: Final = Statement(
    select(VERSIONS).where(_V.app == value(_V.app)).order_by(_V.installed_at, _V.digest), "app"
)
_ALL_VERSIONS: Final = Statement(select(_V.digest).order_by(_V.digest))
_DROP_VERSION: Final = Statement(delete(VERSIONS).where(_V.digest == value(_V.digest)), "digest")
_DROP_VERSIONS: Final = Statement(delete(VERSIONS).where(_V.app == value(_V.app)), "app")


class SqlMiniApps:
    """`MiniApps` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, app: MiniApp) -> None:
        self._connection.write(_PUT, _values(app))

    def find(self, app: str) -> MiniApp | None:
        row = self._connection.fetch_one(_FIND, (app,))
        return None if row is None else _app_of(row)

    def list(self) -> Sequence[MiniApp]:
        return [_app_of(row) for row in self._connection.fetch_all(_LIST)]

    def remove(self, app: str) -> bool:
        self._connection.write(_DROP_VERSIONS, (app,))
        return self._connection.execute(_REMOVE, (app,)) > 0

    def add_version(self, version: AppVersion) -> None:
        self._connection.write(_ADD_VERSION, _VERSIONS.values(version))

    def find_version(self, digest: str) -> AppVersion | None:
        row = self._connection.fetch_one(_FIND_VERSION, (digest,))
        return None if row is None else _VERSIONS.thing(row)

    def versions(self, app: str) -> Sequence[AppVersion]:
        return [_VERSIONS.thing(row) for row in self._connection.fetch_all(_VERSIONS_OF, (app,))]

    def digests(self) -> frozenset[str]:
        return frozenset(row[0] for row in self._connection.fetch_all(_ALL_VERSIONS))

    def drop_version(self, digest: str) -> None:
        self._connection.write(_DROP_VERSION, (digest,))


def _values(app: MiniApp) -> Values:
    granted = text_of_list(app.granted)
    return (app.id, app.state.value, app.digest, granted, app.installed_at, app.changed_at)


def _app_of(row: Row) -> MiniApp:
    app, state, digest, granted, installed_at, changed_at = row
    return MiniApp(
        id=app,
        state=AppState(state),
        digest=digest,
        granted=list_of_text(granted),
        installed_at=installed_at,
        changed_at=changed_at,
    )
