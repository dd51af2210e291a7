"""The process that is killed: `gateway.asgi.serve` as an operator runs it, with a trap at the failpoints."""

import asyncio
import mmap
import os
import signal
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from gateway import failpoints
from gateway.asgi import serve
from gateway.bootstrap import Gateway
from gateway.failpoints import Point
from tests.crash import press, timer
from tests.crash.evidence import Evidence, collect, look
from tests.crash.scene import AGENTS, SCOPE, SITE, TALK, USER

POINTS: Final = tuple(Point)
_CELL: Final = 4
_SIZE: Final = len(POINTS) * _CELL + 1
"""A count for each point, and one byte by which the rig loses its patience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """How one life begins. `kill_at` is armed from the start, or once the evidence was read."""

    config: Path
    data: Path
    hits: Path
    log: Path
    makes_grants: bool = False
    kill_at: Point | None = None
    nth: int = 1
    is_armed_at_start: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """The secrets the agents and the site's backend go on with."""

    tokens: dict[str, str]
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Born:
    """What a life found when it began, after recovery and before its listeners."""

    evidence: Evidence
    grants: Grants | None


class Trap:
    """Counts every point in memory shared with the rig, and ends the process at the one it was set for."""

    def __init__(self, birth: Birth) -> None:
        with birth.hits.open("r+b") as file:
            self._cells = mmap.mmap(file.fileno(), _SIZE)
        self._place = {point: number * _CELL for number, point in enumerate(POINTS)}
        self._kill_at = birth.kill_at
        self._left = birth.nth
        self._is_set = birth.is_armed_at_start

    def set(self) -> None:
        """From now on the point counts."""
        self._is_set = True

    def __call__(self, point: Point) -> None:
        place = self._place[point]
        hits = int.from_bytes(self._cells[place : place + _CELL], "little") + 1
        self._cells[place : place + _CELL] = hits.to_bytes(_CELL, "little")
        if point is self._kill_at and self._is_set:
            self._left -= 1
            if self._left <= 0 or self._cells[-1]:
                os.kill(os.getpid(), signal.SIGKILL)


def hits_file(path: Path) -> Path:
    """A fresh file for the counts."""
    path.write_bytes(bytes(_SIZE))
    return path


def hurry(path: Path) -> None:
    """Let the next passing of the point count, whichever it is."""
    with path.open("r+b") as file:
        file.seek(_SIZE - 1)
        file.write(b"\1")


def read_hits(path: Path) -> dict[Point, int]:
    """How often each point was passed."""
    raw = path.read_bytes()
    return {
        point: int.from_bytes(raw[number * _CELL : (number + 1) * _CELL], "little")
        for number, point in enumerate(POINTS)
    }


def live(birth: Birth, told: Connection) -> None:
    """Serve until killed or stopped. The first thing told is `Born`."""
    log = os.open(birth.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    trap = Trap(birth)
    failpoints.arm(trap)

    async def begin(gateway: Gateway) -> None:
        if birth.makes_grants:
            await press.install(gateway, birth.data)
            await timer.install(gateway, birth.data)
        grants = await _grants(gateway) if birth.makes_grants else None
        evidence = await gateway.services.spine.store.run(collect)
        folders, pressed = await asyncio.to_thread(look, birth.data), press.pressed(birth.data)
        evidence = replace(evidence, folders=folders, pressed=pressed)
        told.send(Born(evidence=evidence, grants=grants))
        trap.set()

    asyncio.run(
        serve(birth.config, birth.data, on_ready=lambda gateway: gateway.services.spine.spawn(begin(gateway)))
    )


async def _grants(gateway: Gateway) -> Grants:
    admin = gateway.services.admin
    tokens = {
        agent: (
            await admin.add_session(
                agent, user=USER, sites=[SITE], scope=[*SCOPE, press.RUN, "timer.*"], conversation=TALK, by="rig"
            )
        ).token
        for agent in AGENTS
    }
    return Grants(tokens=tokens, key=(await admin.add_key(SITE, capabilities=[*SCOPE, "timer.*"], by="rig")).secret)
