"""What one document says of the mini app frames it shows, in the use cases' words."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol import app_frames as frames
from gateway.protocol.document_frames import DocumentAct
from gateway.protocol.frame import Frame
from gateway.protocol.page_frames import ack, action_reply
from gateway.runtime import workspaces as told
from gateway.runtime.document_actions import Wanted
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.runtime.settlement import Answer
from gateway.runtime.workspaces import Place, Told, Workspaces
from gateway.runtime.world import LivePage
from gateway.transports.doors import refusal_of
from gateway.transports.page_ws.incoming import DOOR
from gateway.transports.page_ws.outgoing import Outgoing
from gateway.transports.page_ws.results import said_answer

AT_ONCE: Final = 32
"""Actions of one socket's page that are answered at the same time; how many become calls is for the use case."""

_NEWS: Final[Mapping[type[Frame], Callable[[Any], told.News]]] = {
    frames.Opened: lambda _: told.Opened(),
    frames.OpenFailed: lambda frame: told.Failed(frame.code, frame.message),
    frames.Foregrounded: lambda _: told.Foregrounded(),
    frames.ForegroundRefused: lambda _: told.Refused(),
    frames.ToolStarted: lambda frame: told.Started(frame.ref),
    frames.ToolProgress: lambda frame: told.Progressed(frame.ref, frame.n, frame.total, frame.message or None),
    frames.SurfaceEvent: lambda frame: told.Happened(frame.event, frame.data),
}


class MiniApps:
    """The frames of one socket's document that speak of mini apps, and what people ask for in documents of agents."""

    def __init__(self, services: Services, outgoing: Outgoing) -> None:
        self._services = services
        self._outgoing = outgoing
        self._acting: set[asyncio.Task[None]] = set()

    @property
    def _workspaces(self) -> Workspaces:
        return self._services.workspaces

    async def hear(self, page: LivePage, frame: frames.AppNews, *, result_bytes: int) -> None:
        """Pass on what a frame says; a result is acknowledged once it was heard, or will never be.

        Raises:
            GatewayError: the instance is not this page's, or cannot have said that.
        """
        place = Place(page=page, instance=frame.instance)
        match frame:
            case frames.ToolSucceeded() | frames.ToolFailed():
                await self.answered(place, frame.ref, said_answer(frame, result_bytes))
            case frames.SessionData():
                await self._keep(place, frame)
            case _:
                await self._workspaces.hear(place, _NEWS[type(frame)](frame))

    async def answered(self, place: Place, ref: str, answer: Answer) -> None:
        """Pass on what a handler said of `ref`."""
        try:
            await self._workspaces.hear(place, told.Answered(ref, answer))
        finally:
            # Also for what was refused: the page has done its part and may empty its outbox.
            self._outgoing.send(ack(ref))

    async def intend(self, page: LivePage, frame: frames.Intent) -> None:
        """Pass on what the person or the browser did.

        Raises:
            GatewayError: the instance is not this page's.
        """
        await self._workspaces.intended(Place(page=page, instance=frame.instance), frame.intent)

    def act(self, page: LivePage, frame: frames.AppAction) -> None:
        """Do what a mini app's frame asks for, beside its other requests."""
        place = Place(page=page, instance=frame.instance)
        action = told.Action(id=frame.id, action=frame.action, arguments=frame.input)
        self._begin(page, frame.id, lambda tell: self._workspaces.acted(place, action, tell))

    def act_in_document(self, page: LivePage, frame: DocumentAct) -> None:
        """Do what a person asks for in a document, beside the other requests."""
        ref = frame.documentRef
        wanted = Wanted(
            call=ref.call,
            generation=ref.generation,
            revision=ref.revision,
            request=frame.requestId,
            action=frame.actionId,
            values=frame.values,
        )
        actions = self._services.document_actions
        self._begin(page, frame.requestId, lambda tell: actions.act(page, wanted, tell))

    def _begin(self, page: LivePage, name: str, work: Callable[[told.Tell], Awaitable[Any]]) -> None:
        if len(self._acting) >= AT_ONCE:
            busy = GatewayError(ErrorCode.BUSY, f"{AT_ONCE} actions of this page are being answered already")
            self._services.spine.spawn(self._refuse(page, name, busy))
            return
        task = asyncio.create_task(self._act(page, name, work))
        self._acting.add(task)
        task.add_done_callback(self._acting.discard)

    async def hang_up(self) -> None:
        """The socket went away, and nobody hears these replies any more: work that was begun goes on."""
        tasks = tuple(self._acting)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self, place: Place, frame: frames.SessionData) -> None:
        kept = await self._workspaces.keep(place, frame.revision, frame.data)
        self._outgoing.send(
            frames.app_data(frame.instance, frame.id, ok=kept.is_taken, revision=kept.revision, data=kept.data)
        )

    async def _act(self, page: LivePage, name: str, work: Callable[[told.Tell], Awaitable[Any]]) -> None:
        def tell(receipt: Told) -> None:
            self._outgoing.send(frames.receipt(name, status=receipt.status, seq=receipt.seq, reason=receipt.reason))

        try:
            output = await work(tell)
        except (GatewayError, StoreBusy, StoreUnavailable) as failure:
            await self._refuse(page, name, refusal_of(failure))
        else:
            self._outgoing.send(action_reply(name, output=output))

    async def _refuse(self, page: LivePage, name: str, error: GatewayError) -> None:
        self._outgoing.send(action_reply(name, code=error.code.wire, message=error.message))
        if error.is_audited:
            return
        with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
            await self._services.refusals.note(DOOR, page.id, error.code, AuditEvent.FRAME_REFUSED)
