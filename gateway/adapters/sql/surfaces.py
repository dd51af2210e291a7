"""Surfaces of agents, with their states and what happened in them."""

from collections.abc import Sequence
from typing import Final

import orjson
from sqlalchemy import CheckConstraint, Index, Table, bindparam, cast, delete, func, literal_column, select

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
from gateway.domain.bundles import SentBundle
from gateway.domain.conversations import Talk
from gateway.domain.instances import PAGE_GONE_MS
from gateway.domain.surfaces import Happening, Surface, SurfaceState
from gateway.runtime.ports import DuplicateKey, StaleState
from surface_host.bundles import Parts

SURFACES: Final = Table(
    "surfaces",
    METADATA,
    key("id", TEXT),
    needed("session", TEXT),
    needed("agent", TEXT),
    needed("user", TEXT),
    needed("conversation", TEXT),
    needed("instance", TEXT),
    needed("app", TEXT),
    needed("version", TEXT),
    needed("digest", TEXT),
    needed("surface", TEXT),
    optional("title", TEXT),
    needed("site", TEXT),
    needed("page", TEXT),
    needed("state", TEXT),
    needed("is_told", NUMBER),
    needed("opened_at", NUMBER),
    optional("page_gone_at", NUMBER),
    optional("closed_at", NUMBER),
    optional("reason", TEXT),
    needed("minute", NUMBER),
    needed("events", NUMBER),
    needed("bytes", NUMBER),
    sqlite_strict=True,
)
_S = SURFACES.c
_ROWS: Final = Rows(Surface, words={"state": SurfaceState}, flags=("is_told",))
_IS_LIVE = one_of(_S.state, [SurfaceState.OPENING, SurfaceState.OPEN])
_IS_GONE = _S.page_gone_at.is_not(None)
_LIMIT = bindparam("limit", type_=NUMBER)
SURFACES.append_constraint(CheckConstraint(one_of(_S.state, SurfaceState), name="surfaces_state"))
Index(
    "surfaces_live",
    _S.conversation,
    _S.instance,
    _S.agent,
    _S.user,
    unique=True,
    sqlite_where=_IS_LIVE,
    postgresql_where=_IS_LIVE,
)
Index("surfaces_on_page", _S.page, sqlite_where=_IS_LIVE, postgresql_where=_IS_LIVE)
Index("surfaces_of_session", _S.session, sqlite_where=_IS_LIVE, postgresql_where=_IS_LIVE)
Index("surfaces_of_app", _S.conversation, _S.app)
Index("surfaces_gone", _S.page_gone_at, sqlite_where=_IS_GONE, postgresql_where=_IS_GONE)
Index("surfaces_closed", _S.closed_at)

# What a surface shows may be large, and its row is written with every event.
STATES: Final = Table(
    "surface_states",
    METADATA,
    key("surface", TEXT),
    needed("state", TEXT),
    sqlite_strict=True,
)
# So are the bundles agents send. `events` is a JSON list; without one, none are declared.
BUNDLES: Final = Table(
    "surface_bundles",
    METADATA,
    key("surface", TEXT),
    needed("name", TEXT),
    needed("integrity", TEXT),
    optional("events", TEXT),
    needed("profile", TEXT),
    optional("signed_by", TEXT),
    needed("html", TEXT),
    needed("css", TEXT),
    needed("js", TEXT),
    sqlite_strict=True,
)
# A place is never given twice, also when everything up to it was forgotten.
CURSORS: Final = Table(
    "surface_cursors",
    METADATA,
    key("session", TEXT),
    needed("last", NUMBER),
    sqlite_strict=True,
)
EVENTS: Final = Table(
    "surface_events",
    METADATA,
    key("session", TEXT),
    key("seq", NUMBER),
    needed("surface", TEXT),
    needed("instance", TEXT),
    needed("event", TEXT),
    needed("data", TEXT),
    needed("at", NUMBER),
    needed("size", NUMBER),
    sqlite_strict=True,
)
_E = EVENTS.c
Index("surface_events_at", _E.at)
_HAPPENINGS: Final = Rows(Happening)

