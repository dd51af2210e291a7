"""`GET …/stream`: the messages of a conversation as server-sent events, from any place that is still kept.

The id of an event is the place to go on after. The inventory has no place of its own: it is told as it is now, at
every connect and after every change. A stream pulls from the log; who reads slowly holds up nobody and fills nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, aclosing, contextmanager, suppress
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.conversations import EndTold, Message
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.failpoints import Point, reach
from gateway.protocol.strict_json import dumps
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.services import Services
from gateway.transports.lineup.inventory import inventory_messages
from gateway.transports.lineup.wire import told

STREAMS: Final = 8
"""Open streams of one agent session."""

BATCH: Final = 16
"""Messages read at once; each may hold a whole result."""

PING_SECONDS: Final = 15.0
"""Longest silence of a stream: proxies close what says nothing, and a bell may have been missed."""

HEADERS: Final = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}

_PING: Final = b": ping\n\n"


class Streams:
    """Every open stream of the gateway."""

    def __init__(self, services: Services, *, ping_seconds: float = PING_SECONDS) -> None:
        self.ping_seconds = ping_seconds
        self._services = services
        self._open: set[Stream] = set()
        self._counts: Counter[str] = Counter()
        services.live.subscribe(self._world_changed)

    @contextmanager
    def one(self, session: AgentSession, place: int) -> Generator["Stream"]:
        """One stream of `session`, from `place` on.

        Raises:
            GatewayError: `busy`, the session has all its streams.
        """
        if self._counts[session.id] >= STREAMS:
            raise GatewayError(ErrorCode.BUSY, f"{STREAMS} streams of this session are open; let one of them end")
        stream = Stream(self._services, session, place, self.ping_seconds)
        self._counts[session.id] += 1
        self._open.add(stream)
        try:
            yield stream
        finally:
            self._open.discard(stream)
            self._counts[session.id] -= 1
            if not self._counts[session.id]:
                del self._counts[session.id]

    def close(self) -> None:
        """End every stream: the gateway stops. Clients come back and go on where they were."""
        for stream in tuple(self._open):
            stream.end()

    def _world_changed(self) -> None:
        agents = self._services.live.world.configuration.agents
        for stream in tuple(self._open):
            if stream.session.agent not in agents:
                stream.end()


class Stream:
    """What one client is sent, in order, until its session or the gateway ends."""

    def __init__(self, services: Services, session: AgentSession, place: int, ping_seconds: float) -> None:
        self.session = session
        self._services = services
        self._place = place
        self._ping_seconds = ping_seconds
        self._bell = asyncio.Event()
        self._is_over = False
        self._is_inventory_due = True

    def end(self) -> None:
        """Send nothing more."""
        self._is_over = True
        self._bell.set()

    async def events(self) -> AsyncGenerator[tuple[bytes, Callable[[], None]]]:
        """Each event with what is to be done once it was sent."""
        services, session = self._services, self.session
        with ExitStack() as stack:
            stack.callback(services.conversations.listen(session, self._bell.set))
            stack.callback(services.changes.subscribe(session, self._inventory_changed))
            stack.callback(services.sessions.watch(session.id, self.end))
            # A store that fails ends the stream: its client comes back, and nothing was passed over.
            with suppress(StoreBusy, StoreUnavailable):
                while not self._is_over:
                    self._bell.clear()
                    async with aclosing(self._news()) as news:
                        async for event in news:
                            if self._is_over:
                                return
                            yield event

    async def _news(self) -> AsyncGenerator[tuple[bytes, Callable[[], None]]]:
        if self._is_inventory_due:
            self._is_inventory_due = False
            served = await self._services.inventories.serve(self.session)
            for each in inventory_messages(self.session, served):
                yield self._framed(each), _nothing
        found = await self._services.conversations.read(self.session, self._place, BATCH)
        for one in found.messages:
            self._place = one.seq
            reach(Point.MESSAGE_DUE)
            reason = found.reasons.get(one.call.ref) if isinstance(one, EndTold) else None
            yield self._framed(told(self.session, one, reason)), self._sent(one)
        is_behind = found.place > self._place or len(found.messages) == BATCH
        self._place = found.place
        if is_behind or found.messages:
            return
        try:
            async with asyncio.timeout(self._ping_seconds):
                await self._bell.wait()
        except TimeoutError:
            yield _PING, _nothing

    def _inventory_changed(self) -> None:
        self._is_inventory_due = True
        self._bell.set()

    def _framed(self, value: dict[str, Any]) -> bytes:
        return b"id: %d\ndata: %b\n\n" % (self._place, dumps(value))

    def _sent(self, one: Message) -> Callable[[], None]:
        def note() -> None:
            reach(Point.MESSAGE_SENT)
            if isinstance(one, EndTold):
                self._services.calls.take(one.call)

        return note


class StreamResponse(Response):
    """Sends a stream for as long as its client is there."""

    media_type = "text/event-stream"

    def __init__(self, stream: Stream, held: ExitStack) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._stream = stream
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - an ASGI application
        with self._held:
            sending = asyncio.create_task(self._send(send))
            watching = asyncio.create_task(_until_gone(receive))
            try:
                await asyncio.wait({sending, watching}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                watching.cancel()
                self._stream.end()
                if watching.done():
                    sending.cancel()
                with suppress(asyncio.CancelledError):
                    await sending

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with aclosing(self._stream.events()) as events:
            async for event, sent in events:
                await send({"type": "http.response.body", "body": event, "more_body": True})
                sent()
        await send({"type": "http.response.body", "body": b""})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _nothing() -> None:
    """Nothing is to be done."""
