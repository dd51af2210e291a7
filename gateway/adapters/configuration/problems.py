"""What is wrong with a configuration file, and where. A file is judged whole, so its author mends it in one go."""

from dataclasses import dataclass
from typing import Final

PROBLEMS_MAX: Final = 20
"""More than this says nothing new."""

SHOWN_MAX: Final = 1_000
"""Characters of a message that are shown; a file may hold one word of a mebibyte."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the file, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One reason to refuse the file. `key` is the dotted path of what is wrong; `hint` is the next step, if any."""

    path: str
    line: int
    column: int
    key: str
    message: str
    hint: str = ""

    @property
    def place(self) -> str:
        """`file:line:column`, without anything the file says."""
        return f"{self.path}:{self.line}:{self.column}"

    def __str__(self) -> str:
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.place}: {self.message}{hint}"


class ConfigurationError(ValueError):
    """The file is refused. Holds up to 20 problems in the order of their lines, one per printed line."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems

    @property
    def places(self) -> list[str]:
        """Where the problems are; fit for the audit trail."""
        return [problem.place for problem in self.problems]


def _shown(text: str) -> str:
    """`text` fit for a terminal, a log and JSON: it quotes the file, whose escapes can name any character."""
    cut = text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


class Problems:
    """Collects what is wrong with one file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._found: list[Problem] = []
        self._closed: set[Mark] = set()

    def add(self, mark: Mark, key: str, message: str, hint: str = "") -> None:
        """Note one more."""
        if mark in self._closed:
            return
        self._found.append(
            Problem(
                path=self._path,
                line=mark.line,
                column=mark.column,
                key=_shown(key),
                message=_shown(message),
                hint=_shown(hint),
            )
        )

    def close(self, mark: Mark) -> None:
        """Say no more about this place: what stands there was refused as a whole."""
        self._closed.add(mark)

    def settle(self) -> None:
        """Raise what was found, if anything was.

        Raises:
            ConfigurationError: the file is refused.
        """
        if self._found:
            ordered = sorted(self._found, key=lambda problem: (problem.line, problem.column))
            raise ConfigurationError(tuple(ordered[:PROBLEMS_MAX]))