_ADD: Final = Statement(insert_of(SURFACES).on_conflict_do_nothing(), *names_of(SURFACES))
_SAVE: Final = Statement(
    replace_of(SURFACES, "id").where(_S.state == value(_S.state, "was")), *names_of_replace(SURFACES, "id"), "was"
)
_FIND: Final = Statement(select(SURFACES).where(_S.id == value(_S.id)), "id")
_IN_ORDER = select(SURFACES).where(_IS_LIVE).order_by(_S.opened_at, _S.id)
_IS_TALK = (_S.conversation == value(_S.conversation)) & (_S.agent == value(_S.agent)) & (_S.user == value(_S.user))
_TALK: Final = ("conversation", "agent", "user")
_LIVE: Final = Statement(
    select(SURFACES).where(_IS_LIVE, _IS_TALK, _S.instance == value(_S.instance)), *_TALK, "instance"
)
_LIVE_OF_TALK: Final = Statement(_IN_ORDER.where(_IS_TALK), *_TALK)
_LIVE_OF_SESSION: Final = Statement(_IN_ORDER.where(_S.session == value(_S.session)), "session")
_LIVE_ON_PAGE: Final = Statement(_IN_ORDER.where(_S.page == value(_S.page)), "page")
_ALL_LIVE: Final = Statement(_IN_ORDER)
_OF_APP: Final = Statement(
    select(SURFACES).where(_IS_TALK, _S.app == value(_S.app)).order_by(_S.opened_at, _S.id), *_TALK, "app"
)
_DUE: Final = Statement(
    select(SURFACES)
    .where(_IS_LIVE, _S.page_gone_at <= value(_S.page_gone_at, "gone_before"))
    .order_by(_S.page_gone_at, _S.id)
    .limit(_LIMIT),
    "gone_before",
    "limit",
)
_NEXT_GONE: Final = Statement(
    select(_S.page_gone_at).where(_IS_LIVE, _IS_GONE).order_by(_S.page_gone_at).limit(literal_column("1"))
)
_PURGE: Final = Statement(
    delete(SURFACES).where(
        _S.id.in_(
            select(_S.id)
            .where(_S.closed_at < value(_S.closed_at, "closed_before"))
            .order_by(_S.closed_at)
            .limit(_LIMIT)
        )
    ),
    "closed_before",
    "limit",
)

_T = STATES.c
_INSERT_STATE = insert_of(STATES)
_PUT_STATE: Final = Statement(
    _INSERT_STATE.on_conflict_do_update(index_elements=[_T.surface], set_={"state": _INSERT_STATE.excluded.state}),
    "surface",
    "state",
)
_STATE: Final = Statement(select(_T.state).where(_T.surface == value(_T.surface)), "surface")
_ERASE_STATE: Final = Statement(delete(STATES).where(_T.surface == value(_T.surface)), "surface")

_B = BUNDLES.c
_PUT_BUNDLE: Final = Statement(insert_of(BUNDLES), *names_of(BUNDLES))
_BUNDLE: Final = Statement(
    select(_B.name, _B.integrity, _B.events, _B.profile, _B.signed_by).where(_B.surface == value(_B.surface)),
    "surface",
)
_PARTS: Final = Statement(select(_B.html, _B.css, _B.js).where(_B.surface == value(_B.surface)), "surface")
_ERASE_BUNDLE: Final = Statement(delete(BUNDLES).where(_B.surface == value(_B.surface)), "surface")

_C = CURSORS.c
_FIRST = insert_of(CURSORS)
_NEXT_SEQ: Final = Statement(
    _FIRST.on_conflict_do_update(index_elements=[_C.session], set_={"last": _C.last + literal_column("1")}),
    "session",
    "last",
)
_LAST: Final = Statement(select(_C.last).where(_C.session == value(_C.session)), "session")
_SESSIONS: Final = Statement(select(_C.session).order_by(_C.session))
_ERASE_CURSOR: Final = Statement(delete(CURSORS).where(_C.session == value(_C.session)), "session")

_ADD_EVENT: Final = Statement(insert_of(EVENTS), *names_of(EVENTS))
_READ: Final = Statement(
    select(*(_E[name] for name in _HAPPENINGS.names))
    .where(_E.session == value(_E.session), _E.seq > value(_E.seq, "after"))
    .order_by(_E.seq)
    .limit(_LIMIT),
    "session",
    "after",
    "limit",
)
_KEPT: Final = Statement(
    # The sum of large numbers is of another kind in PostgreSQL.
    select(cast(func.coalesce(func.sum(_E.size), literal_column("0")), NUMBER)).where(
        _E.session == value(_E.session)
    ),
    "session",
)
_FORGET: Final = Statement(
    delete(EVENTS).where(_E.session == value(_E.session), _E.seq <= value(_E.seq, "until")), "session", "until"
)
_ERASE: Final = Statement(delete(EVENTS).where(_E.session == value(_E.session)), "session")
_OLD: Final = Statement(
    select(_E.session, _E.seq).where(_E.at < value(_E.at, "before")).order_by(_E.at).limit(_LIMIT), "before", "limit"
)
_FORGET_ONE: Final = Statement(
    delete(EVENTS).where(_E.session == value(_E.session), _E.seq == value(_E.seq)), "session", "seq"
)


