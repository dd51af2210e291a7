"""One guard: where it stands in the code, what the code would be without it, and which tests should notice."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A place that keeps a promise.

    Attributes:
        name: kebab case, unique.
        section: of the design, or of the rules, that asks for it.
        why: what goes wrong without it.
        file: from the root of the repository.
        old: the text of the guard; stands in `file` exactly once.
        new: the same code with the guard taken out; still a program.
        tests: pytest node ids, or Vitest files, that are expected to notice.
    """

    name: str
    section: str
    why: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_browser(self) -> bool:
        """Whether the browser half holds it; its tests are Vitest files then."""
        return self.file.endswith(".ts")

    def removed_from(self, text: str) -> str:
        """`text` of the file, without this guard.

        Raises:
            Drifted: the guard does not stand there exactly once.
        """
        found = text.count(self.old)
        if found != 1:
            raise Drifted(
                f"guard `{self.name}` stands {found} times in `{self.file}`, not once; "
                "where the code moved, move the text in tests/guards with it"
            )
        return text.replace(self.old, self.new)


class Drifted(Exception):
    """The table no longer describes the code."""
