"""The part of YAML the configuration may use: mappings, lists and scalars that mean what a reader sees.

Built from parser events, not from PyYAML's own values: those turn `no` into false, `0123` into 83, and let the
last of two equal keys win. Anchors, aliases, merge keys, tags and further documents are refused, because each
lets a file say something else than it seems to.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import yaml

from gateway.adapters.configuration.problems import Mark, Problems

FILE_BYTES_MAX: Final = 1024 * 1024
DEPTH_MAX: Final = 16
"""Lists and mappings within each other; the deepest setting sits at 5."""

_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NOTHING: Final = frozenset({"", "~", "null", "Null", "NULL"})

# Breaks that YAML sees and an editor does not (a comment could end in mid-line), and characters that reorder text.
_INVISIBLE: Final = re.compile("[\x85\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class Scalar:
    """One scalar as written. `plain` says that it carried no quotes."""

    text: str
    plain: bool
    mark: Mark

    @property
    def value(self) -> str | bool | int | None:
        """What it means: `true` and `false`, whole numbers, None for nothing; everything else is its own text."""
        if not self.plain:
            return self.text
        if self.text in _NOTHING:
            return None
        if self.text in {"true", "false"}:
            return self.text == "true"
        return int(self.text) if _INTEGER.fullmatch(self.text) else self.text


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    nodes: tuple["Node", ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a mapping, where it stands, and its value."""

    key: str
    mark: Mark
    node: "Node"


@dataclass(frozen=True, slots=True)
class Entries:
    """A mapping; of two equal keys only the first is kept, and the second is a problem."""

    by_key: dict[str, Entry]
    mark: Mark


Node = Scalar | Items | Entries


def parse(text: str, problems: Problems) -> Entries:
    """The root mapping of `text`; what is wrong is noted, and what cannot be read at all is raised.

    Raises:
        ConfigurationError: it is no such file.
    """
    start = Mark(1, 1)
    if len(text.encode(errors="surrogatepass")) > FILE_BYTES_MAX:
        problems.add(start, "", f"the file is larger than {FILE_BYTES_MAX} bytes")
        problems.settle()
    text = text.removeprefix("\ufeff")
    _refuse_invisible(text, problems)
    root: Node | None = None
    is_yaml = False
    try:
        root = _Builder(text, problems).root()
        is_yaml = True
    except yaml.MarkedYAMLError as error:
        mark = _mark(error.problem_mark or error.context_mark)
        problems.add(mark, "", f"this is not YAML: {error.problem or 'unreadable'}")
    except yaml.reader.ReaderError as error:
        problems.add(_mark_at(text, error.position), "", f"character `U+{_code(error.character):04X}` is not allowed")
    except _TooDeep as error:
        problems.add(error.mark, "", f"nested deeper than {DEPTH_MAX} levels")
    if is_yaml and isinstance(root, Entries):
        return root
    problems.settle()
    problems.add(
        start if root is None else root.mark,
        "",
        "the file is empty" if root is None else "the file is not a mapping of settings",
        "begin with `version: 1`; `ostiary init` writes a starter",
    )
    problems.settle()
    raise AssertionError("settle raises what was added")


class _TooDeep(Exception):
    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark


class _Builder:
    """Builds nodes from the parser's events, one document only."""

    def __init__(self, text: str, problems: Problems) -> None:
        # The published types leave the stream open.
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)  # pyright: ignore[reportUnknownMemberType]
        self._problems = problems

    def root(self) -> Node | None:
        """The one document's node; None when there is none."""
        root: Node | None = None
        for event in self._events:
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            if event.tags:
                self._problems.add(_mark(event.start_mark), "", "a `%TAG` directive is not allowed")
            if root is not None:
                self._problems.add(
                    _mark(event.start_mark), "", "a second document begins here", "keep one document per file"
                )
                break
            root = self._node(next(self._events), 0)
        return root

    def _node(self, event: yaml.Event, depth: int) -> Node:
        mark = _mark(event.start_mark)
        if depth > DEPTH_MAX:
            raise _TooDeep(mark)
        self._refuse_indirection(event, mark)
        match event:
            case yaml.ScalarEvent():
                return Scalar(event.value, event.style is None, mark)
            case yaml.SequenceStartEvent():
                return Items(tuple(self._items(depth)), mark)
            case yaml.MappingStartEvent():
                return Entries(self._entries(depth), mark)
            case _:
                self._problems.close(mark)
                return Scalar("", True, mark)

    def _items(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._node(event, depth + 1)

    def _entries(self, depth: int) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            node = self._node(next(self._events), depth + 1)
            self._add(found, key, node)
        return found

    def _add(self, found: dict[str, Entry], key: Node, node: Node) -> None:
        add = self._problems.add
        if not isinstance(key, Scalar):
            add(key.mark, "", "a key is one word, not a list or a mapping")
        elif key.plain and key.text == "<<":
            add(key.mark, "<<", "merge keys are not allowed", "write the settings out")
        elif key.value is None:
            add(key.mark, "", "a key is missing before the colon")
        elif key.text in found:
            first = found[key.text].mark.line
            add(key.mark, key.text, f"`{key.text}` stands here a second time; the first is on line {first}")
        else:
            found[key.text] = Entry(key.text, key.mark, node)

    def _refuse_indirection(self, event: yaml.Event, mark: Mark) -> None:
        if isinstance(event, yaml.AliasEvent):
            self._problems.add(mark, "", f"alias `*{event.anchor}` is not allowed", "write the value out")
        elif isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._problems.add(
                mark, "", f"anchor `&{event.anchor}` is not allowed", "write the value where it is used"
            )
        if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)) and event.tag is not None:
            self._problems.add(
                mark, "", f"tag `{event.tag}` is not allowed", "quote a text; nothing else needs a tag"
            )


def _refuse_invisible(text: str, problems: Problems) -> None:
    for found in _INVISIBLE.finditer(text):
        problems.add(
            _mark_at(text, found.start()),
            "",
            f"invisible character `U+{ord(found.group()):04X}` is not allowed",
            'in a quoted text write it as "\\uXXXX"' if found.group() in "\u200e\u200f" else "remove it",
        )


def _mark(mark: yaml.Mark | None) -> Mark:
    return Mark(1, 1) if mark is None else Mark(mark.line + 1, mark.column + 1)


def _mark_at(text: str, index: int) -> Mark:
    before = text[:index]
    return Mark(before.count("\n") + 1, index - before.rfind("\n"))


def _code(character: str | bytes | int) -> int:
    return character if isinstance(character, int) else ord(character)
