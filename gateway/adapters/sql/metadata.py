"""The one collection of tables, and the four column types both databases agree on."""

from typing import Any, Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.types import TypeEngine
from sqlmodel import SQLModel

METADATA: Final = MetaData()

NUMBER: Final = BigInteger().with_variant(Integer, "sqlite")
"""Milliseconds and counters: 64 bits in both (SQLite's STRICT knows no BIGINT)."""

TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that both databases order by its bytes."""
BYTES: Final = LargeBinary()


class Model(SQLModel):
    """A row of a small table, described in one place; never leaves this package."""

    metadata = METADATA
    __table_args__ = {"sqlite_strict": True}


def table_of(model: type[Model]) -> Table:
    """The Core table behind a model, for compiled statements."""
    table: Table = getattr(model, "__table__")  # noqa: B009 -- SQLModel does not declare it
    return table


def key(name: str, kind: TypeEngine[Any], *rest: Any) -> Column[Any]:
    """A column of the primary key."""
    return Column(name, kind, *rest, primary_key=True, autoincrement=False)


def needed(name: str, kind: TypeEngine[Any], *rest: Any) -> Column[Any]:
    """A column that is never NULL."""
    return Column(name, kind, *rest, nullable=False)


def optional(name: str, kind: TypeEngine[Any], *rest: Any) -> Column[Any]:
    """A column that may be NULL."""
    return Column(name, kind, *rest, nullable=True)


def counter(name: str = "number") -> Column[Any]:
    """A primary key the database counts up: the order of insertion."""
    return Column(name, NUMBER, primary_key=True)
