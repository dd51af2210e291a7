"""`ostiary migrate`: the data of one database taken to another kind of database."""

import getpass
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, AsJson, Config, Data
from gateway.cli.output import fail, note, print_json, print_table, say

migrate = typer.Typer(no_args_is_help=True, help="Take the data to another database.")


@migrate.callback()
def _group() -> None:  # pyright: ignore[reportUnusedFunction] -- without it, typer makes the only command the group
    pass


@migrate.command("sqlite-to-postgres")
def sqlite_to_postgres(
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="URL", help="The empty database; otherwise `server.database` of the file."),
    ] = None,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Copy everything from SQLite into an empty PostgreSQL database, while no gateway runs, and compare."""
    # The store and everything below it take a second to import; only this command needs them here.
    from gateway.adapters.configuration_file import ConfigurationError
    from gateway.adapters.process_lock import FolderRefused, LockHeld, hold_lock
    from gateway.bootstrap import move_to_postgresql
    from gateway.runtime.ports import StoreRefused, StoreUnavailable

    try:
        url = _address(to, config)
        if not data.is_dir():
            fail(f"there is no data folder `{data}`; name it with `--data`")
        with hold_lock(data):
            moved = move_to_postgresql(data, url, by=f"local:{getpass.getuser()}")
    except LockHeld as error:
        fail(f"{error}; stop it first")
    except (ConfigurationError, FolderRefused, StoreRefused, StoreUnavailable) as error:
        fail(str(error))
    heads = {stream.value: {"seq": seq, "hash": digest.hex()} for stream, (seq, digest) in moved.heads.items()}
    if as_json:
        print_json({"rows": moved.rows, "heads": heads})
    else:
        print_table(("table", "rows"), moved.rows.items(), empty="no tables")
        print_table(
            ("stream", "records", "chain"),
            [(name, *head.values()) for name, head in heads.items()],
            empty="no records",
        )
        say("both databases hold the same; the record `store.migrated` was added to the new one")
    if to is not None:
        note("next: set `server.database` in the configuration to this address")
    note("next: start the gateway, then `ostiary audit verify`")
    note("the SQLite file was not changed: keep it as a backup, and never serve it again")


def _address(to: str | None, config: Path) -> str:
    from gateway.adapters.configuration.values import Refused, database
    from gateway.adapters.configuration_file import load_file

    if to is None:
        url = load_file(config).server.database
        return url or fail(f"`{config}` has no `server.database`; add it, or name the target with `--to`")
    try:
        return database(to)
    except Refused as error:
        fail(str(error))
