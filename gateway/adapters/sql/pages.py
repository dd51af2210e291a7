"""Page sessions: the standing of each tab."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Index, bindparam, delete, exists, select, tuple_, update
from sqlmodel import Field

from gateway.adapters.sql.connection import Connection, Row, Values
from gateway.adapters.sql.ledger import CALLS, IS_OPEN
from gateway.adapters.sql.metadata import BYTES, NUMBER, TEXT, Model, table_of
from gateway.adapters.sql.statements import (
    LAST,
    Statement,
    insert_of,
    names_of,
    names_of_replace,
    replace_of,
    value,
)
from gateway.adapters.sql.texts import list_of_text, text_of_list
from gateway.domain.lists import Place
from gateway.domain.pages import PageSession


class PageSessionRow(Model, table=True):
    __tablename__ = "page_sessions"  # pyright: ignore[reportAssignmentType] -- declared as a function

    id: str = Field(primary_key=True, sa_type=TEXT)
    site: str = Field(sa_type=TEXT)
    user: str = Field(sa_type=TEXT)
    origin: str = Field(sa_type=TEXT)
    resume_hash: bytes = Field(sa_type=BYTES)
    document: str = Field(sa_type=TEXT)
    epoch: int = Field(sa_type=NUMBER)
    capabilities: str = Field(sa_type=TEXT)
    created_at: int = Field(sa_type=NUMBER)
    seen_at: int = Field(sa_type=NUMBER)
    standing_until: int = Field(sa_type=NUMBER)
    pinned_at: int | None = Field(sa_type=NUMBER)
    ended_at: int | None = Field(sa_type=NUMBER)
    resume_before: bytes | None = Field(sa_type=BYTES)


PAGES: Final = table_of(PageSessionRow)
_P = PAGES.c
_IS_PINNED = _P.pinned_at.is_not(None)
Index("page_sessions_created", _P.created_at, _P.id)
Index("page_sessions_standing", _P.standing_until)
Index("page_sessions_pinned", _P.user, _P.site, sqlite_where=_IS_PINNED, postgresql_where=_IS_PINNED)

_ADD: Final = Statement(insert_of(PAGES), *names_of(PAGES))
_SAVE: Final = Statement(replace_of(PAGES, "id"), *names_of_replace(PAGES, "id"))
_FIND: Final = Statement(select(PAGES).where(_P.id == value(_P.id)), "id")
_PAGE: Final = Statement(
    select(PAGES)
    .where(tuple_(_P.created_at, _P.id) < tuple_(value(_P.created_at, "at"), value(_P.id, "below")))
    .order_by(_P.created_at.desc(), _P.id.desc())
    .limit(bindparam("limit", type_=NUMBER)),
    "at",
    "below",
    "limit",
)
_PINNED: Final = Statement(
    select(PAGES)
    .where(_IS_PINNED, _P.ended_at.is_(None), _P.user == value(_P.user), _P.site == value(_P.site))
    .order_by(_P.pinned_at.desc(), _P.id.desc())
    .limit(1),
    "user",
    "site",
)
_PURGE: Final = Statement(
    delete(PAGES).where(
        _P.id.in_(
            select(_P.id)
            .where(
                _P.standing_until < value(_P.standing_until, "before"),
                ~exists().where(CALLS.c.page == _P.id, IS_OPEN),
            )
            .order_by(_P.standing_until)
            .limit(bindparam("limit", type_=NUMBER))
        )
    ),
    "before",
    "limit",
)
_END_ALL: Final = Statement(
    update(PAGES).values(ended_at=value(_P.ended_at)).where(_P.ended_at.is_(None)), "ended_at"
)


class SqlPageSessions:
    """`PageSessions` on one connection. An ended page is pinned no more, whatever its row says."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, page: PageSession) -> None:
        self._connection.write(_ADD, (page.id, *_values(page)))

    def find(self, page: str) -> PageSession | None:
        row = self._connection.fetch_one(_FIND, (page,))
        return None if row is None else _page_of(row)

    def save(self, page: PageSession) -> None:
        if not self._connection.execute(_SAVE, (*_values(page), page.id)):
            raise LookupError(f"no page session `{page.id}`")

    def page(self, *, below: Place | None, limit: int) -> Sequence[PageSession]:
        return [_page_of(row) for row in self._connection.fetch_all(_PAGE, (*(below or LAST), limit))]

    def pinned(self, user: str, site: str) -> PageSession | None:
        row = self._connection.fetch_one(_PINNED, (user, site))
        return None if row is None else _page_of(row)

    def end_all(self, at: int) -> int:
        return self._connection.execute(_END_ALL, (at,))

    def purge(self, before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (before, limit))


def _values(page: PageSession) -> Values:
    return (
        page.site,
        page.user,
        page.origin,
        page.resume_hash,
        page.document,
        page.epoch,
        text_of_list(page.capabilities),
        page.created_at,
        page.seen_at,
        page.standing_until,
        page.pinned_at,
        page.ended_at,
        page.resume_before,
    )


def _page_of(row: Row) -> PageSession:
    (
        name,
        site,
        user,
        origin,
        resume_hash,
        document,
        epoch,
        capabilities,
        created_at,
        seen_at,
        standing_until,
        pinned_at,
        ended_at,
        resume_before,
    ) = row
    return PageSession(
        id=name,
        site=site,
        user=user,
        origin=origin,
        resume_hash=resume_hash,
        document=document,
        epoch=epoch,
        capabilities=list_of_text(capabilities),
        created_at=created_at,
        seen_at=seen_at,
        standing_until=standing_until,
        pinned_at=pinned_at,
        ended_at=ended_at,
        resume_before=resume_before,
    )
