"""The paths a package may hold: such as mean one place on every system, and never one outside."""

import re
from typing import Final

PATH_MAX: Final = 200
"""Characters of a path, all of them ASCII."""

_PATH: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,15}")


def is_path(text: str) -> bool:
    """Whether `text` is a relative path without `.`, `..`, hidden names, backslashes or drive letters."""
    return len(text) <= PATH_MAX and _PATH.fullmatch(text) is not None and not text.endswith(".") and "./" not in text
