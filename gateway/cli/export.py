"""`ostiary audit export`: the trail for other programs, a page at a time, so that its size does not matter."""

import os
import time
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import IO, Annotated, Any, Final

import typer

from gateway.cli.gateway_link import ask, ask_running
from gateway.cli.instants import instant_of
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, Config, Data
from gateway.cli.output import fail, json_line, note
from gateway.cli.trail import StreamName

_FOLLOW_SECONDS: Final = 1.0


class Format(StrEnum):
    """Shapes of a line."""

    JSONL = "jsonl"
    CLOUDEVENTS = "cloudevents"


def export(
    *,
    shape: Annotated[Format, typer.Option("--format")] = Format.JSONL,
    stream: Annotated[list[StreamName] | None, typer.Option("--stream", help="Only this stream. Repeatable.")] = None,
    after: Annotated[
        list[str] | None, typer.Option("--after", help="Go on after this record, like `admin:120`. Repeatable.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", help="Only records written since, like `24h`.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="A new file, mode 0600.")] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as records are written.")] = False,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
) -> None:
    """Write audit records as JSON, one to a line, stream by stream in their order."""
    names = [name.value for name in stream or StreamName]
    places = dict.fromkeys(names, 0) | _places(after or [], names)
    least = instant_of(since, "--since") or 0
    target = None if out is None else _created(out)
    try:
        _write_all(target, shape, places, least, data, config)
        while follow:
            time.sleep(_FOLLOW_SECONDS)
            _write_all(target, shape, places, least, data, None)
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        # Whoever read has enough; Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    finally:
        if target is not None:
            target.close()
        note("to go on: " + " ".join(f"--after {name}:{seq}" for name, seq in places.items() if seq))


def _places(after: list[str], names: list[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for text in after:
        name, _, seq = text.partition(":")
        if name not in names or not seq.isascii() or not seq.isdigit():
            fail(f"`--after {text[:80]}` names no record of the exported streams; write it like `{names[0]}:120`")
        places[name] = int(seq)
    return places


def _created(out: Path) -> IO[str]:
    try:
        return os.fdopen(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w")
    except FileExistsError:
        fail(f"`{out}` is already there; it was not touched")
    except OSError as error:
        fail(f"cannot write `{out}`: {error.strerror}")


def _write_all(
    target: IO[str] | None, shape: Format, places: dict[str, int], least: int, data: Path, config: Path | None
) -> None:
    """Write what each stream has after its place; `config` None: only a running gateway is asked."""
    for name, after in list(places.items()):
        for source, record in _records(name, after, data, config):
            if record["at"] >= least:
                _write(target, _line(record, shape, source))
            places[name] = record["seq"]
    if target is not None:
        target.flush()


def _write(target: IO[str] | None, line: str) -> None:
    if target is None:
        typer.echo(line)
    else:
        target.write(line + "\n")


def _records(stream: str, after: int, data: Path, config: Path | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    while True:
        page: Any = (
            ask_running(data, "audit.export", stream=stream, after=after)
            if config is None
            else ask(data, config, "audit.export", stream=stream, after=after)
        )
        if not page["records"]:
            return
        for record in page["records"]:
            yield page["source"], record
        after = page["records"][-1]["seq"]


def _line(record: Mapping[str, Any], shape: Format, source: str) -> str:
    # Imported here: the protocol's models are not needed before there is a record.
    from gateway.protocol.audit_export import cloud_event_of

    told = cloud_event_of(record, source) if shape is Format.CLOUDEVENTS else record
    return json_line(told)
