"""The life of one socket: the checks before the upgrade, `hello`, and then a document until it goes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from starlette.responses import Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.page_frames import Hello, error, welcome
from gateway.runtime import pages
from gateway.runtime.pages import CLOSE_ORIGIN, CLOSE_TICKET, Joined
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.transports.doors import judge_host, note, peer_of
from gateway.transports.errors import STATUSES
from gateway.transports.page_ws.document import Document
from gateway.transports.page_ws.incoming import DOOR, Incoming
from gateway.transports.page_ws.outgoing import Outgoing

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
    """The WebSocket endpoint of the page channel."""

    async def endpoint(websocket: WebSocket) -> None:
        try:
            origin = _judge_handshake(services, websocket)
        except GatewayError as refusal:
            await note(services, DOOR, websocket, refusal)
            await websocket.send_denial_response(Response(status_code=STATUSES[refusal.code]))
            return
        await websocket.accept()
        await _Socket(services, websocket, origin).live()

    return endpoint


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

    def __init__(self, services: Services, websocket: WebSocket, origin: str) -> None:
        self._services = services
        self._websocket = websocket
        self._origin = origin
        self._outgoing = Outgoing(websocket)
        self._incoming = Incoming(websocket, self._outgoing, services.refusals, peer_of(websocket))

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
            await asyncio.wait({writing}, timeout=CLOSE_SECONDS)
        finally:
            for task in (writing, talking, ended):
                task.cancel()
            await asyncio.gather(writing, talking, ended, return_exceptions=True)

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
            refusal.is_audited = True
            await self._refuse(refusal)
            return
        document = Document(services, joined, self._outgoing)
        # Nothing is awaited between the join and this: `welcome` is the first frame on the wire.
        self._outgoing.send(self._welcome_of(joined))
        self._incoming.welcomed(joined.page.id)
        pinging = asyncio.create_task(document.ping())
        try:
            await services.pages.arrived(joined, frozenset(hello.seen))
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

    async def _refuse(self, refusal: GatewayError) -> None:
        await note(self._services, DOOR, self._websocket, refusal)
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
