"""HTTP by hand, for tests in which the bytes are the subject."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

PATIENCE: Final = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it was read."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(eq=False, slots=True)
class Line:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Write, for as long as the other side takes it."""
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> Answer:
        """The next answer, whole."""
        async with asyncio.timeout(PATIENCE):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = dict(line.split(": ", 1) for line in head[1:] if line)
            headers = {name.lower(): value for name, value in fields.items()}
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(int(head[0].split(" ")[1]), headers, body)

    async def ended(self) -> bool:
        """Wait for the other side to close; whether it said nothing more."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True


@asynccontextmanager
async def line_to(port: int, **how: Any) -> AsyncGenerator[Line]:
    """Connect to a port of this machine until the block ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, **how)
    try:
        yield Line(reader, writer)
    finally:
        writer.transport.abort()


def head_of(knock: Mapping[str, Any], **headers: str) -> bytes:
    """The head of a request made by `Whole.knock`; `headers` go over its own, and no length is written."""
    path = "/" + str(knock["url"]).split("/", 3)[3]
    fields = {**knock["headers"], **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"{knock['method']} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def chunk(data: bytes) -> bytes:
    """`data` as one chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)
