"""A loopback proxy that adds a bearer token, for clients that cannot send one. Tests only.

It rewrites the head of each request and copies everything else byte by byte as it comes, so that event
streams are never held back. A side that hangs up ends the other: the server sees a client that left, and
the client sees a server that closed. The proxy's own address in `Host` and `Origin` becomes the server's;
a foreign one passes as it is, because refusing it is what some checks are about.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_HEAD_LIMIT: Final = 64 * 1024
_COPY: Final = 64 * 1024
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class _Route:
    """From which port, to where, with which token."""

    own_port: int
    host: str
    port: int
    token: str


@asynccontextmanager
async def bearer_proxy(url: str, token: str) -> AsyncGenerator[str, None]:
    """Serve `url` (http, loopback) under an address of our own with `token` added; yields that address."""
    target = urlsplit(url)
    assert target.scheme == "http", f"`{url}` is not an http address"
    assert target.hostname, f"`{url}` names no host"
    host, port = target.hostname, target.port or 80
    open_connections: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_connections.add(task)
        try:
            own_port: int = writer.get_extra_info("sockname")[1]
            await _serve(_Route(own_port, host, port, token), reader, writer)
        finally:
            open_connections.discard(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=_HEAD_LIMIT)
    own_port: int = server.sockets[0].getsockname()[1]
    try:
        yield target._replace(netloc=f"127.0.0.1:{own_port}").geturl()
    finally:
        server.close()
        for task in tuple(open_connections):
            task.cancel()
        await asyncio.gather(*open_connections, return_exceptions=True)


async def _serve(route: _Route, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One client connection and the one server connection that belongs to it, until either ends."""
    try:
        server_reader, server_writer = await asyncio.open_connection(route.host, route.port)
    except OSError:
        writer.close()
        return
    directions = {
        asyncio.create_task(_forward_requests(route, reader, server_writer)),
        asyncio.create_task(_copy_until_end(server_reader, writer)),
    }
    try:
        await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for direction in directions:
            direction.cancel()
        try:
            await asyncio.gather(*directions, return_exceptions=True)
        finally:
            await _close(writer, server_writer)


async def _close(*sides: asyncio.StreamWriter) -> None:
    """Close both; a client that stopped reading, or our own end, must not leave a socket behind."""
    for side in sides:
        side.close()
    try:
        async with asyncio.timeout(1):
            for side in sides:
                with suppress(OSError):
                    await side.wait_closed()
    except TimeoutError:
        pass
    finally:
        for side in sides:
            side.transport.abort()


async def _copy_until_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while block := await reader.read(_COPY):
        await _send(writer, block)


async def _forward_requests(route: _Route, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Every request of a kept-alive connection: its head rewritten, its body copied."""
    with suppress(asyncio.IncompleteReadError):  # the client hung up
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            await _send(writer, rewritten_head(head, route))
            await _copy_body(head, reader, writer)


async def _copy_body(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    headers = dict(_header_lines(head))
    if b"chunked" in headers.get(b"transfer-encoding", b"").lower():
        size = -1
        while size != 0:
            line = await reader.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            await _send(writer, line + await reader.readexactly(size + 2))
        return
    left = int(headers.get(b"content-length", b"0"))
    while left:
        block = await reader.read(min(left, _COPY))
        if not block:
            raise asyncio.IncompleteReadError(b"", left)
        left -= len(block)
        await _send(writer, block)


def rewritten_head(head: bytes, route: _Route) -> bytes:
    """The same request with the token, and with the server's address where ours stood."""
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [lines[0]]
    for line in lines[1:]:
        name = line.partition(b":")[0].strip().lower()
        if name in {b"host", b"origin"}:
            kept.append(_with_server_port(line, route))
        elif name != b"authorization":
            kept.append(line)
    kept.append(b"Authorization: Bearer " + route.token.encode())
    return b"\r\n".join(kept) + b"\r\n\r\n"


def _with_server_port(line: bytes, route: _Route) -> bytes:
    for name in _LOOPBACK:
        ours = f"{name}:{route.own_port}".encode()
        if line.endswith((b" " + ours, b"/" + ours, b":" + ours)):
            return line.removesuffix(ours) + f"{name}:{route.port}".encode()
    return line


def _header_lines(head: bytes) -> list[tuple[bytes, bytes]]:
    pairs = (line.partition(b":") for line in head.split(b"\r\n")[1:] if line)
    return [(name.strip().lower(), value.strip()) for name, _, value in pairs]


async def _send(writer: asyncio.StreamWriter, block: bytes) -> None:
    writer.write(block)
    await writer.drain()
