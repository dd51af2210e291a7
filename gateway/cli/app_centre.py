"""`ostiary app`: what an administrator does with packages of mini apps: install, enable, upgrade, go back, remove."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from capabilities.building import build
from capabilities.package import write_package
from capabilities.project import read_project
from capabilities.shipped import shipped
from gateway.cli.gateway_link import ask
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import note, print_json, print_table, say, shown

Name = Annotated[str, typer.Argument(metavar="APP", help="The app's id, like `com.example.notes`.")]
PackageFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help=f"A package, as `ostiary app pack` writes it; or one that comes along: {', '.join(shipped())}.",
    ),
]


def install(
    package: PackageFile,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Install a package; no agent sees it before it is enabled. Installing the same one again mends its files."""
    with _file_of(package) as file:
        made = ask(data, config, "app.install", package=str(file.absolute()))
    if as_json:
        print_json(made)
        return
    say(f"installed {_told(made)}, {made['state']}")
    _tell_permissions(made)
    if made["state"] == "disabled":
        note(f"it is not offered to agents yet: `ostiary app enable {made['app']}`")


@contextmanager
def _file_of(package: Path) -> Generator[Path]:
    """The package's file; of an app that comes along it is made for the moment."""
    project = shipped().get(str(package))
    if project is None or package.exists():
        yield package
        return
    with tempfile.TemporaryDirectory(prefix="ostiary-app-") as folder:
        made = build(read_project(project))
        file = Path(folder) / made.filename
        file.write_bytes(write_package(made))
        yield file


def upgrade(
    package: PackageFile,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Replace an installed app by a later package. What waits for the old one ends, what runs may end by itself."""
    with _file_of(package) as file:
        made = ask(data, config, "app.upgrade", package=str(file.absolute()))
    if as_json:
        print_json(made)
        return
    say(f"upgraded to {_told(made)}, {made['state']}")
    _tell_permissions(made)


def enable(
    name: Name,
    *,
    grant: Annotated[
        list[str] | None, typer.Option("--grant", help="A permission to give it, like `secret:token`. Repeatable.")
    ] = None,
    revoke: Annotated[list[str] | None, typer.Option("--revoke", help="A permission to take. Repeatable.")] = None,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Offer an installed app to agents, as far as their sessions, the sites and the rules allow it."""
    made = ask(data, config, "app.enable", name=name, grant=grant or [], revoke=revoke or [])
    if as_json:
        print_json(made)
        return
    say(f"enabled {_told(made)}: {', '.join(made['tools'])}")
    _tell_permissions(made)


def disable(name: Name, config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """Offer an app to nobody any more. What waits for it ends, what runs may end by itself for a while."""
    made = ask(data, config, "app.disable", name=name)
    if as_json:
        print_json(made)
    else:
        say(f"disabled {_told(made)}")


def rollback(
    name: Name,
    *,
    to: Annotated[
        str | None, typer.Option("--to", metavar="VERSION", help="A kept version; else the one before.")
    ] = None,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Go back to an earlier version that is kept here; no package is needed."""
    made = ask(data, config, "app.rollback", name=name, to=to)
    if as_json:
        print_json(made)
        return
    say(f"back to {_told(made)}, {made['state']}")
    _tell_permissions(made)


def remove(name: Name, config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT, as_json: AsJson = False) -> None:
    """Forget a disabled app with its versions and files."""
    made = ask(data, config, "app.remove", name=name)
    if as_json:
        print_json(made)
    else:
        say(f"removed {made['app']}")


def list_apps(
    *,
    verify: Annotated[bool, typer.Option("--verify", help="Look at every installed file again.")] = False,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """List every installed app, what is kept of it, and what is wrong with it."""
    found = ask(data, config, "app.list", verify=verify)
    if as_json:
        print_json(found)
        return
    print_table(
        ["app", "version", "state", "worker", "signed by", "kept", "lacks", "fault"],
        [
            [
                app["app"],
                app["version"],
                app["state"],
                app["worker"],
                app["signed_by"],
                [version["version"] for version in app["versions"]],
                _lacking(app),
                app["fault"],
            ]
            for app in found
        ],
        empty="no app is installed; `ostiary app install FILE` does that",
    )


def _told(made: dict[str, Any]) -> str:
    signed = f", signed by {made['signed_by']}" if made["signed_by"] else ""
    return f"{made['app']} {made['version']}{signed}"


def _lacking(made: dict[str, Any]) -> list[str]:
    return sorted(set(made["permissions"]) - set(made["granted"]))


def _tell_permissions(made: dict[str, Any]) -> None:
    lacking = _lacking(made)
    if lacking:
        wanted = " ".join(f"--grant {permission}" for permission in lacking)
        note(f"tools that need {shown(lacking)} are not offered: `ostiary app enable {made['app']} {wanted}`")
