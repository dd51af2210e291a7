"""Requests of a page's own client: the socket is the credential, the page session its one agent session."""

import asyncio
from contextlib import suppress
from typing import Any, Final

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.page_frames import SurfaceRequest, surface_reply
from gateway.protocol.surface import answered, refused, request_id
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.runtime.surface import Handled, Transmission, read_envelope
from gateway.runtime.world import LivePage
from gateway.transports.doors import Waiters, refusal_of
from gateway.transports.page_ws.outgoing import Outgoing

AT_ONCE: Final = 32
"""Requests of one socket being answered at the same time."""


class InPageClient:
    """The requests one socket carries. They end with it, and their calls are orphaned like any caller's."""

    def __init__(self, services: Services, outgoing: Outgoing) -> None:
        self._services = services
        self._outgoing = outgoing
        self._open: dict[asyncio.Task[None], Waiters] = {}

    def take(self, page: LivePage, frame: SurfaceRequest) -> None:
        """Answer one request beside the others."""
        if len(self._open) >= AT_ONCE:
            error = GatewayError(ErrorCode.BUSY, f"{AT_ONCE} requests of this page are being answered already")
            self._services.spine.spawn(self._note(page, error))
            self._reply(frame.id, refused(request_id(frame.envelope), error))
            return
        waiters = Waiters(self._services.calls.attendance)
        task = asyncio.create_task(self._answer(page, frame, waiters))
        self._open[task] = waiters
        task.add_done_callback(lambda done: self._open.pop(done, None))

    async def hang_up(self) -> None:
        """The socket went away: nobody waits for these answers any more."""
        tasks = tuple(self._open)
        for task, waiters in tuple(self._open.items()):
            waiters.hang_up()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, page: LivePage, frame: SurfaceRequest, waiters: Waiters) -> None:
        try:
            handled = await self._handle(page, frame, waiters)
        except (GatewayError, StoreBusy, StoreUnavailable) as failure:
            error = refusal_of(failure)
            await self._note(page, error)
            self._reply(frame.id, refused(request_id(frame.envelope), error))
            return
        if self._reply(frame.id, answered(request_id(frame.envelope) or "", handled.result)) and handled.taken:
            self._services.calls.take(handled.taken)
        waiters.leave()

    async def _handle(self, page: LivePage, frame: SurfaceRequest, waiters: Waiters) -> Handled:
        envelope = read_envelope(frame.envelope)
        session = await self._services.sessions.in_page(page)
        if session is None:
            raise GatewayError(ErrorCode.UNSUPPORTED, "this site has no in-page client")
        self._services.sessions.used(session)
        sent = Transmission(arrival=self._services.inventories.arrive())
        return await self._services.surface.handle(session, envelope, sent, waiters)

    async def _note(self, page: LivePage, error: GatewayError) -> None:
        if error.is_audited:
            return
        with suppress(StoreBusy, StoreUnavailable):
            await self._services.refusals.note("in_page", page.id, error.code)

    def _reply(self, name: str, envelope: dict[str, Any]) -> bool:
        return self._outgoing.send(surface_reply(name, envelope))
