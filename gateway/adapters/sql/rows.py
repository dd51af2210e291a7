"""Rows of the smaller tables as the frozen things they hold: one column for each field, named like it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from gateway.adapters.sql.connection import Connection, Row, Values
from gateway.adapters.sql.statements import Statement


class Frozen(Protocol):
    """A frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


T = TypeVar("T", bound=Frozen)

Word = type[StrEnum]


class Rows(Generic[T]):
    """Both ways between `kind` and its columns, in the order of its fields; `words` names its enumerations."""

    def __init__(self, kind: type[T], *, words: Mapping[str, Word] = {}, flags: tuple[str, ...] = ()) -> None:
        self._kind = kind
        self.names = tuple(field.name for field in fields(kind))
        self._read: list[tuple[str, Callable[[Any], Any]]] = [
            (name, words.get(name) or (bool if name in flags else _as_it_is)) for name in self.names
        ]

    def values(self, thing: T, *, without: str | None = None) -> Values:
        """What is written, without one column if asked."""
        return [_written(getattr(thing, name)) for name in self.names if name != without]

    def thing(self, row: Row) -> T:
        """What a row of exactly these columns says."""
        pairs = zip(self._read, row, strict=True)
        return self._kind(**{name: None if value is None else read(value) for (name, read), value in pairs})


class Reader(Generic[T]):
    """What a repository of one kind of thing reads with."""

    def __init__(self, connection: Connection, rows: Rows[T]) -> None:
        self._connection = connection
        self._rows = rows

    def _one(self, statement: Statement, *values: str | int | None) -> T | None:
        row = self._connection.fetch_one(statement, values)
        return None if row is None else self._rows.thing(row)

    def _many(self, statement: Statement, *values: str | int | None) -> Sequence[T]:
        return [self._rows.thing(row) for row in self._connection.fetch_all(statement, values)]

    def _first(self, statement: Statement) -> int | None:
        """The number in the only column of the only row, if there is one."""
        row = self._connection.fetch_one(statement)
        return None if row is None else row[0]


def _as_it_is(value: Any) -> Any:
    return value


def _written(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    return int(value) if isinstance(value, bool) else value
