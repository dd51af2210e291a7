"""Figures of the model and of the kills, gathered while tests run: for people at the end, for programs as a file."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any, Final

FILE: Final = Path("build/model.json")
IS_WHOLE: Final = bool(os.environ.get("OSTIARY_MODEL_WHOLE"))
"""Whether everything is explored: minutes of work, for `make model`."""


def note(section: str, **figures: int | str | bool) -> None:
    """Add figures to a section; workers of one run write one after the other."""
    with _kept() as kept:
        kept.setdefault(section, {}).update(figures)


def add(section: str, **figures: int) -> None:
    """Add to what a section counts."""
    with _kept() as kept:
        counts: dict[str, Any] = kept.setdefault(section, {})
        for name, figure in figures.items():
            counts[name] = counts.get(name, 0) + figure


def read() -> dict[str, dict[str, Any]]:
    """Everything that was noted since `clear`."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def clear() -> None:
    """Begin anew."""
    FILE.unlink(missing_ok=True)


@contextmanager
def _kept() -> Generator[dict[str, dict[str, Any]]]:
    FILE.parent.mkdir(exist_ok=True)
    with (FILE.parent / "model.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        kept = read()
        yield kept
        FILE.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n")
