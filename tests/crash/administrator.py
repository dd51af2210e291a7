"""The administrator: installs, enables, upgrades, rolls back and removes one mini app, over and over.

Commands go over the control socket, one at a time; what was answered is remembered, and what was not is pending.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from capabilities.package import write_package
from gateway.domain.mini_apps import AppState
from gateway.transports.control import CommandRefused, ControlClient, NoGateway
from tests.crash.memory import AppStanding, Memory
from tests.support.mini_apps import a_surface_package

APP: Final = "com.example.focus"
VERSIONS: Final = ("1.0.0", "2.0.0")

_FIRST, _SECOND = VERSIONS
_ABSENT: Final = AppStanding(state=AppState.ABSENT)


def _standing(state: AppState, version: str) -> AppStanding:
    return AppStanding(state=state, version=version)


_OFF: Final = {version: _standing(AppState.DISABLED, version) for version in VERSIONS}
_ON: Final = {version: _standing(AppState.ENABLED, version) for version in VERSIONS}

MOVES: Final[Mapping[AppStanding, Mapping[str, AppStanding]]] = {
    _ABSENT: {"app.install": _OFF[_FIRST]},
    _OFF[_FIRST]: {"app.enable": _ON[_FIRST], "app.upgrade": _OFF[_SECOND], "app.remove": _ABSENT},
    _ON[_FIRST]: {"app.disable": _OFF[_FIRST], "app.upgrade": _ON[_SECOND]},
    _OFF[_SECOND]: {"app.enable": _ON[_SECOND], "app.rollback": _OFF[_FIRST], "app.remove": _ABSENT},
    _ON[_SECOND]: {"app.disable": _OFF[_SECOND], "app.rollback": _ON[_FIRST]},
}
"""Which commands make sense where, and what each makes of the app."""


@dataclass(eq=False)
class Administrator:
    """One of a lineage; `folder` is where the packages lie."""

    data: Path
    folder: Path
    memory: Memory
    dice: Random

    def __post_init__(self) -> None:
        for version in VERSIONS:
            app = {"id": APP, "name": "Focus", "version": version, "description": "One thing at a time."}
            self._file(version).write_bytes(write_package(a_surface_package(app=app)))

    async def work(self, is_over: Callable[[], bool]) -> None:
        """Give one command after the other until the gateway is gone."""
        while not is_over():
            await asyncio.to_thread(self._command)
            await asyncio.sleep(self.dice.uniform(0, 0.05))

    def _command(self) -> None:
        moves = MOVES[self.memory.app]
        command = self.dice.choice(sorted(moves))
        try:
            with ControlClient(self.data) as client:
                self.memory.app_pending = moves[command]
                client.ask(command, self._parameters(command))
        except NoGateway:
            return
        except CommandRefused as refused:
            if refused.code != "store_unavailable":
                self.memory.contradict("a command that makes sense is carried out", f"{command}: {refused}")
        else:
            self.memory.app = moves[command]
        self.memory.app_pending = None

    def _parameters(self, command: str) -> dict[str, Any]:
        match command:
            case "app.install":
                return {"package": str(self._file(_FIRST))}
            case "app.upgrade":
                return {"package": str(self._file(_SECOND))}
            case _:
                return {"name": APP}

    def _file(self, version: str) -> Path:
        return self.folder / f"focus-{version}.ostiary-app"
