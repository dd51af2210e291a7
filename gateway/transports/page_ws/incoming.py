"""The way in: text to frames, strictly. A bad frame is answered with `error` and audited; the socket stays open."""

from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from starlette.websockets import WebSocket

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol import page_frames
from gateway.protocol.page_frames import (
    FRAME_BYTES,
    FRAME_BYTES_BEFORE_WELCOME,
    FRAME_DEPTH,
    SNAPSHOT_DEPTH,
    BadFrame,
    PageFrame,
)
from gateway.protocol.strict_json import BadJson, parse
from gateway.runtime.refusals import Refusals
from gateway.transports.doors import refusal_of_json
from gateway.transports.page_ws.outgoing import Outgoing

DOOR: Final = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsafeResult:
    """A result that holds an integer the other half would round; `pointer` goes into its output or evidence."""

    ref: str
    pointer: str


Taken = PageFrame | UnsafeResult


def read_text(text: str, max_bytes: int) -> Taken:
    """Judge one text message.

    Raises:
        GatewayError: it is no frame.
    """
    try:
        value = _value_of(text, max_bytes)
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


def _value_of(text: str, max_bytes: int) -> Any:
    try:
        return parse(text, max_depth=FRAME_DEPTH, max_bytes=max_bytes)
    except BadJson as bad:
        if bad.code != "too_deep":
            raise
        # One schema that is too deep is refused by name, and its neighbours register (case C48).
        value: Any = parse(text, max_depth=SNAPSHOT_DEPTH, max_bytes=max_bytes)
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
    if not isinstance(frame, dict) or frame.get("type") != "result" or part not in ("output", "evidence"):
        return None
    ref = frame.get("ref")
    return UnsafeResult(ref=ref, pointer=f"/{rest}") if isinstance(ref, str) and 0 < len(ref) <= 64 else None


class Incoming:
    """The frames of one socket, one at a time: the next is read when the last was dealt with."""

    def __init__(self, websocket: WebSocket, outgoing: Outgoing, refusals: Refusals, peer: str) -> None:
        self._websocket = websocket
        self._outgoing = outgoing
        self._refusals = refusals
        self._peer = peer
        self._max_bytes = FRAME_BYTES_BEFORE_WELCOME

    def welcomed(self, page: str) -> None:
        """Take larger frames from now on, and call their sender by its page session."""
        self._max_bytes = FRAME_BYTES
        self._peer = page

    async def next_frame(self) -> Taken | None:
        """The next good frame; None when the peer left or the socket was closed from this side."""
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect" or not self._outgoing.is_open:
                return None
            try:
                return self._read(message)
            except GatewayError as error:
                await self.refuse(error)

    async def refuse(self, error: GatewayError) -> None:
        """Tell the page that its frame was not taken, and note it."""
        self._outgoing.send(page_frames.error(error.code.wire, error.message))
        pointer = error.facts.get("pointer")
        await self._refusals.note(
            DOOR, self._peer, error.code, AuditEvent.FRAME_REFUSED, pointer=str(pointer) if pointer else None
        )

    def _read(self, message: Any) -> Taken:
        text = message.get("text")
        if text is None:
            raise GatewayError(ErrorCode.BAD_REQUEST, "a frame is a text message")
        return read_text(text, self._max_bytes)
