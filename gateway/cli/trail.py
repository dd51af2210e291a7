"""`ostiary audit`: what happened, and whether the record of it is whole."""

import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.gateway_link import ask, ask_running
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import fail, instant, note, print_json, print_json_line, say, shown
from gateway.domain.audit import Stream

audit = typer.Typer(no_args_is_help=True, help="The audit trail: metadata and digests, chained per stream.")

_FOLLOW_SECONDS = 1.0
_PEOPLE_READ = ("capability", "agent", "user", "site", "session", "ref", "state", "code", "reason", "by")


class StreamName(StrEnum):
    """The streams as a closed choice of the command line."""

    AGENT_TOOL = Stream.AGENT_TOOL.value
    UI_ACTION = Stream.UI_ACTION.value
    HOST_INTENT = Stream.HOST_INTENT.value
    ADMIN = Stream.ADMIN.value
    IDENTITY = Stream.IDENTITY.value


@audit.command("tail")
def tail(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 50,
    stream: Annotated[StreamName | None, typer.Option("--stream", help="Only this stream.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as records are written.")] = False,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Print the newest records, oldest first; with --json one to a line."""
    name = stream.value if stream else None
    # Heads first: what is written between the two questions is then printed twice rather than not at all.
    seen = _heads(data) if follow else {}
    for record in ask(data, config, "audit.tail", limit=limit, stream=name):
        _print(record, as_json=as_json)
        seen[record["stream"]] = max(seen.get(record["stream"], 0), record["seq"])
    if follow:
        _follow(data, seen, name, as_json=as_json)


def _heads(data: Path) -> dict[str, int]:
    newest = [ask_running(data, "audit.tail", limit=1, stream=stream.value) for stream in Stream]
    return {record["stream"]: record["seq"] for records in newest for record in records}


def _follow(data: Path, seen: dict[str, int], stream: str | None, *, as_json: bool) -> None:
    try:
        while True:
            time.sleep(_FOLLOW_SECONDS)
            for record in ask_running(data, "audit.after", seen=seen):
                seen[record["stream"]] = record["seq"]
                if stream in {None, record["stream"]}:
                    _print(record, as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def _print(record: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json_line(record)
        return
    facts: Mapping[str, Any] = record["facts"]
    told = " ".join(f"{name}={shown(facts[name])}" for name in _PEOPLE_READ if name in facts)
    say(f"{instant(record['at'])} {record['stream']:>11} {record['seq']:>5}  {record['event']:<24} {told}")


@audit.command("verify")
def verify(
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", metavar="FILE", help="A checkpoint that was kept elsewhere.")
    ] = None,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Recompute every chain; ends with 1 and the first bad record if one does not hold."""
    given = None if checkpoint is None else _text_of(checkpoint)
    found = ask(data, config, "audit.verify", checkpoints=given)
    if as_json:
        print_json(found)
    elif found["intact"]:
        say(f"intact: {found['records']} records in {found['streams']} streams")
        for stream, seq in found["starts"].items():
            say(f"stream {stream} begins at its checkpoint {seq}; older records went by age")
    else:
        for broken in found["broken"]:
            say(f"broken: stream {broken['stream']}, record {broken['seq']}: {broken['what']}")
    for old in found["unchecked"] if not as_json else ():
        note(f"checkpoint {old['seq']} of {old['stream']} lies before what is kept, so it proves nothing here")
    if not found["intact"]:
        raise typer.Exit(1)


def _text_of(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read `{file}`: {error}")


@audit.command("checkpoint")
def checkpoint(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT) -> None:
    """Print where every stream stands. Kept elsewhere, it shows later whether what came before was changed."""
    say(ask(data, config, "audit.checkpoint").rstrip("\n"))
