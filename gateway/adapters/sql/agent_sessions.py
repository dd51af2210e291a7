"""Agent sessions: grants, and the hashes of their tokens."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Index, bindparam, delete, exists, select
from sqlmodel import Field

from gateway.adapters.sql.baselines import SqlBaselines
from gateway.adapters.sql.connection import Connection, Row, Values
from gateway.adapters.sql.ledger import CALLS
from gateway.adapters.sql.metadata import BYTES, NUMBER, TEXT, Model, table_of
from gateway.adapters.sql.statements import (
    Statement,
    insert_of,
    names_of,
    names_of_replace,
    replace_of,
    value,
)
from gateway.adapters.sql.texts import list_of_text, text_of_list
from gateway.domain.agent_sessions import AgentSession


class AgentSessionRow(Model, table=True):
    __tablename__ = "agent_sessions"  # pyright: ignore[reportAssignmentType] -- declared as a function

    number: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    id: str = Field(unique=True, sa_type=TEXT)
    agent: str = Field(sa_type=TEXT)
    user: str = Field(sa_type=TEXT)
    conversation: str = Field(sa_type=TEXT)
    sites: str = Field(sa_type=TEXT)
    scope: str = Field(sa_type=TEXT)
    token_hash: bytes = Field(unique=True, sa_type=BYTES)
    created_at: int = Field(sa_type=NUMBER)
    expires_at: int = Field(sa_type=NUMBER)
    revoked_at: int | None = Field(sa_type=NUMBER)
    page: str | None = Field(sa_type=TEXT)


SESSIONS: Final = table_of(AgentSessionRow)
_S = SESSIONS.c
Index("agent_sessions_expires", _S.expires_at)
Index("agent_sessions_revoked", _S.revoked_at)
Index("agent_sessions_conversation", _S.conversation, _S.user)

_ADD: Final = Statement(insert_of(SESSIONS, without=["number"]), *names_of(SESSIONS, without=["number"]))
_SAVE: Final = Statement(
    replace_of(SESSIONS, "id", without=["number"]), *names_of_replace(SESSIONS, "id", without=["number"])
)
_FIND: Final = Statement(select(SESSIONS).where(_S.id == value(_S.id)), "id")
_FIND_BY_TOKEN: Final = Statement(select(SESSIONS).where(_S.token_hash == value(_S.token_hash)), "token_hash")
_OF_CONVERSATION: Final = Statement(
    select(SESSIONS)
    .where(_S.conversation == value(_S.conversation), _S.user == value(_S.user), _S.revoked_at.is_(None))
    .order_by(_S.number.desc()),
    "conversation",
    "user",
)
_LIST: Final = Statement(select(SESSIONS).order_by(_S.number))
_EXPIRED: Final = Statement(
    select(SESSIONS).where(
        _S.expires_at > value(_S.expires_at, "after"),
        _S.expires_at <= value(_S.expires_at, "until"),
        _S.revoked_at.is_(None),
    ),
    "after",
    "until",
)
_PURGEABLE: Final = Statement(
    select(_S.number, _S.id)
    .where(
        (_S.expires_at < value(_S.expires_at, "expired_before"))
        | (_S.revoked_at < value(_S.revoked_at, "revoked_before")),
        ~exists().where(CALLS.c.session == _S.id),
    )
    .limit(bindparam("limit", type_=NUMBER)),
    "expired_before",
    "revoked_before",
    "limit",
)
_FORGET: Final = Statement(delete(SESSIONS).where(_S.number == value(_S.number)), "number")


class SqlAgentSessions:
    """`AgentSessions` on one connection."""

    def __init__(self, connection: Connection, baselines: SqlBaselines) -> None:
        self._connection = connection
        self._baselines = baselines

    def add(self, session: AgentSession) -> None:
        self._connection.write(_ADD, (session.id, *_values(session)))

    def find(self, session: str) -> AgentSession | None:
        row = self._connection.fetch_one(_FIND, (session,))
        return None if row is None else _session_of(row)

    def find_by_token(self, token_hash: bytes) -> AgentSession | None:
        row = self._connection.fetch_one(_FIND_BY_TOKEN, (token_hash,))
        return None if row is None else _session_of(row)

    def save(self, session: AgentSession) -> None:
        if not self._connection.execute(_SAVE, (*_values(session), session.id)):
            raise LookupError(f"no agent session `{session.id}`")

    def of_conversation(self, user: str, conversation: str) -> Sequence[AgentSession]:
        return [_session_of(row) for row in self._connection.fetch_all(_OF_CONVERSATION, (conversation, user))]

    def list(self) -> Sequence[AgentSession]:
        return [_session_of(row) for row in self._connection.fetch_all(_LIST)]

    def expired(self, after: int, until: int) -> Sequence[AgentSession]:
        return [_session_of(row) for row in self._connection.fetch_all(_EXPIRED, (after, until))]

    def purge(self, ended_before: int, limit: int) -> int:
        forgotten = 0
        for number, name in self._connection.fetch_all(_PURGEABLE, (ended_before, ended_before, limit)):
            self._baselines.drop(name)
            forgotten += self._connection.execute(_FORGET, (number,))
        return forgotten


def _values(session: AgentSession) -> Values:
    return (
        session.agent,
        session.user,
        session.conversation,
        text_of_list(session.sites),
        text_of_list(session.scope),
        session.token_hash,
        session.created_at,
        session.expires_at,
        session.revoked_at,
        session.page,
    )


def _session_of(row: Row) -> AgentSession:
    (
        _,
        name,
        agent,
        user,
        conversation,
        sites,
        scope,
        token_hash,
        created_at,
        expires_at,
        revoked_at,
        page,
    ) = row
    return AgentSession(
        id=name,
        agent=agent,
        user=user,
        conversation=conversation,
        sites=list_of_text(sites),
        scope=list_of_text(scope),
        token_hash=token_hash,
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
        page=page,
    )
