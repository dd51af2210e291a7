"""Figures of a benchmark: as a table for people, as JSON for programs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure. `ratio` is value over baseline; whether more or less is better, the unit says."""

    name: str
    value: float
    unit: str
    baseline: float | None = None
    ratio: float | None = None


def print_rows(rows: Sequence[Row], *, title: str) -> None:
    """One line for each figure."""
    table = Table("row", "unit", title=title)
    for column in ("value", "baseline", "ratio"):
        table.add_column(column, justify="right")
    for row in rows:
        figures = (row.value, row.baseline, row.ratio)
        table.add_row(row.name, row.unit, *("-" if figure is None else f"{figure:,.2f}" for figure in figures))
    Console(width=100).print(table)


def write_rows(rows: Sequence[Row], path: Path) -> None:
    """The same, as a list of objects."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
