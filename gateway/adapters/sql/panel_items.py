"""Standard components that agents show in panels."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import CheckConstraint, Index, Table, bindparam, delete, select

from gateway.adapters.sql.connection import Connection, Values
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed, optional
from gateway.adapters.sql.rows import Rows
from gateway.adapters.sql.statements import (
    Statement,
    insert_of,
    names_of,
    names_of_replace,
    one_of,
    replace_of,
    value,
)
from gateway.domain.conversations import Talk
from gateway.domain.panel_items import ItemKind, ItemState, PanelItem
from gateway.runtime.ports import DuplicateKey, StaleState

PANEL_ITEMS: Final = Table(
    "panel_items",
    METADATA,
    key("id", TEXT),
    needed("session", TEXT),
    needed("agent", TEXT),
    needed("user", TEXT),
    needed("conversation", TEXT),
    needed("instance", TEXT),
    needed("kind", TEXT),
    needed("content", TEXT),
    needed("site", TEXT),
    needed("page", TEXT),
    needed("state", TEXT),
    needed("is_told", NUMBER),
    needed("shown_at", NUMBER),
    optional("ended_at", NUMBER),
    optional("reason", TEXT),
    sqlite_strict=True,
)
_P = PANEL_ITEMS.c
_ROWS: Final = Rows(PanelItem, words={"state": ItemState, "kind": ItemKind}, flags=("is_told",))
_IS_LIVE = one_of(_P.state, [ItemState.SHOWN])
PANEL_ITEMS.append_constraint(CheckConstraint(one_of(_P.state, ItemState), name="panel_items_state"))
Index(
    "panel_items_live",
    _P.conversation,
    _P.instance,
    _P.agent,
    _P.user,
    unique=True,
    sqlite_where=_IS_LIVE,
    postgresql_where=_IS_LIVE,
)
Index("panel_items_of_person", _P.user, _P.site, sqlite_where=_IS_LIVE, postgresql_where=_IS_LIVE)
Index("panel_items_of_session", _P.session, sqlite_where=_IS_LIVE, postgresql_where=_IS_LIVE)
Index("panel_items_ended", _P.ended_at)

_ADD: Final = Statement(insert_of(PANEL_ITEMS).on_conflict_do_nothing(), *names_of(PANEL_ITEMS))
_SAVE: Final = Statement(
    replace_of(PANEL_ITEMS, "id").where(_P.state == value(_P.state, "was")),
    *names_of_replace(PANEL_ITEMS, "id"),
    "was",
)
_FIND: Final = Statement(select(PANEL_ITEMS).where(_P.id == value(_P.id)), "id")
_IN_ORDER = select(PANEL_ITEMS).where(_IS_LIVE).order_by(_P.shown_at, _P.id)
_IS_TALK = (_P.conversation == value(_P.conversation)) & (_P.agent == value(_P.agent)) & (_P.user == value(_P.user))
_OF_TALK: Final = Statement(_IN_ORDER.where(_IS_TALK), "conversation", "agent", "user")
_OF_SESSION: Final = Statement(_IN_ORDER.where(_P.session == value(_P.session)), "session")
_OF_PERSON: Final = Statement(_IN_ORDER.where(_P.user == value(_P.user), _P.site == value(_P.site)), "user", "site")
_ALL_LIVE: Final = Statement(_IN_ORDER)
_PURGE: Final = Statement(
    delete(PANEL_ITEMS).where(
        _P.id.in_(
            select(_P.id)
            .where(_P.ended_at < value(_P.ended_at, "ended_before"))
            .order_by(_P.ended_at)
            .limit(bindparam("limit", type_=NUMBER))
        )
    ),
    "ended_before",
    "limit",
)


class SqlPanelItems:
    """`PanelItems` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, item: PanelItem) -> None:
        if not self._connection.execute(_ADD, _ROWS.values(item)):
            raise DuplicateKey(f"panel item `{item.id}`, or another live one of its name, is there")

    def save(self, item: PanelItem, *, was: ItemState) -> None:
        if not self._connection.execute(_SAVE, (*_ROWS.values(item, without="id"), item.id, was.value)):
            raise StaleState(f"panel item `{item.id}` is not `{was}`")

    def find(self, item: str) -> PanelItem | None:
        row = self._connection.fetch_one(_FIND, (item,))
        return None if row is None else _ROWS.thing(row)

    def live_of_talk(self, talk: Talk) -> Sequence[PanelItem]:
        return self._many(_OF_TALK, (talk.name, talk.agent, talk.user))

    def live_of_session(self, session: str) -> Sequence[PanelItem]:
        return self._many(_OF_SESSION, (session,))

    def live_of_person(self, user: str, site: str) -> Sequence[PanelItem]:
        return self._many(_OF_PERSON, (user, site))

    def all_live(self) -> Sequence[PanelItem]:
        return self._many(_ALL_LIVE)

    def purge(self, ended_before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (ended_before, limit))

    def _many(self, statement: Statement, values: Values = ()) -> Sequence[PanelItem]:
        return [_ROWS.thing(row) for row in self._connection.fetch_all(statement, values)]
