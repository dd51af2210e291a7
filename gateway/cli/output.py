"""How the command line prints: tables for people, JSON for programs, one line for a mistake."""

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NoReturn, cast

import typer

_PIPE_WIDTH: Final = 400


def fail(message: str) -> NoReturn:
    """Say what is wrong and end with 1."""
    typer.echo(message if message.startswith("error: ") else f"error: {message}", err=True)
    raise typer.Exit(1)


def note(message: str) -> None:
    """Something beside the answer, which stays alone on standard output."""
    typer.echo(message, err=True)


def say(message: str) -> None:
    """A part of the answer, never wrapped: tokens and commands are copied from here."""
    typer.echo(message)


def print_json(value: Any) -> None:
    """The answer for a program, in ASCII: other characters can end a line, or command a terminal."""
    typer.echo(json.dumps(value, indent=2))


def print_json_line(value: Any) -> None:
    """One of many answers for a program."""
    typer.echo(json_line(value))


def json_line(value: Any) -> str:
    """A value on a line of its own, in ASCII."""
    return json.dumps(value, separators=(",", ":"))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """The answer for a person."""
    # Rich costs a tenth of a second, which `ostiary check` can do without.
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[Text(shown(value)) for value in row] for row in rows]
    if not cells:
        typer.echo(empty)
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        # The first column names the thing, and names are copied.
        table.add_column(column, overflow="fold", no_wrap=place == 0)
    for row in cells:
        table.add_row(*row)
    # A pipe has no width; folding lines at 80 would break every script that reads them.
    console = Console() if sys.stdout.isatty() else Console(width=_PIPE_WIDTH)
    console.print(table)


def shown(value: object) -> str:
    """A value in a cell. Names come from pages and agents: what could move the cursor is made visible."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        items = cast("list[object]", value)
        return ", ".join(shown(item) for item in items) or "-"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(value))


def instant(at: int | None) -> str:
    """Milliseconds since the epoch as a person writes them."""
    return "-" if at is None else datetime.fromtimestamp(at / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
