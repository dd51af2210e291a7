"""Asks the running gateway; where none runs, takes the lock and opens the database itself (design §13)."""

import asyncio
import getpass
from pathlib import Path
from typing import Any, Final

from gateway.cli.output import fail

_MAY_BEGIN: Final = frozenset({"session.add", "site.key.add", "admin_token.add", "app.install"})
"""What makes sense before the first start; everything else about an empty folder is a mistyped `--data`."""


def ask(data: Path, config: Path, command: str, **parameters: Any) -> Any:
    """Run one command and return its value; ends the program with one line when it cannot be."""
    # Imported here and not above: `ostiary check` and `--help` need none of it.
    from gateway.transports.control import CommandRefused, NoGateway, PathTooLong

    try:
        return _ask_running(data, command, parameters)
    except (CommandRefused, PathTooLong) as error:
        fail(str(error))
    except _Gone as error:
        fail(str(error))
    except NoGateway:
        return _ask_database(data, config, command, parameters)


def ask_running(data: Path, command: str, **parameters: Any) -> Any:
    """The same, where only a running gateway can answer."""
    from gateway.transports.control import CommandRefused, NoGateway, PathTooLong

    try:
        return _ask_running(data, command, parameters)
    except (CommandRefused, PathTooLong, _Gone, NoGateway) as error:
        fail(str(error))


class _Gone(Exception):
    """The gateway went away in mid-command: what it did is not known, so nobody does it again."""


def _ask_running(data: Path, command: str, parameters: dict[str, Any]) -> Any:
    from gateway.transports.control import ControlClient, NoGateway

    with ControlClient(data) as client:
        try:
            return client.ask(command, parameters)
        except NoGateway as error:
            raise _Gone(str(error)) from error


def _ask_database(data: Path, config: Path, command: str, parameters: dict[str, Any]) -> Any:
    from gateway.adapters.configuration_file import ConfigurationError, load_file
    from gateway.adapters.process_lock import FolderRefused, LockHeld, hold_lock
    from gateway.domain.errors import GatewayError
    from gateway.runtime.ports import StoreBusy, StoreRefused, StoreUnavailable

    if command == "reload":
        fail(f"no gateway runs over `{data}`, so there is nothing to reload")
    if command not in _MAY_BEGIN and not data.exists():
        fail(f"there is no data folder `{data}`; name it with `--data`, or start the gateway with `ostiary serve`")
    try:
        configuration = load_file(config)
        with hold_lock(data):
            return asyncio.run(_perform(data, configuration, command, parameters))
    except LockHeld as error:
        fail(f"{error} and does not answer yet; try again in a moment")
    except (FolderRefused, StoreRefused) as error:
        fail(str(error))
    except ConfigurationError as error:
        fail(f"{error}\nno gateway runs, and its file is refused; mend it, `ostiary check` judges it")
    except GatewayError as error:
        fail(error.message)
    except (StoreBusy, StoreUnavailable) as error:
        fail(f"the database does not take it: {error}; nothing was changed")


async def _perform(data: Path, configuration: Any, command: str, parameters: dict[str, Any]) -> Any:
    from gateway.bootstrap import open_offline
    from gateway.transports.control import Desk, perform

    async with open_offline(configuration, data) as admin:
        return await perform(Desk(admin=admin, by=f"local:{getpass.getuser()}"), command, parameters)
