"""The order of versions, by SemVer 2.0.0 §11. Their grammar is judged where a manifest is read."""

from typing import Final

Precedence = tuple[tuple[int, int, int], tuple[tuple[int, int, str], ...]]

_RELEASE: Final = ((2, 0, ""),)
"""Behind every pre-release: identifiers begin with 0 or 1."""


def precedence(version: str) -> Precedence:
    """What `version` is ordered by; two that differ in build metadata alone are equal."""
    core, _, pre = version.partition("+")[0].partition("-")
    major, minor, patch = (int(part) for part in core.split("."))
    return (major, minor, patch), tuple(map(_identifier, pre.split("."))) if pre else _RELEASE


def _identifier(text: str) -> tuple[int, int, str]:
    # Numbers come before words, and are compared as numbers.
    return (0, int(text), "") if text.isdigit() else (1, 0, text)