class SqlSurfaces:
    """`Surfaces` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, surface: Surface, state: str) -> None:
        if not self._connection.execute(_ADD, _ROWS.values(surface)):
            raise DuplicateKey(f"surface `{surface.id}`, or another live one of its name, is there")
        self.put_state(surface.id, state)

    def save(self, surface: Surface, *, was: SurfaceState) -> None:
        if not self._connection.execute(_SAVE, (*_ROWS.values(surface, without="id"), surface.id, was.value)):
            raise StaleState(f"surface `{surface.id}` is not `{was}`")
        if not surface.is_live:
            self._connection.write(_ERASE_STATE, (surface.id,))
            if surface.is_sent:
                self._connection.write(_ERASE_BUNDLE, (surface.id,))

    def find(self, surface: str) -> Surface | None:
        return self._one(_FIND, (surface,))

    def put_state(self, surface: str, state: str) -> None:
        self._connection.write(_PUT_STATE, (surface, state))

    def state_of(self, surface: str) -> str | None:
        row = self._connection.fetch_one(_STATE, (surface,))
        return None if row is None else row[0]

    def put_bundle(self, surface: str, bundle: SentBundle, parts: Parts) -> None:
        events = None if bundle.events is None else orjson.dumps(bundle.events).decode()
        row = (surface, bundle.name, bundle.integrity, events, bundle.profile, bundle.signed_by)
        self._connection.write(_PUT_BUNDLE, (*row, parts.html, parts.css, parts.js))

    def bundle_of(self, surface: str) -> SentBundle | None:
        row = self._connection.fetch_one(_BUNDLE, (surface,))
        if row is None:
            return None
        name, integrity, events, profile, signed_by = row
        return SentBundle(
            name=name,
            integrity=integrity,
            events=None if events is None else tuple(orjson.loads(events)),
            profile=profile,
            signed_by=signed_by,
        )

    def parts_of(self, surface: str) -> Parts | None:
        row = self._connection.fetch_one(_PARTS, (surface,))
        return None if row is None else Parts(html=row[0], css=row[1], js=row[2])

    def live(self, talk: Talk, instance: str) -> Surface | None:
        return self._one(_LIVE, (*_named(talk), instance))

    def live_of_talk(self, talk: Talk) -> Sequence[Surface]:
        return self._many(_LIVE_OF_TALK, _named(talk))

    def live_of_session(self, session: str) -> Sequence[Surface]:
        return self._many(_LIVE_OF_SESSION, (session,))

    def live_on_page(self, page: str) -> Sequence[Surface]:
        return self._many(_LIVE_ON_PAGE, (page,))

    def all_live(self) -> Sequence[Surface]:
        return self._many(_ALL_LIVE)

    def of_app(self, talk: Talk, app: str) -> Sequence[Surface]:
        return self._many(_OF_APP, (*_named(talk), app))

    def due(self, now: int, limit: int) -> Sequence[Surface]:
        return self._many(_DUE, (now - PAGE_GONE_MS, limit))

    def next_due(self) -> int | None:
        row = self._connection.fetch_one(_NEXT_GONE)
        return None if row is None else row[0] + PAGE_GONE_MS

    def purge(self, closed_before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (closed_before, limit))

    def add_event(self, session: str, *, surface: str, instance: str, event: str, data: str, at: int) -> None:
        self._connection.write(_NEXT_SEQ, (session, 1))
        seq, size = self.last(session), len(data.encode())
        self._connection.write(_ADD_EVENT, (session, seq, surface, instance, event, data, at, size))

    def last(self, session: str) -> int:
        row = self._connection.fetch_one(_LAST, (session,))
        return 0 if row is None else row[0]

    def events(self, session: str, *, after: int, limit: int) -> Sequence[Happening]:
        return [_HAPPENINGS.thing(row) for row in self._connection.fetch_all(_READ, (session, after, limit))]

    def kept(self, session: str) -> int:
        row = self._connection.fetch_one(_KEPT, (session,))
        assert row is not None, "an aggregate always has its row"
        return row[0]

    def forget_events(self, session: str, until: int) -> int:
        return self._connection.execute(_FORGET, (session, until))

    def listeners(self) -> Sequence[str]:
        return [row[0] for row in self._connection.fetch_all(_SESSIONS)]

    def erase_events(self, session: str) -> int:
        self._connection.execute(_ERASE_CURSOR, (session,))
        return self._connection.execute(_ERASE, (session,))

    def purge_events(self, before: int, limit: int) -> int:
        rows = self._connection.fetch_all(_OLD, (before, limit))
        for row in rows:
            self._connection.execute(_FORGET_ONE, tuple(row))
        return len(rows)

    def _one(self, statement: Statement, values: Values) -> Surface | None:
        row = self._connection.fetch_one(statement, values)
        return None if row is None else _ROWS.thing(row)

    def _many(self, statement: Statement, values: Values = ()) -> Sequence[Surface]:
        return [_ROWS.thing(row) for row in self._connection.fetch_all(statement, values)]


def _named(talk: Talk) -> Values:
    return (talk.name, talk.agent, talk.user)
