"""The life of one socket: the checks before the upgrade, `hello`, and then a document until it goes."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from typing import Final

import structlog
from starlette.responses import Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.page_frames import Hello, error, welcome
from gateway.runtime import pages
from gateway.runtime.pages import CLOSE_ORIGIN, CLOSE_TICKET, Joined
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.transports.doors import judge_host, peer_of
from gateway.transports.errors import STATUSES, headers_of
from gateway.transports.page_ws.document import Document
from gateway.transports.page_ws.incoming import DOOR, Incoming
from gateway.transports.page_ws.outgoing import Outgoing
from gateway.transports.page_ws.protocol import WIRE, PageProtocol

HELLO_SECONDS: Final = 3.0
CLOSE_SECONDS: Final = 2.0
"""How long a close may take to be written to a peer that may not read."""

CLOSE_INTERNAL: Final = 1011
CLOSE_LATER: Final = 1013

_CLOSES: Final = {ErrorCode.ORIGIN_REFUSED: CLOSE_ORIGIN, ErrorCode.BUSY: CLOSE_LATER}

_log = structlog.get_logger("ostiary.page")


def routes(services: Services) -> list[BaseRoute]:
    """What this door serves."""
    return [WebSocketRoute("/page/v1", page_endpoint(services))]


def page_endpoint(services: Services) -> Callable[[WebSocket], Awaitable[None]]:
    """The WebSocket endpoint of the page channel. Must be served by `PageProtocol`."""
    sockets = _Sockets(services)

    async def endpoint(websocket: WebSocket) -> None:
        try:
            origin = _judge_handshake(services, websocket)
            sockets.judge()
        except GatewayError as refusal:
            await _note(services, websocket, refusal)
            answer = Response(status_code=STATUSES[refusal.code], headers=headers_of(refusal))
            await websocket.send_denial_response(answer)
            return
        with sockets.one() as arrived:
            await websocket.accept()
            await _Socket(services, websocket, origin, arrived).live()

    return endpoint


class _Sockets:
    """How many are open: a socket costs memory and a file, also before anybody signed in on it."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._open = self._arriving = 0

    def judge(self) -> None:
        """Refuse one socket too many.

        Raises:
            GatewayError: `busy`.
        """
        limits = self._services.live.world.configuration.limits
        for count, most, name in (
            (self._open, limits.page_connections, "open"),
            (self._arriving, limits.page_arrivals, "waiting for their `hello`"),
        ):
            if count >= most:
                raise GatewayError(ErrorCode.BUSY, f"{most} sockets of pages are {name} already")

    @contextmanager
    def one(self) -> Generator[Callable[[], None]]:
        """Count one; it is arriving until what this gives is called."""
        self._open += 1
        self._arriving += 1
        is_arriving = True

        def arrived() -> None:
            nonlocal is_arriving
            self._arriving -= is_arriving
            is_arriving = False

        try:
            yield arrived
        finally:
            arrived()
            self._open -= 1


async def _note(
    services: Services,
    websocket: WebSocket,
    refusal: GatewayError,
    event: AuditEvent = AuditEvent.ACCESS_REFUSED,
    **facts: str,
) -> None:
    """Audit a refusal."""
    if refusal.is_audited:
        return
    origin = websocket.headers.get("origin", "")[:200] or None
    with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
        await services.refusals.note(DOOR, peer_of(websocket), refusal.code, event, origin=origin, **facts)


def _judge_handshake(services: Services, websocket: WebSocket) -> str:
    configuration = services.live.world.configuration
    judge_host(configuration.server, websocket.headers)
    origins = websocket.headers.getlist("origin")
    # Exact comparison: no prefix, no `null`, no missing header passes.
    if len(origins) != 1 or not any(origins[0] in site.origins for site in configuration.sites.values()):
        raise GatewayError(ErrorCode.ORIGIN_REFUSED, "no site lists this origin")
    return origins[0]


