"""The exact scanner: reads one character after another, keeps count, and stops at the first fault (`table`, phase 1).

Text and objects are read by the same bookkeeping, so both find the same faults in the same order. It uses no
recursion. It is ten times slower than the native reader and runs only where that one doubts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

from surface_host.documents.codes import DocumentCode, Refused, refused
from surface_host.documents.pointers import pointer_to, units
from surface_host.documents.table import LIMITS, RESERVED_KEYS

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STARTS: Final = frozenset('"{[-0123456789tfn')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERAL_TEXT: Final = re.compile(r'[^"\\\x00-\x1f]*')
_HEX: Final = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: Final = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


# ---- bookkeeping -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """A container that is being read."""

    made: dict[str, Any] | list[Any]
    key: str = ""

    @property
    def here(self) -> str | int:
        """The key or index of the item that is being read."""
        return self.key if isinstance(self.made, dict) else len(self.made)

    def put(self, item: Any) -> None:
        """Take a finished item."""
        if isinstance(self.made, dict):
            self.made[self.key] = item
        else:
            self.made.append(item)


@dataclass(slots=True)
class _Account:
    """What was counted so far, and where the reader stands."""

    open: list[_Open] = field(default_factory=list[_Open])
    values: int = 0

    def fault(self, code: DocumentCode, *, above: bool = False) -> Refused:
        """The refusal at the present value, or at the container that holds it."""
        path = [container.here for container in self.open]
        return refused(code, pointer_to(path[:-1] if above else path))

    def begin(self, *, container: bool) -> None:
        """A value begins here."""
        within = self.open[-1].made if self.open else None
        if isinstance(within, list) and len(within) >= LIMITS["items"]:
            raise self.fault(DocumentCode.TOO_MANY_ITEMS, above=True)
        self.values += 1
        if self.values > LIMITS["values"]:
            raise self.fault(DocumentCode.TOO_MANY_VALUES)
        if container and len(self.open) > LIMITS["depth"]:
            raise self.fault(DocumentCode.TOO_DEEP)

    def text(self, text: str, *, key: bool = False) -> None:
        """Judge a whole string."""
        if _SURROGATE.search(text):
            raise self.fault(DocumentCode.LONE_SURROGATE, above=key)
        if units(text) > LIMITS["string"]:
            raise self.fault(DocumentCode.STRING_TOO_LONG, above=key)

    def key(self, key: str) -> None:
        """A key of the innermost object was read."""
        self.text(key, key=True)
        top = self.open[-1]
        top.key = key
        if key in RESERVED_KEYS:
            raise self.fault(DocumentCode.RESERVED_KEY)
        if key in top.made:
            raise self.fault(DocumentCode.DUPLICATE_KEY)
        if len(top.made) >= LIMITS["keys"]:
            raise self.fault(DocumentCode.TOO_MANY_KEYS, above=True)

    def number(self, value: float) -> int | float:
        """Judge a number by its double."""
        if not -LIMITS["integer"] <= value <= LIMITS["integer"]:
            raise self.fault(DocumentCode.NUMBER_RANGE)
        return int(value) if value.is_integer() else value


# ---- text --------------------------------------------------------------------------------------------------------


def read_text(text: str) -> Any:
    """The value of one JSON text.

    Raises:
        Refused: the first fault.
    """
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._account = _Account()

    def read(self) -> Any:
        open_ = self._account.open
        value = self._value()
        while True:
            # Here a value has just been read; a container is only open yet.
            if isinstance(value, _Open):
                open_.append(value)
                if self._next() != ("}" if isinstance(value.made, dict) else "]"):
                    value = self._item()
                    continue
                self._at += 1
                value = open_.pop().made
            if not open_:
                break
            open_[-1].put(value)
            value = self._behind_item()
        if self._next():
            raise self._bad()
        return value

    def _behind_item(self) -> Any:
        """The next item of the innermost container, or the container itself where it ends."""
        top = self._account.open[-1]
        mark = self._next()
        if mark not in (",", "}" if isinstance(top.made, dict) else "]"):
            raise self._bad()
        self._at += 1
        if mark == ",":
            return self._item()
        return self._account.open.pop().made

    def _item(self) -> Any:
        if isinstance(self._account.open[-1].made, dict):
            if self._next() != '"':
                raise self._bad()
            self._account.key(self._string())
            if self._next() != ":":
                raise self._bad()
            self._at += 1
        return self._value()

    def _value(self) -> Any:
        first = self._next()
        if first not in _STARTS:
            raise self._bad()
        self._account.begin(container=first in "{[")
        if first in "{[":
            self._at += 1
            return _Open({} if first == "{" else [])
        if first == '"':
            text = self._string()
            self._account.text(text)
            return text
        return self._word(first) if first in _WORDS else self._number()

    def _word(self, first: str) -> Any:
        word, value = _WORDS[first]
        if not self._text.startswith(word, self._at):
            raise self._bad()
        self._at += len(word)
        return value

    def _number(self) -> int | float:
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            raise self._bad()
        self._at = found.end()
        return self._account.number(float(found[0]))

    def _string(self) -> str:
        pieces: list[str] = []
        self._at += 1
        while True:
            found = _LITERAL_TEXT.match(self._text, self._at)
            assert found is not None
            pieces.append(found[0])
            self._at = found.end()
            mark = self._text[self._at : self._at + 1]
            self._at += 1
            if mark == '"':
                # Two escapes may make one character.
                return _PAIR.sub(
                    lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), "".join(pieces)
                )
            if mark != "\\":
                raise self._bad()
            pieces.append(self._escaped())

    def _escaped(self) -> str:
        mark = self._text[self._at : self._at + 1]
        self._at += 1
        if mark in _ESCAPES:
            return _ESCAPES[mark]
        digits = _HEX.match(self._text, self._at) if mark == "u" else None
        if digits is None:
            raise self._bad()
        self._at = digits.end()
        return chr(int(digits[0], 16))

    def _next(self) -> str:
        """The next character that is not space, or nothing at the end."""
        found = _SPACE.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        return self._text[self._at : self._at + 1]

    def _bad(self) -> Refused:
        return refused(DocumentCode.BAD_JSON, "", f"the text is not JSON at character {self._at}")


# ---- objects -----------------------------------------------------------------------------------------------------


def read_value(value: object) -> Any:
    """A copy of plain JSON; floats that are whole become ints.

    Raises:
        Refused: the first fault.
    """
    account = _Account()
    seen: set[int] = set()
    pending: list[Iterator[Any]] = []
    made = _taken(account, value, seen, pending)
    while True:
        if isinstance(made, _Open):
            account.open.append(made)
        elif not account.open:
            return made
        else:
            account.open[-1].put(made)
        top = account.open[-1]
        try:
            item = next(pending[-1])
        except StopIteration:
            pending.pop()
            made = account.open.pop().made
            continue
        if isinstance(top.made, dict):
            key, item = item
            if type(key) is not str:
                raise account.fault(DocumentCode.NOT_JSON, above=True)
            account.key(key)
        made = _taken(account, item, seen, pending)


def _taken(account: _Account, value: object, seen: set[int], pending: list[Iterator[Any]]) -> Any:
    kind = type(value)
    is_container = kind is dict or kind is list
    account.begin(container=is_container)
    if is_container:
        if id(value) in seen:
            raise account.fault(DocumentCode.NOT_JSON)
        seen.add(id(value))
        if kind is dict:
            pending.append(iter(cast("dict[Any, Any]", value).items()))
            return _Open({})
        pending.append(iter(cast("list[Any]", value)))
        return _Open([])
    if kind is str:
        account.text(cast("str", value))
    elif kind is int or kind is float:
        return _number_of(account, cast("float", value))
    elif value is not None and kind is not bool:
        raise account.fault(DocumentCode.NOT_JSON)
    return value


def _number_of(account: _Account, value: float) -> int | float:
    # Compared before it becomes a double: no int is too large for that.
    if not -LIMITS["integer"] <= value <= LIMITS["integer"]:
        raise account.fault(DocumentCode.NUMBER_RANGE)
    return account.number(float(value))
