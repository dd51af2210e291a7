"""A store that is timed: whichever one it is, what it costs is measured from outside."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gateway.runtime.ports import Store, StoreBusy, StoreUnavailable, Tx
from gateway.runtime.telemetry import names
from gateway.runtime.telemetry.ports import Meter

T = TypeVar("T")


class MeteredStore:
    """`Store` over another one. `depth` is how many units were handed to it and are not finished."""

    def __init__(self, store: Store, meter: Meter) -> None:
        self._store = store
        self._meter = meter
        self.depth = 0

    async def run(self, work: Callable[[Tx], T], heard: Callable[[T], None] | None = None) -> T:
        """Run `work` as the store does, and note how long it ran and how long its commit took."""
        began = ended = 0.0

        def timed(tx: Tx) -> T:
            nonlocal began, ended
            began = time.perf_counter()
            try:
                return work(tx)
            finally:
                ended = time.perf_counter()

        def noted(value: T) -> None:
            self._meter.observe(names.STORE_UNIT, ended - began)
            self._meter.observe(names.STORE_COMMIT, time.perf_counter() - ended)
            if heard is not None:
                heard(value)

        self.depth += 1
        try:
            return await self._store.run(timed, noted)
        except StoreBusy:
            self._meter.add(names.STORE_FAILURES, "busy")
            raise
        except StoreUnavailable:
            self._meter.add(names.STORE_FAILURES, "unavailable")
            raise
        finally:
            self.depth -= 1

    async def back_up(self, target: Path) -> None:
        """Copy the database as the store does; not timed, it takes as long as it is large."""
        await self._store.back_up(target)

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()
