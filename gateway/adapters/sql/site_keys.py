"""Keys of site backends; only the hashes of their secrets."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam, delete, select
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
from gateway.domain.sites import SiteKey


class SiteKeyRow(Model, table=True):
    __tablename__ = "site_keys"  # pyright: ignore[reportAssignmentType] -- declared as a function

    number: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    id: str = Field(unique=True, sa_type=TEXT)
    site: str = Field(sa_type=TEXT)
    secret_hash: bytes = Field(sa_type=BYTES)
    capabilities: str = Field(sa_type=TEXT)
    created_at: int = Field(sa_type=NUMBER)
    expires_at: int = Field(sa_type=NUMBER)
    revoked_at: int | None = Field(sa_type=NUMBER)


KEYS: Final = table_of(SiteKeyRow)
_K = KEYS.c

_ADD: Final = Statement(insert_of(KEYS, without=["number"]), *names_of(KEYS, without=["number"]))
_SAVE: Final = Statement(
    replace_of(KEYS, "id", without=["number"]), *names_of_replace(KEYS, "id", without=["number"])
)
_FIND: Final = Statement(select(KEYS).where(_K.id == value(_K.id)), "id")
_LIST: Final = Statement(select(KEYS).order_by(_K.number))
_PURGE: Final = Statement(
    delete(KEYS).where(
        _K.number.in_(
            select(_K.number)
            .where(
                (_K.expires_at < value(_K.expires_at, "expired_before"))
                | (_K.revoked_at < value(_K.revoked_at, "revoked_before"))
            )
            .order_by(_K.number)
            .limit(bindparam("limit", type_=NUMBER))
        )
    ),
    "expired_before",
    "revoked_before",
    "limit",
)


class SqlSiteKeys:
    """`SiteKeys` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, key: SiteKey) -> None:
        self._connection.write(_ADD, (key.id, *_values(key)))

    def find(self, key: str) -> SiteKey | None:
        row = self._connection.fetch_one(_FIND, (key,))
        return None if row is None else _key_of(row)

    def save(self, key: SiteKey) -> None:
        if not self._connection.execute(_SAVE, (*_values(key), key.id)):
            raise LookupError(f"no site key `{key.id}`")

    def list(self) -> Sequence[SiteKey]:
        return [_key_of(row) for row in self._connection.fetch_all(_LIST)]

    def purge(self, ended_before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (ended_before, ended_before, limit))


def _values(key: SiteKey) -> Values:
    return (
        key.site,
        key.secret_hash,
        text_of_list(key.capabilities),
        key.created_at,
        key.expires_at,
        key.revoked_at,
    )


def _key_of(row: Row) -> SiteKey:
    _, name, site, secret_hash, capabilities, created_at, expires_at, revoked_at = row
    return SiteKey(
        id=name,
        site=site,
        secret_hash=secret_hash,
        capabilities=list_of_text(capabilities),
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
    )
