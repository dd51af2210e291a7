"""Whether processes that are not ours are over."""

import asyncio
import os
import select
from contextlib import suppress

SECONDS = 20.0


async def ended(*pids: int) -> None:
    """Return once all of `pids` are over, whoever has to clean up after them."""
    await asyncio.gather(*(asyncio.to_thread(_wait, pid) for pid in pids))


def _wait(pid: int) -> None:
    with suppress(ProcessLookupError):
        watched = os.pidfd_open(pid)
        try:
            over, _, _ = select.select([watched], [], [], SECONDS)
            assert over, f"process {pid} lives on"
        finally:
            os.close(watched)
