"""Taking over a changed configuration file, or keeping the old one and saying so."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import structlog

from gateway.domain.audit import AuditEvent
from gateway.domain.configuration import Configuration
from gateway.runtime import audit

if TYPE_CHECKING:
    # `Services` holds the `Admin` of this package.
    from gateway.runtime.services import Services

_log = structlog.get_logger("ostiary.admin")


@runtime_checkable
class _Placed(Protocol):
    """A refusal of a file that knows where its problems are."""

    @property
    def places(self) -> list[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """What a reload did: `message` is for the person who asked for it."""

    is_accepted: bool
    message: str


class Reloader:
    """Takes a changed file over, or keeps what it has."""

    def __init__(self, *, services: "Services", path: Path, load: Callable[[Path], Configuration]) -> None:
        self._services = services
        self._path = path
        self._load = load
        self._one_at_a_time = asyncio.Lock()

    async def reload(self, *, by: str = "signal") -> Reloaded:
        """Read the file again. A file that is refused (`load` raises a ValueError) changes nothing."""
        async with self._one_at_a_time:
            old = self._services.live.world.configuration
            try:
                # A large file takes seconds, which the loop does not have.
                new = await asyncio.to_thread(self._load, self._path)
            except ValueError as error:
                return await self._refuse(error, old, by)
            await self._services.reconfiguration.apply(new)
            _log.info("configuration_loaded", revision=new.revision)
            return Reloaded(is_accepted=True, message="; ".join([f"loaded `{new.revision}`", *_later(old, new)]))

    async def _refuse(self, error: ValueError, old: Configuration, by: str) -> Reloaded:
        places = error.places if isinstance(error, _Placed) else [str(self._path)]
        now = self._services.clock.now()
        # Places only: the text of a problem quotes the file.
        record = audit.of_admin(AuditEvent.CONFIGURATION_REFUSED, now, places=places, kept=old.revision, by=by)
        await self._services.spine.store.run(lambda tx: tx.audit.append(record))
        _log.error("configuration_refused", places=places, kept=old.revision)
        return Reloaded(is_accepted=False, message=f"{error}\nthe file is refused; `{old.revision}` stays in force")


def _later(old: Configuration, new: Configuration) -> list[str]:
    """What a reload cannot change."""
    listening = (old.server.listen_host, old.server.listen_port) != (new.server.listen_host, new.server.listen_port)
    ledger = (old.limits.ledger_rows, old.limits.ledger_open) != (new.limits.ledger_rows, new.limits.ledger_open)
    changed = [
        *(["`server.listen`"] if listening else []),
        *(["`server.database`"] if old.server.database != new.server.database else []),
        *(["`limits.ledger_rows`, `limits.ledger_open`"] if ledger else []),
    ]
    return [f"from the next start on: {', '.join(changed)}"] if changed else []
