"""The time between the wish to stop and the stop: calls that were handed out may still end for their callers."""

import asyncio
from contextlib import suppress
from typing import Final

from gateway.domain.calls import CallState
from gateway.runtime.attendance import Attendance
from gateway.runtime.ports import StoreBusy, StoreUnavailable, Tx
from gateway.runtime.spine import Spine

BETWEEN_SECONDS: Final = 0.05


async def settled(spine: Spine, attendance: Attendance, *, within_ms: int) -> None:
    """Return once nobody waits for a call that was handed out, or after `within_ms`.

    A call that waits for its person is not waited for: it survives the restart.
    """

    def is_one_awaited(tx: Tx) -> bool:
        calls = tx.calls.open_calls()
        return any(call.state is CallState.DISPATCHED and attendance.has_waiter(call.ref) for call in calls)

    with suppress(TimeoutError, StoreBusy, StoreUnavailable):
        async with asyncio.timeout(within_ms / 1_000):
            while await spine.store.run(is_one_awaited):  # noqa: ASYNC110 - it may end in many places
                await asyncio.sleep(BETWEEN_SECONDS)
