"""Instances of mini apps."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import CheckConstraint, Index, Table, bindparam, delete, exists, literal_column, select

from gateway.adapters.sql.agent_sessions import SESSIONS
from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.ledger import CALLS, IS_OPEN
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed, optional
from gateway.adapters.sql.rows import Reader, Rows
from gateway.adapters.sql.statements import (
    Statement,
    insert_of,
    names_of,
    names_of_replace,
    one_of,
    replace_of,
    value,
)
from gateway.domain.instances import PAGE_GONE_MS, Instance, InstanceState
from gateway.runtime.ports import StaleState

INSTANCES: Final = Table(
    "instances",
    METADATA,
    key("id", TEXT),
    needed("app", TEXT),
    needed("digest", TEXT),
    needed("user", TEXT),
    needed("conversation", TEXT),
    needed("app_session", TEXT),
    needed("state", TEXT),
    needed("opened_at", NUMBER),
    optional("site", TEXT),
    optional("page", TEXT),
    needed("is_foreground", NUMBER),
    optional("page_gone_at", NUMBER),
    optional("closed_at", NUMBER),
    optional("reason", TEXT),
    sqlite_strict=True,
)
_I = INSTANCES.c
_C, _S = CALLS.c, SESSIONS.c
_ROWS: Final = Rows(Instance, words={"state": InstanceState}, flags=("is_foreground",))
_IS_LIVE = one_of(_I.state, [InstanceState.STARTING, InstanceState.RUNNING])
_IS_GONE = _I.page_gone_at.is_not(None)
_LIMIT = bindparam("limit", type_=NUMBER)
INSTANCES.append_constraint(CheckConstraint(one_of(_I.state, InstanceState), name="instances_state"))
Index(
    "instances_live",
    _I.app,
    _I.conversation,
    _I.user,
    unique=True,
    sqlite_where=_IS_LIVE,
    postgresql_where=_IS_LIVE,
)
Index("instances_on_page", _I.page, sqlite_where=_IS_LIVE, postgresql_where=_IS_LIVE)
Index("instances_gone", _I.page_gone_at, sqlite_where=_IS_GONE, postgresql_where=_IS_GONE)
Index("instances_closed", _I.closed_at)
Index("instances_of_app_session", _I.app_session, unique=True)

_ADD: Final = Statement(insert_of(INSTANCES), *names_of(INSTANCES))
_SAVE: Final = Statement(
    replace_of(INSTANCES, "id").where(_I.state == value(_I.state, "was")), *names_of_replace(INSTANCES, "id"), "was"
)
_FIND: Final = Statement(select(INSTANCES).where(_I.id == value(_I.id)), "id")
_OF_APP_SESSION: Final = Statement(select(INSTANCES).where(_I.app_session == value(_I.app_session)), "app_session")
_LIVE: Final = Statement(
    select(INSTANCES).where(
        _IS_LIVE,
        _I.app == value(_I.app),
        _I.conversation == value(_I.conversation),
        _I.user == value(_I.user),
    ),
    "app",
    "conversation",
    "user",
)
_IN_ORDER = select(INSTANCES).where(_IS_LIVE).order_by(_I.opened_at, _I.id)
_ALL_LIVE: Final = Statement(_IN_ORDER)
_ON_PAGE: Final = Statement(_IN_ORDER.where(_I.page == value(_I.page)), "page")
_OF_APP: Final = Statement(_IN_ORDER.where(_I.app == value(_I.app)), "app")
_DUE: Final = Statement(
    select(INSTANCES)
    .where(_IS_LIVE, _I.page_gone_at <= value(_I.page_gone_at, "gone_before"))
    .order_by(_I.page_gone_at, _I.id)
    .limit(_LIMIT),
    "gone_before",
    "limit",
)
_NEXT_GONE: Final = Statement(
    select(_I.page_gone_at).where(_IS_LIVE, _IS_GONE).order_by(_I.page_gone_at).limit(literal_column("1"))
)
_UNOWNED: Final = Statement(
    _IN_ORDER.where(
        _I.page.is_(None),
        ~exists(
            select(_S.id).where(
                _S.conversation == _I.conversation,
                _S.user == _I.user,
                _S.revoked_at.is_(None),
                _S.expires_at > value(_S.expires_at, "now"),
            )
        ),
        ~exists(
            select(_C.ref).where(IS_OPEN, _C.app == _I.app, _C.conversation == _I.conversation, _C.user == _I.user)
        ),
    ).limit(_LIMIT),
    "now",
    "limit",
)
_PURGE: Final = Statement(
    delete(INSTANCES).where(
        _I.id.in_(
            select(_I.id)
            .where(_I.closed_at < value(_I.closed_at, "closed_before"))
            .order_by(_I.closed_at)
            .limit(_LIMIT)
        )
    ),
    "closed_before",
    "limit",
)


class SqlInstances(Reader[Instance]):
    """`Instances` on one connection."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _ROWS)

    def add(self, instance: Instance) -> None:
        self._connection.write(_ADD, _ROWS.values(instance))

    def save(self, instance: Instance, *, was: InstanceState) -> None:
        if not self._connection.execute(_SAVE, (*_ROWS.values(instance, without="id"), instance.id, was.value)):
            raise StaleState(f"instance `{instance.id}` is not `{was}`")

    def find(self, instance: str) -> Instance | None:
        return self._one(_FIND, instance)

    def of_app_session(self, app_session: str) -> Instance | None:
        return self._one(_OF_APP_SESSION, app_session)

    def live(self, user: str, conversation: str, app: str) -> Instance | None:
        return self._one(_LIVE, app, conversation, user)

    def all_live(self) -> Sequence[Instance]:
        return self._many(_ALL_LIVE)

    def live_on_page(self, page: str) -> Sequence[Instance]:
        return self._many(_ON_PAGE, page)

    def live_of_app(self, app: str) -> Sequence[Instance]:
        return self._many(_OF_APP, app)

    def due(self, now: int, limit: int) -> Sequence[Instance]:
        return self._many(_DUE, now - PAGE_GONE_MS, limit)

    def next_due(self) -> int | None:
        gone_at = self._first(_NEXT_GONE)
        return None if gone_at is None else gone_at + PAGE_GONE_MS

    def unowned(self, now: int, limit: int) -> Sequence[Instance]:
        return self._many(_UNOWNED, now, limit)

    def purge(self, closed_before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (closed_before, limit))
