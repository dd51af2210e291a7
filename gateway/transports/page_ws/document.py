"""One welcomed document: what each of its frames means to the use cases. It acts only while its socket is current."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, get_args

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.failpoints import Point, reach
from gateway.protocol import app_frames, document_frames
from gateway.protocol import page_frames as frames
from gateway.protocol.panel_frames import PanelAnswer, PanelClose
from gateway.runtime.pages import CLOSE_TICKET, Joined
from gateway.runtime.services import Services
from gateway.runtime.settlement import Answer
from gateway.runtime.telemetry import names
from gateway.runtime.workspaces import Place
from gateway.runtime.world import LivePage
from gateway.settings import Limits
from gateway.transports.page_ws.in_page import InPageClient
from gateway.transports.page_ws.incoming import DOOR, Taken, UnsafeResult
from gateway.transports.page_ws.mini_apps import MiniApps
from gateway.transports.page_ws.outgoing import Outgoing
from gateway.transports.page_ws.panel import take_answer
from gateway.transports.page_ws.results import REFUSALS, answer_of, refusal_of
from gateway.transports.page_ws.snapshots import Snapshots, judge

MISSED_PONGS: Final = 2
"""Pings without an answer after which a page counts as gone."""


class Document:
    """The frames of one document at one epoch, over one socket."""

    def __init__(self, services: Services, joined: Joined, outgoing: Outgoing) -> None:
        self._services = services
        self._outgoing = outgoing
        self._page = joined.page.id
        self._epoch = joined.page.session.epoch
        self._user = joined.page.session.user
        self._site = joined.page.session.site
        self._snapshots = Snapshots(self._limits)
        self._in_page = InPageClient(services, outgoing)
        self._mini_apps = MiniApps(services, outgoing)
        self._progress: dict[str, float] = {}
        self._pinged = self._ponged = 0
        self._handlers: Mapping[type[Taken], Callable[[Any], Awaitable[None]]] = {
            frames.TicketFrame: self._renew,
            frames.Caps: self._declare,
            frames.Refused: self._refused,
            frames.Started: self._started,
            frames.Progress: self._progressed,
            frames.Succeeded: self._answered,
            frames.Failed: self._answered,
            UnsafeResult: self._answered,
            frames.Described: self._described,
            frames.Decision: self._decided,
            frames.SurfaceRequest: self._surface,
            frames.Action: self._act,
            frames.Pong: self._pong,
            PanelAnswer: self._answered_in_panel,
            PanelClose: self._closed_in_panel,
            app_frames.Intent: self._intended,
            app_frames.AppAction: self._act_of_app,
            document_frames.DocumentAct: self._act_in_document,
            document_frames.DocumentWanted: self._wanted,
            document_frames.DocumentClosed: self._closed,
            **dict.fromkeys(get_args(app_frames.AppNews), self._told),
        }

    @property
    def _limits(self) -> Limits:
        return self._services.live.world.configuration.limits_of(self._site)

    @property
    def _live(self) -> LivePage | None:
        """The present state of this document; None once another socket speaks for its page session."""
        if self._services.pages.link(self._page) is not self._outgoing:
            return None
        return self._services.live.world.pages.get(self._page)

    async def take(self, frame: Taken) -> None:
        """Do what a frame asks for.

        Raises:
            GatewayError: the frame makes no sense now; the page is told so.
        """
        if self._live is None:
            return
        if isinstance(frame, frames.Hello):
            raise GatewayError(ErrorCode.BAD_REQUEST, "`hello` was said already")
        handler = self._handlers.get(type(frame))
        # `bye` and `error` ask for nothing: the close that follows says the rest.
        if handler is not None:
            await handler(frame)

    async def ping(self) -> None:
        """Ask now and then whether the page still runs, and give its socket up when it does not."""
        clock, limits = self._services.clock, self._limits
        while self._outgoing.is_open:
            await clock.sleep_until(clock.now() + limits.page_ping_ms)
            if self._pinged - self._ponged >= MISSED_PONGS:
                self._services.telemetry.meter.add(names.PAGES_DROPPED, "silent")
                self._outgoing.drop()
                return
            self._pinged += 1
            self._outgoing.send(frames.ping(self._pinged))

    async def gone(self) -> None:
        """The socket ended."""
        self._services.pages.leave(self._page, self._outgoing)
        await self._in_page.hang_up()
        await self._mini_apps.hang_up()

    async def never_got(self, refs: Sequence[str]) -> None:
        """The socket ended before these calls were written to it."""
        await self._services.pages.never_written(self._page, self._epoch, refs)

    # -- standing and capabilities ----------------------------------------------------------------------------

    async def _renew(self, frame: frames.TicketFrame) -> None:
        live = self._live
        assert live is not None
        try:
            await self._services.pages.renew(live, frame.ticket)
        except GatewayError as error:
            await self._services.refusals.note(DOOR, self._page, error.code, AuditEvent.PAGE_REFUSED)
            self._outgoing.close(CLOSE_TICKET, "ticket")

    async def _declare(self, frame: frames.Caps) -> None:
        whole = self._snapshots.take(frame)
        if whole is None:
            return
        judged = await judge(whole, self._limits, self._services.live.world.apps.segments)
        for rejection in judged.rejected:
            await self._services.refusals.note(
                DOOR,
                self._page,
                _REJECTIONS.get(rejection.code, ErrorCode.BAD_REQUEST),
                AuditEvent.CAPABILITY_REFUSED,
                capability=rejection.id,
                pointer=rejection.pointer,
            )
        if self._live is None:
            return
        # First, and with nothing awaited in between: no invoke may overtake the fingerprint it is compared with.
        self._outgoing.send(frames.caps_ack(frame.seq, _fingerprints(judged.accepted), judged.rejected))
        await self._services.pages.declare(self._page, judged.accepted)

    # -- work -------------------------------------------------------------------------------------------------

    async def _started(self, frame: frames.Started) -> None:
        self._services.execution.started_on_page(self._page, self._epoch, frame.ref, span=frame.traceparent)

    async def _progressed(self, frame: frames.Progress) -> None:
        if frame.n <= self._progress.get(frame.ref, -1.0):
            return
        is_running = await self._services.execution.progressed_on_page(
            self._page, self._epoch, frame.ref, frame.n, frame.total, frame.message or None
        )
        if is_running:
            self._progress[frame.ref] = frame.n

    async def _answered(self, frame: frames.Succeeded | frames.Failed | UnsafeResult) -> None:
        self._progress.pop(frame.ref, None)
        answer = answer_of(frame, self._limits.page_result_bytes)
        if isinstance(frame, UnsafeResult) and frame.instance:
            await self._unsafe_in_frame(frame, answer)
            return
        if isinstance(frame, UnsafeResult) or frame.epoch == self._epoch:
            span = "" if isinstance(frame, UnsafeResult) else frame.traceparent
            execution = self._services.execution
            known = await execution.answered_by_page(self._page, self._epoch, frame.ref, answer, span=span)
        else:
            known = None
        if known is None:
            await self._note_foreign()
        reach(Point.ACK_DUE)
        # Also for what was dropped: the page has done its part and may empty its outbox.
        self._outgoing.send(frames.ack(frame.ref))
        reach(Point.ACK_QUEUED)

    async def _refused(self, frame: frames.Refused) -> None:
        live, code, why = self._live, REFUSALS[frame.why], refusal_of(frame)
        assert live is not None
        self._progress.pop(frame.ref, None)
        await self._services.approvals.refused_by_page(live, frame.ref, code, why)
        ran_code = ErrorCode.NOT_AVAILABLE if frame.why == "not_available" else ErrorCode.NOT_DELIVERED
        known = await self._services.execution.refused_by_page(self._page, self._epoch, frame.ref, ran_code, why)
        if known is None:
            await self._note_foreign()
        self._outgoing.send(frames.ack(frame.ref))

    async def _note_foreign(self) -> None:
        await self._services.refusals.note(DOOR, self._page, ErrorCode.UNKNOWN_CALL, AuditEvent.FRAME_REFUSED)

    # -- the person -------------------------------------------------------------------------------------------

    async def _decided(self, frame: frames.Decision) -> None:
        live = self._live
        assert live is not None
        await self._services.approvals.decide(
            live,
            approval=frame.approval,
            nonce=frame.nonce,
            digest=frame.sha256,
            approve=frame.decision == "approve",
            visible=frame.visible,
        )

    async def _act(self, frame: frames.Action) -> None:
        live = self._live
        assert live is not None
        try:
            await self._services.activity.act(
                live, frame.action, agent=frame.agent or None, capability=frame.capability or None
            )
        except GatewayError as error:
            self._outgoing.send(frames.action_reply(frame.id, code=error.code.wire, message=error.message))
        else:
            self._outgoing.send(frames.action_reply(frame.id))

    async def _answered_in_panel(self, frame: PanelAnswer) -> None:
        live = self._live
        assert live is not None
        await take_answer(self._services.panel, live, frame, self._outgoing)

    async def _closed_in_panel(self, frame: PanelClose) -> None:
        live = self._live
        assert live is not None
        await self._services.panel.dismissed(live, frame.item)

    async def _pong(self, frame: frames.Pong) -> None:
        self._ponged = max(self._ponged, min(frame.n, self._pinged))
        self._services.pages.show(self._page, visible=frame.visibility == "visible")

    # -- mini apps --------------------------------------------------------------------------------------------

    async def _told(self, frame: app_frames.AppNews) -> None:
        live = self._live
        assert live is not None
        await self._mini_apps.hear(live, frame, result_bytes=self._limits.page_result_bytes)

    async def _unsafe_in_frame(self, frame: UnsafeResult, answer: Answer) -> None:
        live = self._live
        assert live is not None
        await self._mini_apps.answered(Place(page=live, instance=frame.instance), frame.ref, answer)

    async def _intended(self, frame: app_frames.Intent) -> None:
        live = self._live
        assert live is not None
        await self._mini_apps.intend(live, frame)

    async def _act_of_app(self, frame: app_frames.AppAction) -> None:
        live = self._live
        assert live is not None
        self._mini_apps.act(live, frame)

    # -- documents of agents ----------------------------------------------------------------------------------

    async def _act_in_document(self, frame: document_frames.DocumentAct) -> None:
        live = self._live
        assert live is not None
        self._mini_apps.act_in_document(live, frame)

    async def _wanted(self, frame: document_frames.DocumentWanted) -> None:
        live = self._live
        assert live is not None
        await self._services.documents.wanted(live, frame.generation)

    async def _closed(self, frame: document_frames.DocumentClosed) -> None:
        live = self._live
        assert live is not None
        await self._services.documents.closed(live, frame.generation)

    # -- reading ----------------------------------------------------------------------------------------------

    async def _described(self, frame: frames.Described) -> None:
        context = None if frame.context is None else frame.context.model_dump()
        if context is not None and frame.unavailable:
            context["unavailable"] = frame.unavailable
        self._services.contexts.answered(self._page, frame.id, context)

    async def _surface(self, frame: frames.SurfaceRequest) -> None:
        live = self._live
        assert live is not None
        self._in_page.take(live, frame)


_REJECTIONS: Final = {code.wire: code for code in ErrorCode}


def _fingerprints(accepted: Mapping[str, Any]) -> dict[str, str]:
    return {name: descriptor.fingerprint for name, descriptor in accepted.items()}
