"""The way in: text to frames, strictly, and no faster than one page may speak.

A bad frame is answered with `error` and audited; the socket stays open. Who speaks too fast is read more slowly.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from starlette.websockets import WebSocket

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol import page_frames
from gateway.protocol.page_frames import FRAME_BYTES, FRAME_DEPTH, SNAPSHOT_DEPTH, BadFrame, PageFrame
from gateway.protocol.strict_json import BadJson, parse
from gateway.runtime.ports import Clock
from gateway.runtime.refusals import Refusals
from gateway.runtime.telemetry import NO_METER, Meter, names
from gateway.settings import Limits
from gateway.transports.doors import refusal_of_json
from gateway.transports.page_ws.outgoing import Outgoing
from gateway.transports.page_ws.pace import Pace
from gateway.transports.page_ws.protocol import FRAMES, PageProtocol

DOOR: Final = "page"

_CLOSED_FOR: Final = {1008: ErrorCode.RATE_LIMITED, 1009: ErrorCode.BODY_TOO_LARGE}
"""What a close for what the peer sent is called in the trail; every other one is a bad request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsafeResult:
    """A result that holds an integer the other half would round; `pointer` goes into its output or evidence.

    `instance` is the mini app it came from, empty for the page itself.
    """

    ref: str
    pointer: str
    instance: str = ""


Taken = PageFrame | UnsafeResult


def read_text(text: str) -> Taken:
    """Judge one text message.

    Raises:
        GatewayError: it is no frame.
    """
    try:
        value = _value_of(text)
    except BadJson as bad:
        unsafe = _unsafe_result(text, bad)
        if unsafe is None:
            raise refusal_of_json(bad) from None
        return unsafe
    try:
        return page_frames.read_frame(value)
    except BadFrame as bad:
        message = f"at `{bad.pointer or '/'}`: {bad.reason}"
        raise GatewayError(ErrorCode.BAD_REQUEST, message, pointer=bad.pointer) from None


def _value_of(text: str) -> Any:
    try:
        return parse(text, max_depth=FRAME_DEPTH, max_bytes=FRAME_BYTES)
    except BadJson as bad:
        if bad.code != "too_deep":
            raise
        # One schema that is too deep is refused by name, and its neighbours register (case C48).
        value: Any = parse(text, max_depth=SNAPSHOT_DEPTH, max_bytes=FRAME_BYTES)
        if not isinstance(value, dict) or cast("dict[str, Any]", value).get("type") != "caps":
            raise
        return cast("Any", value)


def _unsafe_result(text: str, bad: BadJson) -> UnsafeResult | None:
    """The one refusal that must reach the call: who asked would wait for a result that cannot come."""
    if bad.code != "unsafe_integer":
        return None
    # The strict reader found nothing else wrong with it, so a lenient one reads the same names.
    frame: dict[str, Any] | list[Any] = orjson.loads(text)
    part, _, rest = bad.pointer[1:].partition("/")
    if not isinstance(frame, dict) or part not in ("output", "evidence"):
        return None
    match frame:
        case {"type": "result", "ref": str(ref)} if 0 < len(ref) <= 64:
            return UnsafeResult(ref=ref, pointer=f"/{rest}")
        case {"type": "app_news", "what": "result", "ref": str(ref), "instance": str(instance)} if 0 < len(ref) <= 64:
            return UnsafeResult(ref=ref, pointer=f"/{rest}", instance=instance)
        case _:
            return None


class Incoming:
    """The frames of one socket, one at a time: the next is read when the last was dealt with, and paid for."""

    def __init__(
        self,
        websocket: WebSocket,
        wire: PageProtocol,
        outgoing: Outgoing,
        *,
        refusals: Refusals,
        clock: Clock,
        limits: Limits,
        peer: str,
        meter: Meter = NO_METER,
    ) -> None:
        self._websocket = websocket
        self._wire = wire
        self._outgoing = outgoing
        self._refusals = refusals
        self._clock = clock
        self._pace = Pace(limits, clock.now())
        self._peer = peer
        self._meter = meter
        self._is_slowed = False

    def welcomed(self, page: str) -> None:
        """Take larger frames from now on, and call their sender by its page session."""
        self._wire.welcomed()
        self._peer = page

    async def next_frame(self) -> Taken | None:
        """The next good frame; None when the peer left or the socket was closed from this side."""
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                await self._note_close()
                return None
            if not self._outgoing.is_open:
                return None
            await self._pay(message)
            try:
                frame = self._read(message)
            except GatewayError as error:
                await self.refuse(error)
            else:
                self._meter.add(names.PAGE_FRAMES, "in", "result" if isinstance(frame, UnsafeResult) else frame.type)
                return frame

    async def refuse(self, error: GatewayError) -> None:
        """Tell the page that its frame was not taken, and note it."""
        self._outgoing.send(page_frames.error(error.code.wire, error.message))
        pointer = error.facts.get("pointer")
        await self._note(error.code, AuditEvent.FRAME_REFUSED, pointer=str(pointer) if pointer else None)

    async def _pay(self, message: Any) -> None:
        """Wait until this message is within the allowance; unread, what follows it stays with its sender."""
        size = len(message.get("text") or message.get("bytes") or "")
        ms = self._pace.spend(frames=message[FRAMES], size=size, now=self._clock.now())
        if ms == 0:
            self._is_slowed = False
            return
        if not self._is_slowed:
            self._is_slowed = True
            self._outgoing.send(page_frames.error(ErrorCode.RATE_LIMITED.wire, "too much at once; it is read slowly"))
            await self._note(ErrorCode.RATE_LIMITED, AuditEvent.PAGE_SLOWED)
        await self._clock.sleep_until(self._clock.now() + ms)

    async def _note_close(self) -> None:
        code = self._wire.refused_with
        if code is not None:
            await self._note(_CLOSED_FOR.get(code, ErrorCode.BAD_REQUEST), AuditEvent.FRAME_REFUSED, closed_with=code)

    async def _note(self, code: ErrorCode, event: AuditEvent, **facts: str | int | None) -> None:
        await self._refusals.note(DOOR, self._peer, code, event, **facts)

    def _read(self, message: Any) -> Taken:
        text = message.get("text")
        if text is None:
            raise GatewayError(ErrorCode.BAD_REQUEST, "a frame is a text message")
        return read_text(text)