class _Socket:
    """One accepted socket. It ends when its peer leaves, when it is closed from this side, or dropped."""

    def __init__(self, services: Services, websocket: WebSocket, origin: str, arrived: Callable[[], None]) -> None:
        limits = services.live.world.configuration.limits
        self._services = services
        self._websocket = websocket
        self._origin = origin
        meter = services.telemetry.meter
        self._arrived = arrived
        self._document: Document | None = None
        self._wire: PageProtocol = websocket.scope[WIRE]
        self._outgoing = Outgoing(
            websocket, max_frames=limits.page_queue_frames, max_bytes=limits.page_queue_bytes, meter=meter
        )
        self._incoming = Incoming(
            websocket,
            self._wire,
            self._outgoing,
            refusals=services.refusals,
            clock=services.clock,
            limits=limits,
            peer=peer_of(websocket),
            meter=meter,
        )

    async def live(self) -> None:
        """Run the socket to its end."""
        writing = asyncio.create_task(self._outgoing.run())
        talking = asyncio.create_task(self._talk())
        ended = asyncio.create_task(self._outgoing.ended())
        try:
            await asyncio.wait({talking, ended}, return_when=asyncio.FIRST_COMPLETED)
            # First the page counts as gone, then its peer may take its time with the close.
            talking.cancel()
            await asyncio.wait({talking})
            await asyncio.wait({writing}, timeout=0 if self._outgoing.is_given_up else CLOSE_SECONDS)
            if not writing.done() or self._outgoing.is_given_up:
                # Its peer takes nothing: a polite end would wait for that peer.
                self._wire.abandon()
        finally:
            for task in (writing, talking, ended):
                task.cancel()
            await asyncio.gather(writing, talking, ended, return_exceptions=True)
        if self._document is not None:
            with suppress(StoreBusy, StoreUnavailable):  # they end at their deadline then
                await self._document.never_got(self._outgoing.unwritten())

    async def _talk(self) -> None:
        try:
            hello = await self._hello()
            if hello is not None:
                await self._welcome(hello)
        except (StoreBusy, StoreUnavailable):
            # The page comes back and says again what was not stored.
            self._outgoing.close(CLOSE_LATER, "busy")
        except Exception as bug:  # noqa: BLE001 - one socket's bug is told to the log and ends that socket only
            _log.exception("page_socket_failed", error=type(bug).__name__)
            self._outgoing.close(CLOSE_INTERNAL, "internal")
        else:
            # The peer left; where this side closed first, this changes nothing.
            self._outgoing.hung_up()

    async def _hello(self) -> Hello | None:
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                while (frame := await self._incoming.next_frame()) is not None:
                    if isinstance(frame, Hello):
                        return frame
                    await self._incoming.refuse(GatewayError(ErrorCode.BAD_REQUEST, "the first frame is `hello`"))
                return None
        except TimeoutError:
            await self._refuse(GatewayError(ErrorCode.UNAUTHENTICATED, "no `hello` came in time"))
            return None

    async def _welcome(self, hello: Hello) -> None:
        services = self._services
        try:
            self._judge_site(hello)
        except GatewayError as refusal:
            await self._refuse(refusal)
            return
        try:
            joined = await services.pages.join(self._hello_of(hello), self._outgoing)
        except GatewayError as refusal:
            await self._refuse(refusal, AuditEvent.PAGE_REFUSED, site=hello.site[:80])
            return
        self._arrived()
        document = self._document = Document(services, joined, self._outgoing)
        # Nothing is awaited between the join and this: `welcome` is the first frame on the wire.
        self._outgoing.send(self._welcome_of(joined))
        self._incoming.welcomed(joined.page.id)
        pinging = asyncio.create_task(document.ping())
        try:
            await services.pages.arrived(joined, frozenset(hello.seen))
            await services.workspaces.arrived(joined.page)
            await services.documents.arrived(joined.page)
            services.activity.refresh(joined.page.session.user)
            await self._serve(document)
        finally:
            pinging.cancel()
            await document.gone()

    async def _serve(self, document: Document) -> None:
        while (frame := await self._incoming.next_frame()) is not None:
            try:
                await document.take(frame)
            except GatewayError as refusal:
                await self._incoming.refuse(refusal)

    def _judge_site(self, hello: Hello) -> None:
        site = self._services.live.world.configuration.sites.get(hello.site)
        if site is None or self._origin not in site.origins:
            raise GatewayError(ErrorCode.ORIGIN_REFUSED, "the site is not known or does not list this origin")

    async def _refuse(
        self, refusal: GatewayError, event: AuditEvent = AuditEvent.ACCESS_REFUSED, **facts: str
    ) -> None:
        await _note(self._services, self._websocket, refusal, event, **facts)
        if refusal.code is ErrorCode.BUSY:
            self._outgoing.send(error(refusal.code.wire, refusal.message))
        self._outgoing.close(_CLOSES.get(refusal.code, CLOSE_TICKET), "refused")

    def _hello_of(self, hello: Hello) -> pages.Hello:
        return pages.Hello(
            site=hello.site,
            document=hello.doc,
            ticket=hello.ticket,
            resume=hello.resume or None,
            seen=frozenset(hello.seen),
            url=hello.url,
            title=hello.title,
            visible=hello.visibility == "visible",
            automated=hello.automated,
            has_workspace=hello.workspace,
            origin=self._origin,
        )

    def _welcome_of(self, joined: Joined) -> dict[str, object]:
        configuration = self._services.live.world.configuration
        session = joined.page.session
        site = configuration.sites.get(session.site)
        return welcome(
            page=session.id,
            epoch=session.epoch,
            resume=joined.resume,
            ping=configuration.limits.page_ping_ms,
            reauth=max(0, session.standing_until - self._services.clock.now()),
            in_page=site is not None and site.in_page_scope is not None,
        )
