"""Starting and configuring: serve, init, check, reload, status, demo."""

import asyncio
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from gateway.cli.gateway_link import ask, ask_running
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import fail, note, print_json, print_table, say

if TYPE_CHECKING:
    from gateway.bootstrap import Gateway
    from gateway.domain.configuration import Configuration

_FILE: Final = "ostiary.yaml"


def serve(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT) -> None:
    """Run the gateway until it is stopped; SIGHUP reads the file again."""
    # The server and everything below it take a second to import; only this command needs them.
    from gateway.adapters.process_lock import FolderRefused, LockHeld
    from gateway.runtime.ports import StoreRefused, StoreUnavailable
    from gateway.transports.control import PathTooLong

    configuration = _loaded(config)
    from gateway.adapters.webhook import SecretRefused
    from gateway.asgi import AddressRefused
    from gateway.asgi import serve as run

    def on_ready(_: "Gateway") -> None:
        say(f"ostiary serves {configuration.server.public_url} with `{configuration.revision}`, data in `{data}`")

    try:
        asyncio.run(run(config, data, on_ready=on_ready))
    except (
        LockHeld,
        FolderRefused,
        AddressRefused,
        PathTooLong,
        SecretRefused,
        StoreRefused,
        StoreUnavailable,
    ) as error:
        fail(str(error))


def _loaded(config: Path) -> "Configuration":
    from gateway.adapters.configuration_file import ConfigurationError, load_file

    try:
        return load_file(config)
    except ConfigurationError as error:
        note(str(error))
        raise typer.Exit(1) from error


def init(folder: Annotated[Path, typer.Argument(metavar="[DIR]")] = Path()) -> None:
    """Write a commented starter ostiary.yaml."""
    target = folder / _FILE
    starter = resources.files("gateway.cli").joinpath("starter.yaml").read_text()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with target.open("x") as file:
            file.write(starter)
    except FileExistsError:
        fail(f"`{target}` is already there; it was not touched")
    except OSError as error:
        fail(f"cannot write `{target}`: {error.strerror}")
    say(f"wrote `{target}`; edit it, then `ostiary check {target}` and `ostiary serve`")


def check(file: Annotated[Path, typer.Argument(metavar="[FILE]")] = CONFIG_DEFAULT) -> None:
    """Judge a configuration file exactly as start and reload do."""
    found = _loaded(file)
    counts = {"site": len(found.sites), "agent": len(found.agents), "rule": len(found.rules)}
    told = ", ".join(f"{n} {word}" if n == 1 else f"{n} {word}s" for word, n in counts.items())
    say(f"{file}: good, `{found.revision}`, {told}")


def reload(data: Data = DATA_DEFAULT) -> None:
    """Let the running gateway read its file again; a broken file changes nothing."""
    answer = ask_running(data, "reload")
    if not answer["accepted"]:
        fail(answer["message"])
    say(answer["message"])


def status(config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """Who is connected, and how full the ledger is."""
    found = ask(data, config, "status")
    if as_json:
        print_json(found)
        return
    say(f"policy {found['policy']}, {found['sessions']} live sessions")
    say(f"ledger {found['ledger_rows']} rows, {found['open_calls']} open calls")
    print_table(
        ["page", "site", "user", "label", "visible", "pinned"],
        [[p["page"], p["site"], p["user"], p["label"], p["visible"], p["pinned"]] for p in found["pages"]],
        empty="no page is connected",
    )


def demo(
    scripted: Annotated[bool, typer.Option("--scripted", help="Tell the whole story unattended, then end.")] = False,
) -> None:
    """Start a gateway with a to-do site and a ready agent in a scratch folder."""
    from gateway.demo import run

    raise typer.Exit(run(scripted=scripted))
