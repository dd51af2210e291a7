"""Which services the tests meet, and whether they answer: `python -m scripts.services FILE` writes what it found.

Ends with 1 where one is missing. The tests that need it fail then too; this says so before them, in one line.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from gateway.demo.browser import NoBrowser, chromium
from tests.support import postgres


def postgresql() -> str:
    """What answers, and where."""
    place = urlsplit(postgres.SERVER)
    return f"PostgreSQL {postgres.version()} at {place.hostname}:{place.port or 5432}"


def browser() -> str:
    """What would be started."""
    told = subprocess.run([chromium(), "--version"], capture_output=True, text=True, check=True, timeout=60)
    return " ".join(told.stdout.split()[:2])


SERVICES: Final[tuple[Callable[[], str], ...]] = (postgresql, browser)


def main(file: Path) -> int:
    """Ask each, and keep the answers as `{"used": [...], "missing": [...]}`."""
    used: list[str] = []
    missing: list[str] = []
    for ask in SERVICES:
        try:
            used.append(ask())
        except (pytest.fail.Exception, NoBrowser, OSError, subprocess.SubprocessError) as trouble:
            missing.append(f"{ask.__name__}: {trouble}")
    for line in used:
        print(line)
    for line in missing:
        print(f"MISSING {line}", file=sys.stderr)
    file.write_text(json.dumps({"used": used, "missing": missing}))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
