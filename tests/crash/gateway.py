"""One gateway over many lives: starts it from a preloaded process, hears it begin, kills it, sees it end."""

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from typing import Final

from gateway.failpoints import Point
from tests.crash.victim import Birth, Born, hits_file, hurry, live, read_hits

PATIENCE: Final = 30.0
"""Seconds a start or an end may take on a busy machine before it counts as a hang."""

_FORKS: Final = get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.crash.victim", "tests.crash.nursery"])


@dataclass(eq=False)
class Life:
    """One process, from its start to its end."""

    process: ForkServerProcess
    birth: Birth
    ended: asyncio.Event
    born: Born | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.ended.is_set()

    @property
    def was_killed(self) -> bool:
        """Whether a kill ended it."""
        return self.process.exitcode == -signal.SIGKILL

    def hits(self) -> dict[Point, int]:
        """How often each point was passed in this life."""
        return read_hits(self.birth.hits)

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal; nothing where it is over."""
        if not self.is_over and self.process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    def hurry(self) -> None:
        """Let it end at its point the next time, without waiting for the planned one."""
        hurry(self.birth.hits)

    async def over(self) -> None:
        """Wait for its end."""
        async with asyncio.timeout(PATIENCE):
            await self.ended.wait()


async def start(birth: Birth) -> Life:
    """Begin a life. `born` is None where it ended before it could tell what it found."""
    ours, theirs = _FORKS.Pipe(duplex=False)
    birth = replace(birth, hits=hits_file(birth.hits))
    process = _FORKS.Process(target=live, args=(birth, theirs), daemon=True)
    process.start()
    theirs.close()
    loop, life = asyncio.get_running_loop(), Life(process, birth, asyncio.Event())

    def end() -> None:
        loop.remove_reader(process.sentinel)
        process.join()
        life.ended.set()

    loop.add_reader(process.sentinel, end)
    try:
        async with asyncio.timeout(PATIENCE):
            life.born = await asyncio.to_thread(ours.recv)
    except EOFError:
        await life.over()
    except TimeoutError:
        life.signal(signal.SIGKILL)
        raise
    finally:
        ours.close()
    return life
