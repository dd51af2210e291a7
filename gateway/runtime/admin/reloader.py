"""Taking over a changed configuration file, or keeping the old one and saying so."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import structlog

from gateway.domain.audit import AuditEvent
from gateway.domain.configuration import Configuration
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime import audit
from gateway.settings import READ_AT_START

if TYPE_CHECKING:
    # `Services` holds the `Admin` of this package.
    from gateway.runtime.services import Services

_log = structlog.get_logger("ostiary.admin")


class _Problem(Protocol):
    """What is wrong with a file, and where."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def key(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str: ...


@runtime_checkable
class _Placed(Protocol):
    """A refusal of a file that knows where its problems are."""

    @property
    def places(self) -> list[str]: ...

    @property
    def problems(self) -> Sequence[_Problem]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """One reason to refuse a file. `hint` is the next step, if any."""

    line: int
    column: int
    key: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict on a configuration: what it would be, or what is wrong with it."""

    configuration: Configuration | None
    problems: tuple[FileProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """What a reload did: `message` is for the person who asked for it."""

    is_accepted: bool
    message: str
    problems: tuple[FileProblem, ...] = ()
    later: str | None = None


class Reloader:
    """Takes a changed file over, or keeps what it has. `judge` reads a text the way `load` reads a file."""

    def __init__(
        self,
        *,
        services: "Services",
        path: Path | None,
        load: Callable[[Path], Configuration],
        judge: Callable[[str, str], Configuration],
    ) -> None:
        self._services = services
        self._path = path
        self._load = load
        self._judge = judge
        self._one_at_a_time = asyncio.Lock()

    async def check(self, text: str) -> Judged:
        """The verdict `ostiary check` would give on a file of this text; nothing changes."""
        async with self._one_at_a_time:
            try:
                # A large file takes seconds, which the loop does not have.
                return Judged(configuration=await asyncio.to_thread(self._judge, text, "ostiary.yaml"))
            except ValueError as error:
                return Judged(configuration=None, problems=_problems_of(error))

    async def reload(self, *, by: str = "signal") -> Reloaded:
        """Read the file again. A file that is refused (`load` raises a ValueError) changes nothing.

        Raises:
            GatewayError: `state_conflict`, when this gateway was started without a file.
        """
        if self._path is None:
            raise GatewayError(ErrorCode.STATE_CONFLICT, "this gateway was not started from a file")
        async with self._one_at_a_time:
            old = self._services.live.world.configuration
            try:
                new = await asyncio.to_thread(self._load, self._path)
            except ValueError as error:
                return await self._refuse(error, old, by)
            await self._services.reconfiguration.apply(new, by=by)
            _log.info("configuration_loaded", revision=new.revision)
            when = later(old, new)
            message = "; ".join([f"loaded `{new.revision}`", *([when] if when else [])])
            return Reloaded(is_accepted=True, message=message, later=when)

    async def _refuse(self, error: ValueError, old: Configuration, by: str) -> Reloaded:
        places = error.places if isinstance(error, _Placed) else [str(self._path)]
        now = self._services.clock.now()
        # Places only: the text of a problem quotes the file.
        record = audit.of_admin(AuditEvent.CONFIGURATION_REFUSED, now, places=places, kept=old.revision, by=by)
        await self._services.spine.store.run(lambda tx: tx.audit.append(record))
        _log.error("configuration_refused", places=places, kept=old.revision)
        return Reloaded(
            is_accepted=False,
            message=f"{error}\nthe file is refused; `{old.revision}` stays in force",
            problems=_problems_of(error),
        )


def _problems_of(error: ValueError) -> tuple[FileProblem, ...]:
    if not isinstance(error, _Placed):
        return (FileProblem(line=1, column=1, key="", message=str(error), hint=""),)
    return tuple(
        FileProblem(line=p.line, column=p.column, key=p.key, message=p.message, hint=p.hint) for p in error.problems
    )


def later(old: Configuration, new: Configuration) -> str | None:
    """What a reload cannot change; None when that is nothing."""
    changed = [
        f"`{key}`"
        for key, fields in READ_AT_START.items()
        if any(attrgetter(field)(old) != attrgetter(field)(new) for field in fields)
    ]
    return f"from the next start on: {', '.join(changed)}" if changed else None
