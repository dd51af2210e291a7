"""Constant SQL: SQLAlchemy Core, compiled once at import. Compiling per call costs ten times the call itself."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import BindParameter, Column, ColumnElement, Table, Update, bindparam, literal_column, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import Insert as Upsert
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.elements import CompilerElement

__all__ = [
    "EVERY",
    "LAST",
    "Statement",
    "Upsert",
    "any_of",
    "insert_many_of",
    "insert_of",
    "names_of",
    "names_of_any",
    "names_of_many",
    "names_of_replace",
    "one_of",
    "padded",
    "replace_of",
    "value",
]

T = TypeVar("T")

SQLITE: Final = sqlite.dialect(paramstyle="qmark")
POSTGRESQL: Final = psycopg.dialect(paramstyle="format")


LAST: Final = (2**62, "")
"""A place below which every row lies."""


class Statement:
    """One statement in every dialect, with the order in which its values go.

    `order` repeats that order where the statement is written, so that a reader of the call sees it and a
    change of the SQL that would reorder the values stops the import.
    """

    __slots__ = ("name", "postgresql", "sqlite")

    def __init__(self, core: Executable, *order: str) -> None:
        self.sqlite: Final = _text_of(core, SQLITE, "?", order)
        self.postgresql: Final = _numbered(_text_of(core, POSTGRESQL, "%s", order))
        self.name: Final = b"statement_%d" % len(EVERY)
        """What PostgreSQL prepares it as."""
        EVERY.append(self)


EVERY: Final[list[Statement]] = []
"""All statements of the imported modules."""


def value(column: Column[Any], name: str | None = None) -> BindParameter[Any]:
    """A value the caller gives, named like its column unless said otherwise."""
    return bindparam(name or column.name, type_=column.type)


def one_of(column: ColumnElement[Any], words: Iterable[str]) -> ColumnElement[bool]:
    """`column IN (…)` with the words in the text: a partial index serves only what it can read there."""
    return column.in_([literal_column(f"'{word}'") for word in sorted(words)])


def any_of(column: ColumnElement[Any], count: int) -> ColumnElement[bool]:
    """`column IN (?, …)` with `count` values the caller gives (`padded`); a constant text for a list of any length."""
    return column.in_([bindparam(name, type_=column.type) for name in names_of_any(count)])


def names_of_any(count: int) -> tuple[str, ...]:
    """The order of the values of `any_of`."""
    return tuple(f"any_{place}" for place in range(count))


def padded(values: Sequence[T], count: int) -> tuple[T, ...]:
    """One to `count` values, filled up with the last."""
    return (*values, *[values[-1]] * (count - len(values)))


def insert_of(table: Table, *, without: Iterable[str] = ()) -> Upsert:
    """An insert that takes the values of all columns in their order; both dialects read its conflict clauses."""
    left_out = frozenset(without)
    values = {column.name: value(column) for column in table.columns if column.name not in left_out}
    statement: Upsert = upsert(table).values(values)
    # Without this, PostgreSQL would send every new key back unasked.
    return statement.inline()


def names_of(table: Table, *, without: Iterable[str] = ()) -> tuple[str, ...]:
    """The order of the values of `insert_of`."""
    left_out = frozenset(without)
    return tuple(column.name for column in table.columns if column.name not in left_out)


def insert_many_of(table: Table, count: int, *, without: Iterable[str] = ()) -> Upsert:
    """`insert_of` for `count` rows at once, in their order."""
    left_out = frozenset(without)
    columns = [column for column in table.columns if column.name not in left_out]
    rows = [{column.name: value(column, f"{column.name}_{place}") for column in columns} for place in range(count)]
    statement: Upsert = upsert(table).values(rows)
    return statement.inline()


def names_of_many(table: Table, count: int, *, without: Iterable[str] = ()) -> tuple[str, ...]:
    """The order of the values of `insert_many_of`."""
    names = names_of(table, without=without)
    return tuple(f"{name}_{place}" for place in range(count) for name in names)


def replace_of(table: Table, name: str, *, without: Iterable[str] = ()) -> Update:
    """Replace all other columns of the row whose column `name` equals the last value (called `which`)."""
    others = names_of(table, without=[name, *without])
    columns = table.columns
    return (
        update(table)
        .values({other: value(columns[other], f"new_{other}") for other in others})
        .where(columns[name] == value(columns[name], "which"))
    )


def names_of_replace(table: Table, name: str, *, without: Iterable[str] = ()) -> tuple[str, ...]:
    """The order of the values of `replace_of`."""
    return (*(f"new_{other}" for other in names_of(table, without=[name, *without])), "which")


def _text_of(core: Executable, dialect: Dialect, mark: str, order: tuple[str, ...]) -> str:
    assert isinstance(core, CompilerElement)
    compiled: Any = core.compile(dialect=dialect)
    names: list[str] = compiled.positiontup or []
    pieces = str(compiled).split(mark)
    if len(pieces) != len(names) + 1:
        raise ValueError(f"`{mark}` is not only a mark in {compiled}")
    text, taken = pieces[0], list[str]()
    for name, piece in zip(names, pieces[1:], strict=True):
        constant = compiled.params[name]
        if constant is None:
            taken.append(name)
        text += (mark if constant is None else _literal(constant)) + piece
    if tuple(taken) != order:
        raise ValueError(f"values go as {taken}, not as {list(order)}: {compiled}")
    return " ".join(text.split())


def _numbered(text: str) -> str:
    """Marks as PostgreSQL itself writes them: `$1`, `$2`, …"""
    first, *rest = text.split("%s")
    return first + "".join(f"${number}{piece}" for number, piece in enumerate(rest, start=1))


def _literal(constant: object) -> str:
    if isinstance(constant, int):
        return str(int(constant))
    raise ValueError(f"constant `{constant!r}`: only whole numbers are written into a statement")
