"""How both ends of a worker's link write frames: four bytes of length, most significant first, then JSON text.

The link is a socket of its own. Whatever a worker prints goes elsewhere, so no print can pass for a frame.
"""

import struct
from asyncio import IncompleteReadError, StreamReader
from typing import Any, BinaryIO, Final

import orjson

HEAD: Final = struct.Struct(">I")

RESULT_BYTES: Final = 1_048_576
"""Largest canonical text of what a handler returns (design §17)."""

FRAME_BYTES: Final = RESULT_BYTES + 65_536
"""Largest frame of a worker: a result and what stands around it."""


class Broken(Exception):
    """What a worker wrote is no frame, or no frame that may come now; it is not listened to any more."""


def framed(frame: dict[str, Any]) -> bytes:
    """The bytes of one frame.

    Raises:
        TypeError: it holds something that is not JSON.
    """
    body = orjson.dumps(frame)
    return HEAD.pack(len(body)) + body


async def next_frame(reader: StreamReader, *, most: int = FRAME_BYTES) -> bytes | None:
    """The text of the next frame; None at the end of the link.

    Raises:
        Broken: it claims more than `most` bytes, or the link ended inside it.
    """
    try:
        head = await reader.readexactly(HEAD.size)
    except IncompleteReadError as end:
        if end.partial:
            raise Broken("the link ended inside a frame") from None
        return None
    (size,) = HEAD.unpack(head)
    if size > most:
        raise Broken(f"a frame of {size} bytes; the most is {most}")
    try:
        return await reader.readexactly(size)
    except IncompleteReadError:
        raise Broken("the link ended inside a frame") from None


def read_frame(link: BinaryIO) -> dict[str, Any] | None:
    """The next frame of the gateway, waiting for it; None at the end of the link, also inside a frame."""
    head = link.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    (size,) = HEAD.unpack(head)
    body = link.read(size)
    return orjson.loads(body) if len(body) == size else None
