"""`ostiary backup` and `ostiary restore`: a copy of everything, and the way back to it."""

import asyncio
import getpass
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.gateway_link import ask
from gateway.cli.options import CONFIG_DEFAULT, DATA_DEFAULT, Config, Data
from gateway.cli.output import fail, instant, note, say


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE")], config: Config = CONFIG_DEFAULT, data: Data = DATA_DEFAULT
) -> None:
    """Write a copy of the SQLite database to the new FILE (mode 0600); a running gateway goes on meanwhile."""
    ask(data, config, "backup", target=str(file.absolute()))
    say(
        f"wrote `{file}`; it opens nothing by itself, but holds names, digests and open calls: keep it like a password"
    )


def restore(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]")] = None,
    *,
    mark: Annotated[
        bool, typer.Option("--mark", help="The database was restored by other means; only end what could repeat.")
    ] = False,
    keep_grants: Annotated[
        bool,
        typer.Option("--keep-grants", help="Keep tokens and keys as they were then, those revoked since included."),
    ] = False,
    config: Config = CONFIG_DEFAULT,
    data: Data = DATA_DEFAULT,
) -> None:
    """Go back to a backup, while no gateway runs; nothing that happened since can happen again by itself."""
    if (file is None) is not mark:
        fail("name the backup, or write `--mark` where the database was restored by other means")
    # The store and everything below it take a second to import; only this command needs them here.
    from gateway.adapters.configuration_file import ConfigurationError, load_file
    from gateway.adapters.process_lock import FolderRefused, LockHeld, hold_lock
    from gateway.bootstrap import restore as run
    from gateway.runtime.ports import StoreBusy, StoreRefused, StoreUnavailable

    try:
        configuration = load_file(config)
        with hold_lock(data):
            by = f"local:{getpass.getuser()}"
            restored, kept = asyncio.run(run(configuration, data, file, keep_grants=keep_grants, by=by))
    except LockHeld as error:
        fail(f"{error}; stop it first")
    except (ConfigurationError, FolderRefused, StoreRefused) as error:
        fail(str(error))
    except (OSError, StoreBusy, StoreUnavailable) as error:
        fail(f"the restore failed: {error}; the database is as it was")
    say(f"restored; {restored.lost + restored.cancelled} open calls ended, what became of them is not known")
    say(f"{restored.pages} page sessions and {restored.tickets} tickets ended")
    if keep_grants:
        note(
            "tokens, keys and mini apps are as they were then: end again what was ended since, "
            "and see `ostiary session list` and `ostiary app list`"
        )
    else:
        say(
            f"revoked {restored.sessions} agent sessions, {restored.keys} service keys, {restored.admin_tokens} admin tokens"
        )
        note("make new ones: `ostiary session add`, `ostiary site key add`")
        if restored.apps:
            say(f"disabled {restored.apps} mini apps")
            note("look at them (`ostiary app list --verify`), then `ostiary app enable` what is to run")
    note(f"requests with a stamp from before {instant(restored.refused_until)} may be repeats, and are refused")
    if kept is not None:
        note(f"the database that was there is kept as `{kept}`")
