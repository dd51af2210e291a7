"""Typed access to one mapping of the file. Each reader notes what is wrong and goes on with a harmless value."""

import difflib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final, TypeVar

from gateway.adapters.configuration.keys import KEYS
from gateway.adapters.configuration.nodes import Entries, Entry, Items, Node, Scalar
from gateway.adapters.configuration.problems import Mark, Problems
from gateway.adapters.configuration.values import Judge, Refused, printable

W = TypeVar("W", bound=StrEnum)

_SHAPE: Final = {Items: "a list", Entries: "a mapping"}
_LISTED: Final = 9
_KIND: Final = {bool: "`true` or `false`", int: "a whole number", str: "a text"}


class Fields:
    """One mapping being read. Keys that `section` does not know are refused at once."""

    def __init__(self, node: Node, at: str, section: str, problems: Problems, mark: Mark | None = None) -> None:
        self.mark = mark or node.mark
        self.at = at
        self._section = section
        self._problems = problems
        self._entries: Mapping[str, Entry] = node.by_key if isinstance(node, Entries) else {}
        self._is_whole = isinstance(node, Entries)
        if not self._is_whole:
            self.refuse(node.mark, at, f"`{at}` is {said(node)}, not a mapping", f"its keys are {_listed(section)}")
        for entry in self._entries.values():
            if entry.key not in KEYS[section]:
                self._refuse_key(entry)

    def refuse(self, mark: Mark, key: str, message: str, hint: str = "") -> None:
        """Note a problem."""
        self._problems.add(mark, key, message, hint)

    def has(self, key: str) -> bool:
        """Whether `key` was written."""
        return key in self._entries

    def is_word(self, key: str, word: str) -> bool:
        """Whether the value of `key` is exactly this word, unquoted or not."""
        entry = self._entries.get(key)
        return entry is not None and isinstance(entry.node, Scalar) and entry.node.text == word

    def where(self, key: str) -> Mark:
        """Where the value of `key` stands, or the section if it was not written."""
        entry = self._entries.get(key)
        return self.mark if entry is None else entry.node.mark

    def flag(self, key: str, default: bool) -> bool:
        """`true` or `false`."""
        value = self._scalar(key, bool)
        return value if isinstance(value, bool) else default

    def number(self, key: str, default: int, low: int, high: int, *, required: bool = False) -> int:
        """A whole number from `low` to `high`."""
        value = self._scalar(key, int, required=required)
        if not isinstance(value, int):
            return default
        if not low <= value <= high:
            bounds = f"is not {low}" if low == high else f"is not between {low} and {high}"
            self.refuse(self.where(key), self._path(key), f"`{self._path(key)}: {value}` {bounds}")
            return default
        return value

    def text(self, key: str, judge: Judge, default: str = "", *, required: bool = False) -> str:
        """A text `judge` lets pass."""
        value = self._scalar(key, str, required=required)
        if not isinstance(value, str):
            return default
        return self._judged(value, judge, self.where(key), self._path(key)) or default

    def word(self, key: str, words: type[W], *, required: bool = False) -> W | None:
        """One of a closed set of words."""
        value = self._scalar(key, str, required=required)
        if not isinstance(value, str):
            return None
        if value not in list(words):
            choice = ", ".join(f"`{word}`" for word in words)
            self.refuse(self.where(key), self._path(key), f"`{self._path(key)}: {value}` is not one of {choice}")
            return None
        return words(value)

    def texts(self, key: str, judge: Judge, *, required: bool = False, some: bool = False) -> tuple[str, ...]:
        """A list of different texts `judge` lets pass; `some` refuses an empty one."""
        seen: dict[str, Mark] = {}
        for at, node in self.items(key, required=required, some=some):
            value = self._expect(node, str, at)
            if isinstance(value, str) and (judged := self._judged(value, judge, node.mark, at)):
                self.once(seen, judged, node.mark, at)
        return tuple(seen)

    def once(self, seen: dict[str, Mark], value: str, mark: Mark, at: str) -> bool:
        """Remember `value`; False, and a problem, when it was there before."""
        if value in seen:
            self.refuse(mark, at, f"`{value}` stands here a second time; the first is on line {seen[value].line}")
            return False
        seen[value] = mark
        return True

    def items(self, key: str, *, required: bool = False, some: bool = False) -> Iterator[tuple[str, Node]]:
        """The entries of a list, each with its path."""
        path, entry = self._path(key), self._find(key, required=required)
        if entry is None:
            return
        node = entry.node
        if isinstance(node, Items):
            if some and not node.nodes:
                self.refuse(
                    node.mark, path, f"`{path}` is empty, so this says nothing", "name something, or remove it"
                )
            yield from ((f"{path}[{index}]", item) for index, item in enumerate(node.nodes))
        elif isinstance(node, Scalar) and node.value is None:
            self.refuse(node.mark, path, f"`{path}` has no value", "write `[]` for an empty list")
        else:
            hint = f"write `{key}: [{node.text}]`" if isinstance(node, Scalar) else "write `[a, b]`"
            self.refuse(node.mark, path, f"`{path}` is {said(node)}, not a list", hint)

    def within(self, key: str, section: str) -> "Fields | None":
        """A mapping with fixed keys; None when it was not written."""
        entry = self._find(key)
        if entry is None:
            return None
        return Fields(entry.node, self._path(key), section, self._problems, entry.mark)

    def named(self, key: str, section: str, judge: Judge) -> Iterator[tuple[str, "Fields"]]:
        """A mapping whose keys are names, each with a mapping of fixed keys."""
        entry = self._find(key)
        if entry is None:
            return
        path = self._path(key)
        if not isinstance(entry.node, Entries):
            hint = "write `{}` for none"
            self.refuse(entry.node.mark, path, f"`{path}` is {said(entry.node)}, not a mapping of names", hint)
            return
        for one in entry.node.by_key.values():
            at = f"{path}.{one.key}"
            self._judged(one.key, judge, one.mark, at)
            yield one.key, Fields(one.node, at, section, self._problems, one.mark)

    def entry(self, node: Node, at: str, section: str) -> "Fields":
        """A mapping with fixed keys inside a list."""
        return Fields(node, at, section, self._problems)

    def text_of(self, node: Node, at: str, judge: Judge) -> str:
        """A text inside a list; empty when it is refused."""
        value = self._expect(node, str, at)
        return self._judged(value, judge, node.mark, at) if isinstance(value, str) else ""

    def _path(self, key: str) -> str:
        return f"{self.at}.{key}" if self.at else key

    def _find(self, key: str, *, required: bool = False) -> Entry | None:
        entry = self._entries.get(key)
        if entry is None and required and self._is_whole:
            where = f"`{self.at}`" if self.at else "the file"
            self.refuse(self.mark, self._path(key), f"{where} lacks `{key}`")
        return entry

    def _scalar(self, key: str, kind: type, *, required: bool = False) -> str | bool | int | None:
        entry = self._find(key, required=required)
        return None if entry is None else self._expect(entry.node, kind, self._path(key))

    def _expect(self, node: Node, kind: type, at: str) -> str | bool | int | None:
        value = node.value if isinstance(node, Scalar) else None
        if value.__class__ is kind:
            return value
        hint = ""
        if isinstance(node, Scalar) and value is None:
            message = f"`{at}` has no value"
            hint = f'write {_KIND[kind]}, or remove the key; the word itself is "{node.text}"' if node.text else ""
            hint = hint or f"write {_KIND[kind]}, or remove it"
        else:
            message = f"`{at}` is {said(node)}, not {_KIND[kind]}"
            if kind is str and isinstance(node, Scalar):
                hint = f'as a text it is written "{node.text}"'
        self.refuse(node.mark, at, message, hint)
        return None

    def _judged(self, value: str, judge: Judge, mark: Mark, at: str) -> str:
        if not value.strip():
            self.refuse(mark, at, f"`{at}` is blank")
        elif value != value.strip():
            self.refuse(mark, at, f"`{at}` begins or ends with white space")
        else:
            try:
                return judge(printable(value))
            except Refused as refused:
                self.refuse(mark, at, f"`{at}`: {refused.message}", refused.hint)
        return ""

    def _refuse_key(self, entry: Entry) -> None:
        path, own = self._path(entry.key), KEYS[self._section]
        homes = [section for section, keys in KEYS.items() if entry.key in keys]
        close = difflib.get_close_matches(entry.key, own, n=1, cutoff=0.7)
        if homes:
            where = " or ".join(f"`{home}`" if home else "the top level" for home in homes)
            here = f"`{self.at}`" if self.at else "the top level"
            self.refuse(
                entry.mark,
                path,
                f"`{entry.key}` has no meaning in {here}",
                f"it belongs in {where}; look at the indentation",
            )
        elif close:
            self.refuse(entry.mark, path, f"unknown key `{path}`", f"did you mean `{close[0]}`?")
        else:
            self.refuse(entry.mark, path, f"unknown key `{path}`", f"the keys here are {_listed(self._section)}")


def said(node: Node) -> str:
    """What a node is, in words."""
    if not isinstance(node, Scalar):
        return _SHAPE[type(node)]
    value = node.value
    if value is None:
        return "nothing"
    return f"the text `{node.text}`" if isinstance(value, str) else f"`{node.text}`"


def _listed(section: str) -> str:
    known = KEYS[section]
    named = ", ".join(f"`{key}`" for key in known[:_LISTED])
    return named if len(known) <= _LISTED else f"{named} and others, see the configuration reference"
