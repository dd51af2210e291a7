"""Writes tests/vectors/documents: what both halves of the documents must say of the same input.

Usage: `python scripts/document_vectors.py` writes the files; `--check` only compares.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import document_cases
import document_limits
import document_sequences

VECTORS: Final = Path(__file__).resolve().parent.parent / "tests" / "vectors" / "documents"

GROUPS: Final[Mapping[str, Any]] = {
    "scanner": document_limits.scanner,
    "budgets": document_limits.budgets,
    "components": document_cases.shape_of_components,
    "shape": document_cases.shape_of_the_rest,
    "meaning": document_limits.meaning,
    "number-text": document_sequences.texts,
    "number-round": document_sequences.rounds,
    "number-pow": document_sequences.powers,
    "number-grid": document_sequences.grids,
    "evaluation": document_sequences.evaluations,
    "state": document_sequences.states,
    "patches": document_sequences.patches,
    "streams": document_sequences.streams,
}


def files() -> dict[Path, str]:
    """Each file and its text."""
    return {VECTORS / f"{group}.json": _written(make()) for group, make in GROUPS.items()}


def _written(vectors: Iterable[Mapping[str, Any]]) -> str:
    lines = [json.dumps(vector, ensure_ascii=True, separators=(",", ":")) for vector in vectors]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main(*flags: str) -> int:
    """Write, or compare."""
    stale = [path for path, text in files().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(path.name, "is out of date" if flags else "written")
        if not flags:
            path.write_text(files()[path])
    return 1 if flags and stale else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
