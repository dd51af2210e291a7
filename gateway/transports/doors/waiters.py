"""Work done for a client for as long as it is there."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from gateway.domain.errors import GatewayError
from gateway.runtime.attendance import Attendance, Waiter

T = TypeVar("T")


class Waiters(list[Waiter]):
    """The waiters one request opened; all leave together, by an answer or by a hang-up."""

    def __init__(self, attendance: Attendance) -> None:
        super().__init__()
        self._attendance = attendance

    def leave(self) -> None:
        """The caller has its answer."""
        for waiter in self:
            self._attendance.leave(waiter)

    def hang_up(self) -> None:
        """The caller went before an answer."""
        for waiter in self:
            self._attendance.hang_up(waiter)


async def while_connected(request: Request, work: Coroutine[Any, Any, T], waiters: Waiters) -> T:
    """Do `work` for as long as its client is there; the body must have been read.

    Raises:
        ClientDisconnect: it left; its waiters were hung up.
    """
    doing = asyncio.create_task(work)
    watching = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({doing, watching}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
    finally:
        watching.cancel()
        if not doing.done():
            waiters.hang_up()
            doing.cancel()
            with suppress(asyncio.CancelledError, GatewayError):
                await doing
    raise ClientDisconnect


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
