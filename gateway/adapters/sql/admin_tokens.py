"""Admin tokens: what they may do, and their hashes."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, delete, select, update
from sqlmodel import Field

from gateway.adapters.sql.connection import Connection, Row, Values
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
from gateway.domain.admin_tokens import AdminScope, AdminToken


class AdminTokenRow(Model, table=True):
    __tablename__ = "admin_tokens"  # pyright: ignore[reportAssignmentType] -- declared as a function

    number: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    id: str = Field(unique=True, sa_type=TEXT)
    name: str = Field(sa_type=TEXT)
    token_hash: bytes = Field(unique=True, sa_type=BYTES)
    scopes: str = Field(sa_type=TEXT)
    created_at: int = Field(sa_type=NUMBER)
    expires_at: int = Field(sa_type=NUMBER)
    revoked_at: int | None = Field(sa_type=NUMBER)
    last_used_at: int | None = Field(sa_type=NUMBER)


TOKENS: Final = table_of(AdminTokenRow)
_T = TOKENS.c

_ADD: Final = Statement(insert_of(TOKENS, without=["number"]), *names_of(TOKENS, without=["number"]))
_SAVE: Final = Statement(
    replace_of(TOKENS, "id", without=["number"]), *names_of_replace(TOKENS, "id", without=["number"])
)
_FIND: Final = Statement(select(TOKENS).where(_T.id == value(_T.id)), "id")
_FIND_BY_TOKEN: Final = Statement(select(TOKENS).where(_T.token_hash == value(_T.token_hash)), "token_hash")
_USED: Final = Statement(
    update(TOKENS).values(last_used_at=value(_T.last_used_at)).where(_T.id == value(_T.id)), "last_used_at", "id"
)
_LIST: Final = Statement(select(TOKENS).order_by(_T.number))
_PURGE: Final = Statement(
    delete(TOKENS).where(
        _T.number.in_(
            select(_T.number)
            .where(
                (_T.expires_at < value(_T.expires_at, "expired_before"))
                | (_T.revoked_at < value(_T.revoked_at, "revoked_before"))
            )
            .order_by(_T.number)
            .limit(bindparam("limit", type_=NUMBER))
        )
    ),
    "expired_before",
    "revoked_before",
    "limit",
)


class SqlAdminTokens:
    """`AdminTokens` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, token: AdminToken) -> None:
        self._connection.write(_ADD, (token.id, *_values(token)))

    def find(self, token: str) -> AdminToken | None:
        row = self._connection.fetch_one(_FIND, (token,))
        return None if row is None else _token_of(row)

    def find_by_token(self, token_hash: bytes) -> AdminToken | None:
        row = self._connection.fetch_one(_FIND_BY_TOKEN, (token_hash,))
        return None if row is None else _token_of(row)

    def save(self, token: AdminToken) -> None:
        if not self._connection.execute(_SAVE, (*_values(token), token.id)):
            raise LookupError(f"no admin token `{token.id}`")

    def used(self, token: str, at: int) -> None:
        self._connection.write(_USED, (at, token))

    def list(self) -> Sequence[AdminToken]:
        return [_token_of(row) for row in self._connection.fetch_all(_LIST)]

    def purge(self, ended_before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (ended_before, ended_before, limit))


def _values(token: AdminToken) -> Values:
    return (
        token.name,
        token.token_hash,
        text_of_list(sorted(token.scopes)),
        token.created_at,
        token.expires_at,
        token.revoked_at,
        token.last_used_at,
    )


def _token_of(row: Row) -> AdminToken:
    _, token, name, token_hash, scopes, created_at, expires_at, revoked_at, last_used_at = row
    return AdminToken(
        id=token,
        name=name,
        token_hash=token_hash,
        scopes=frozenset(AdminScope(scope) for scope in list_of_text(scopes)),
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
        last_used_at=last_used_at,
    )
