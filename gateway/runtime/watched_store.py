"""A store that says once that it is gone, and once that it is back.

Reads may go on succeeding while nothing can be written, so only a write that was committed ends an outage.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import structlog

from gateway.runtime.ports import Store, StoreBusy, StoreUnavailable, Tx

T = TypeVar("T")

PROBE: Final = "probe"
"""Name of the installation fact a probe writes."""

PROBE_SECONDS: Final = 5.0
"""A store that takes longer to commit one small row is not ready."""

_log = structlog.get_logger("ostiary.store")


class WatchedStore:
    """`Store` over another one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._since: float | None = None
        self._failures = 0

    @property
    def is_down(self) -> bool:
        """Whether something could not be committed, and nothing was since."""
        return self._since is not None

    async def run(self, work: Callable[[Tx], T], heard: Callable[[T], None] | None = None) -> T:
        try:
            return await self._store.run(work, heard)
        except StoreUnavailable as error:
            self._failed(error)
            raise

    async def back_up(self, target: Path) -> None:
        await self._store.back_up(target)

    async def close(self) -> None:
        await self._store.close()

    async def probe(self) -> bool:
        """Commit one small row; whether that worked."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await self._store.run(lambda tx: tx.installation.put(PROBE, b"committed"))
        except StoreBusy:
            # Much to do is not the same as nothing done.
            return not self.is_down
        except StoreUnavailable as error:
            self._failed(error)
            return False
        except TimeoutError:
            self._failed(StoreUnavailable(f"the store did not answer within {PROBE_SECONDS:g} s"))
            return False
        self._worked()
        return True

    def _failed(self, error: StoreUnavailable) -> None:
        self._failures += 1
        if self._since is None:
            self._since = time.monotonic()
            _log.error("store_unavailable", cause=str(error), hint="calls are refused until it commits again")

    def _worked(self) -> None:
        if self._since is not None:
            seconds = round(time.monotonic() - self._since, 1)
            _log.info("store_recovered", after_seconds=seconds, refused=self._failures)
        self._since, self._failures = None, 0
