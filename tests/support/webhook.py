"""A consumer of the outbox on a free loopback port: it keeps what is posted, bytes and headers as they came."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

KEY: Final = "whsec_" + "c2VjcmV0" * 8


@dataclass(frozen=True, slots=True)
class Post:
    """One request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)


def ok(_: Post) -> bytes:
    """Take every post."""
    return b"HTTP/1.1 204 No Content\r\n\r\n"


@dataclass(eq=False)
class Consumer:
    """What came, and how each post is answered: the bytes of an answer, or None to say nothing."""

    port: int = 0
    answer: Callable[[Post], bytes | None] = ok
    posts: list[Post] = field(default_factory=list[Post])
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?of=ostiary"

    @property
    def events(self) -> list[dict[str, Any]]:
        return [post.event for post in self.posts]

    async def has(self, count: int) -> list[dict[str, Any]]:
        """Wait until so many posts came; returns their events."""
        async with asyncio.timeout(10):
            while len(self.posts) < count:
                self._came.clear()
                await self._came.wait()
        return self.events

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the posts of one connection."""
        try:
            while True:
                post = await _read(reader)
                self.posts.append(post)
                self._came.set()
                answer = self.answer(post)
                if answer is None:
                    await reader.read()
                    return
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Post:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    return Post(head[0], headers, await reader.readexactly(int(headers.get("content-length", "0"))))


@asynccontextmanager
async def consuming(answer: Callable[[Post], bytes | None] = ok) -> AsyncGenerator[Consumer]:
    """Run one until the block ends."""
    consumer = Consumer(answer=answer)
    server = await asyncio.start_server(consumer.serve, "127.0.0.1", 0)
    consumer.port = server.sockets[0].getsockname()[1]
    try:
        yield consumer
    finally:
        server.close()
