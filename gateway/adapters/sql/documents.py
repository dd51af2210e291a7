"""Documents that agents show, with their snapshots, the frames that were taken, and what people asked for in them."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import CheckConstraint, Index, Table, bindparam, delete, func, select

from gateway.adapters.sql.connection import Connection, Values
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
from gateway.domain.documents import DocumentAction, DocumentState, ShownDocument
from gateway.runtime.ports import DuplicateKey, StaleState

DOCUMENTS: Final = Table(
    "documents",
    METADATA,
    key("id", TEXT),
    needed("call", TEXT),
    needed("session", TEXT),
    needed("agent", TEXT),
    needed("user", TEXT),
    needed("conversation", TEXT),
    needed("site", TEXT),
    needed("kind", TEXT),
    needed("state", TEXT),
    needed("epoch", NUMBER),
    needed("seq", NUMBER),
    needed("revision", NUMBER),
    needed("frames", NUMBER),
    needed("size", NUMBER),
    needed("sha256", TEXT),
    needed("options", TEXT),
    needed("opened_at", NUMBER),
    optional("closed_at", NUMBER),
    optional("reason", TEXT),
    sqlite_strict=True,
)
_D = DOCUMENTS.c
_ROWS: Final = Rows(ShownDocument, words={"state": DocumentState})
_IS_LIVE = one_of(_D.state, [state for state in DocumentState if state is not DocumentState.CLOSED])
DOCUMENTS.append_constraint(CheckConstraint(one_of(_D.state, DocumentState), name="documents_state"))
Index("documents_of_person", _D.user, _D.site, sqlite_where=_IS_LIVE, postgresql_where=_IS_LIVE)
Index("documents_of_session", _D.session, sqlite_where=_IS_LIVE, postgresql_where=_IS_LIVE)
Index("documents_closed", _D.closed_at)

# A snapshot may be large, and its row is written with every frame.
SNAPSHOTS: Final = Table(
    "document_snapshots",
    METADATA,
    key("document", TEXT),
    needed("content", TEXT),
    sqlite_strict=True,
)
FRAMES: Final = Table(
    "document_frames",
    METADATA,
    key("document", TEXT),
    key("seq", NUMBER),
    needed("call", TEXT),
    needed("digest", TEXT),
    sqlite_strict=True,
)
ACTIONS: Final = Table(
    "document_actions",
    METADATA,
    key("call", TEXT),
    needed("document", TEXT),
    needed("session", TEXT),
    needed("request", TEXT),
    needed("action", TEXT),
    needed("entry", TEXT),
    needed("input", TEXT),
    needed("at", NUMBER),
    sqlite_strict=True,
)
_A = ACTIONS.c
_ACTIONS: Final = Rows(DocumentAction)
Index("document_actions_request", _A.document, _A.request, unique=True)
Index("document_actions_of_session", _A.session)

_LIMIT = bindparam("limit", type_=NUMBER)
_ADD: Final = Statement(insert_of(DOCUMENTS).on_conflict_do_nothing(), *names_of(DOCUMENTS))
_SAVE: Final = Statement(
    replace_of(DOCUMENTS, "id").where(
        _D.state == value(_D.state, "was_state"),
        _D.seq == value(_D.seq, "was_seq"),
        _D.revision == value(_D.revision, "was_revision"),
    ),
    *names_of_replace(DOCUMENTS, "id"),
    "was_state",
    "was_seq",
    "was_revision",
)
_FIND: Final = Statement(select(DOCUMENTS).where(_D.id == value(_D.id)), "id")
_IN_ORDER = select(DOCUMENTS).where(_IS_LIVE).order_by(_D.opened_at, _D.id)
_OF_PERSON: Final = Statement(_IN_ORDER.where(_D.user == value(_D.user), _D.site == value(_D.site)), "user", "site")
_OF_SESSION: Final = Statement(_IN_ORDER.where(_D.session == value(_D.session)), "session")
_ALL: Final = Statement(_IN_ORDER)
_COUNT: Final = Statement(select(func.count()).select_from(DOCUMENTS).where(_IS_LIVE))
_PURGE: Final = Statement(
    delete(DOCUMENTS).where(
        _D.id.in_(
            select(_D.id)
            .where(_D.closed_at < value(_D.closed_at, "closed_before"))
            .order_by(_D.closed_at)
            .limit(_LIMIT)
        )
    ),
    "closed_before",
    "limit",
)

_S = SNAPSHOTS.c
_INSERT = insert_of(SNAPSHOTS)
_PUT: Final = Statement(
    _INSERT.on_conflict_do_update(index_elements=[_S.document], set_={"content": _INSERT.excluded.content}),
    "document",
    "content",
)
_CONTENT: Final = Statement(select(_S.content).where(_S.document == value(_S.document)), "document")
_ERASE: Final = Statement(delete(SNAPSHOTS).where(_S.document == value(_S.document)), "document")

_F = FRAMES.c
_ADD_FRAME: Final = Statement(insert_of(FRAMES), *names_of(FRAMES))
_DIGESTS: Final = Statement(
    select(_F.seq, _F.digest).where(_F.document == value(_F.document)).order_by(_F.seq), "document"
)
_ERASE_FRAMES: Final = Statement(delete(FRAMES).where(_F.document == value(_F.document)), "document")

_ADD_ACTION: Final = Statement(insert_of(ACTIONS).on_conflict_do_nothing(), *names_of(ACTIONS))
_ACTION: Final = Statement(
    select(ACTIONS).where(_A.document == value(_A.document), _A.request == value(_A.request)), "document", "request"
)
_OF_CALL: Final = Statement(select(ACTIONS).where(_A.call == value(_A.call)), "call")
_OF_DOCUMENT: Final = Statement(
    select(ACTIONS).where(_A.document == value(_A.document)).order_by(_A.at, _A.call), "document"
)
_ALL_ACTIONS: Final = Statement(select(func.count()).select_from(ACTIONS))
_ACTIONS_OF: Final = Statement(
    select(func.count()).select_from(ACTIONS).where(_A.session == value(_A.session)), "session"
)
_ERASE_ACTIONS: Final = Statement(delete(ACTIONS).where(_A.document == value(_A.document)), "document")


class SqlDocuments(Reader[ShownDocument]):
    """`Documents` on one connection."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _ROWS)

    def add(self, document: ShownDocument, content: str) -> None:
        if not self._connection.execute(_ADD, _ROWS.values(document)):
            raise DuplicateKey(f"document `{document.id}` is there")
        self._connection.write(_PUT, (document.id, content))

    def save(self, document: ShownDocument, *, was: ShownDocument, content: str | None = None) -> None:
        held = (was.state.value, was.seq, was.revision)
        if not self._connection.execute(_SAVE, (*_ROWS.values(document, without="id"), document.id, *held)):
            raise StaleState(f"document `{document.id}` is not as it was")
        if content is not None:
            self._connection.write(_PUT, (document.id, content))
        if not document.is_live:
            for erase in (_ERASE, _ERASE_FRAMES, _ERASE_ACTIONS):
                self._connection.write(erase, (document.id,))

    def find(self, document: str) -> ShownDocument | None:
        return self._one(_FIND, document)

    def content_of(self, document: str) -> str | None:
        row = self._connection.fetch_one(_CONTENT, (document,))
        return None if row is None else row[0]

    def live_of_person(self, user: str, site: str) -> Sequence[ShownDocument]:
        return self._many(_OF_PERSON, user, site)

    def live_of_session(self, session: str) -> Sequence[ShownDocument]:
        return self._many(_OF_SESSION, session)

    def all_live(self) -> Sequence[ShownDocument]:
        return self._many(_ALL)

    def count_live(self) -> int:
        return self._count(_COUNT)

    def purge(self, closed_before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (closed_before, limit))

    def add_frame(self, document: str, seq: int, *, call: str, digest: str) -> None:
        self._connection.write(_ADD_FRAME, (document, seq, call, digest))

    def digests_of(self, document: str) -> Mapping[int, str]:
        return {row[0]: row[1] for row in self._connection.fetch_all(_DIGESTS, (document,))}

    def add_action(self, action: DocumentAction) -> None:
        if not self._connection.execute(_ADD_ACTION, _ACTIONS.values(action)):
            raise DuplicateKey(f"request `{action.request}` of document `{action.document}` is there")

    def find_action(self, document: str, request: str) -> DocumentAction | None:
        return next(iter(self._actions(_ACTION, document, request)), None)

    def action_of_call(self, call: str) -> DocumentAction | None:
        return next(iter(self._actions(_OF_CALL, call)), None)

    def actions_of(self, document: str) -> Sequence[DocumentAction]:
        return self._actions(_OF_DOCUMENT, document)

    def count_actions(self, session: str | None = None) -> int:
        return self._count(_ALL_ACTIONS) if session is None else self._count(_ACTIONS_OF, (session,))

    def _actions(self, statement: Statement, *values: str) -> Sequence[DocumentAction]:
        return [_ACTIONS.thing(row) for row in self._connection.fetch_all(statement, values)]

    def _count(self, statement: Statement, values: Values = ()) -> int:
        row = self._connection.fetch_one(statement, values)
        assert row is not None, "an aggregate always has its row"
        return row[0]
