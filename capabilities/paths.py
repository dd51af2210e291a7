"""The paths and modules a package may hold: such as mean one place on every system, and never one outside."""

import re
from typing import Final

PATH_MAX: Final = 200
"""Characters of a path, all of them ASCII."""

_MODULE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")
_PATH: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,15}")


def is_path(text: str) -> bool:
    """Whether `text` is a relative path without `.`, `..`, hidden names, backslashes or drive letters."""
    return len(text) <= PATH_MAX and _PATH.fullmatch(text) is not None and not text.endswith(".") and "./" not in text


def is_module(text: str) -> bool:
    """Whether `text` names a Python module: identifiers in ASCII, joined by dots."""
    return _MODULE.fullmatch(text) is not None


def files_of_module(module: str) -> tuple[str, str]:
    """The two paths one of which a module is: a file, or the first file of a package."""
    base = module.replace(".", "/")
    return f"{base}.py", f"{base}/__init__.py"
