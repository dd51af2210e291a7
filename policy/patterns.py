"""The one matcher for capability ids: list, describe, invoke and views all ask here.

A pattern is an exact id, or `a.*`, which means exactly one further segment.
Letter case counts; there is no `**` and no bare `*`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

CAPABILITY_ID: Final = re.compile(r"[a-z][A-Za-z0-9_]*(\.[a-z][A-Za-z0-9_]*){1,3}")
"""Grammar of a capability id; at most `CAPABILITY_ID_MAX` characters."""

CAPABILITY_ID_MAX: Final = 128

_PREFIX: Final = re.compile(r"[a-z][A-Za-z0-9_]*(\.[a-z][A-Za-z0-9_]*){0,2}\.\*")


def is_capability_id(text: str) -> bool:
    """Whether `text` is a well-formed capability id."""
    return len(text) <= CAPABILITY_ID_MAX and CAPABILITY_ID.fullmatch(text) is not None


def is_pattern(text: str) -> bool:
    """Whether `text` is an exact id or a one-segment prefix pattern."""
    return is_capability_id(text) or (len(text) <= CAPABILITY_ID_MAX and _PREFIX.fullmatch(text) is not None)


@dataclass(frozen=True, slots=True)
class PatternSet:
    """A compiled list of patterns. The empty set matches nothing."""

    exact: frozenset[str]
    parents: frozenset[str]

    @classmethod
    def of(cls, patterns: Iterable[str]) -> "PatternSet":
        """Compile `patterns`.

        Raises:
            ValueError: a pattern is neither an id nor `a.*`.
        """
        return _compile(tuple(patterns))

    def matches(self, capability: str) -> bool:
        """Whether any pattern names `capability`."""
        return capability in self.exact or capability.rpartition(".")[0] in self.parents


@lru_cache(maxsize=4096)
def _compile(patterns: tuple[str, ...]) -> PatternSet:
    for pattern in patterns:
        if not is_pattern(pattern):
            raise ValueError(f"`{pattern}` is neither a capability id nor a pattern like `todo.*`")
    return PatternSet(
        exact=frozenset(p for p in patterns if not p.endswith(".*")),
        parents=frozenset(p[:-2] for p in patterns if p.endswith(".*")),
    )
