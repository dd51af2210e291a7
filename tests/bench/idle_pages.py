"""What an idle page costs the gateway: its memory before and after many real sockets that then say nothing."""

import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from gateway.demo.scene import HOST
from tests.soak.gateway import SITE
from tests.soak.run import GatewayProcess, gateway_process

USUAL: Final = "{page_ping_ms: 20000, standing_ms: 900000}"
AT_ONCE: Final = 25
PER_USER: Final = 10
QUIET_SAMPLES: Final = 3
"""So many looks at the memory, one after the other and the same, mean that it is quiet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IdlePages:
    """Memory per page in bytes, with `pages` of `capabilities` each."""

    pages: int
    capabilities: int
    bytes_per_page: float
    rss_before: int
    rss_after: int


def idle_pages(pages: int = 1_000, capabilities: int = 10) -> IdlePages:
    """Connect `pages` pages that declare `capabilities` each, wait until they are quiet, and look."""
    with tempfile.TemporaryDirectory(prefix="ostiary-bench-") as folder:
        return asyncio.run(_idle_pages(Path(folder), pages, capabilities))


async def _idle_pages(folder: Path, pages: int, capabilities: int) -> IdlePages:
    async with gateway_process(folder, USUAL) as gateway:
        port = (await gateway.ask("ready"))["port"]
        offered = [_typical(number) for number in range(capabilities)]
        # The first pages fill caches that all others share.
        sockets = [await _connected(gateway, port, f"warm{n}", offered) for n in range(AT_ONCE)]
        answering = [asyncio.create_task(_answers(socket)) for socket in sockets]
        before = await _quiet(gateway)
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> ClientConnection:
            async with turns:
                socket = await _connected(gateway, port, f"user{number // PER_USER}", offered)
            answering.append(asyncio.create_task(_answers(socket)))
            return socket

        sockets += await asyncio.gather(*(one(number) for number in range(pages)))
        after = await _quiet(gateway)
        counts = await gateway.ask("counts")
        if counts["live_pages"] != pages + AT_ONCE:
            raise RuntimeError(f"{counts['live_pages']} pages are connected, not {pages + AT_ONCE}")
        for socket in sockets:
            socket.transport.abort()
        await asyncio.gather(*answering, return_exceptions=True)
    return IdlePages(
        pages=pages,
        capabilities=capabilities,
        bytes_per_page=(after - before) / pages,
        rss_before=before,
        rss_after=after,
    )


async def _connected(
    gateway: GatewayProcess, port: int, user: str, offered: list[dict[str, Any]]
) -> ClientConnection:
    ticket = await gateway.ask("ticket", user=user)
    socket = await connect(
        f"ws://{HOST}:{port}/page/v1", origin=Origin(SITE), compression=None, max_queue=None, ping_interval=None
    )
    hello: dict[str, Any] = {
        "type": "hello",
        "v": 1,
        "site": "soak",
        "doc": token_urlsafe(16),
        "ticket": ticket,
        "seen": [],
        "url": f"{SITE}/",
        "visibility": "visible",
        "automated": False,
    }
    await socket.send(json.dumps(hello))
    await _until(socket, "welcome")
    await socket.send(json.dumps({"type": "caps", "seq": 1, "part": 1, "parts": 1, "capabilities": offered}))
    await _until(socket, "caps_ack")
    return socket


async def _until(socket: ClientConnection, kind: str) -> None:
    while json.loads(await socket.recv())["type"] != kind:
        pass


async def _quiet(gateway: GatewayProcess) -> int:
    """The memory in bytes, once it is still."""
    seen: list[int] = []
    while len(seen) < QUIET_SAMPLES or len(set(seen[-QUIET_SAMPLES:])) > 1:
        await gateway.ask("counts")
        await asyncio.sleep(0.5)
        # In steps of 256 KiB: a ping here and there must not keep it from being still.
        seen.append(gateway.rss // 2**18)
    return gateway.rss


async def _answers(socket: ClientConnection) -> None:
    """Answer pings, as idle pages do."""
    async for text in socket:
        frame = json.loads(text)
        if frame["type"] == "ping":
            await socket.send(json.dumps({"type": "pong", "n": frame["n"], "visibility": "visible"}))


def _typical(number: int) -> dict[str, Any]:
    """A declaration as sites write them."""
    return {
        "id": f"counter.action{number}",
        "title": f"Action {number}",
        "description": "Adds one entry to the list the person looks at, and answers with how many there are now.",
        "input_schema": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": 200, "description": "What it says."},
                "priority": {"enum": ["low", "normal", "high"]},
                "due": {"type": "string", "format": "date"},
            },
            "required": ["text"],
            "additionalProperties": False,
        },
        "output_schema": {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
    }


if __name__ == "__main__":
    found = idle_pages()
    sys.stdout.write(
        f"{found.bytes_per_page / 1024:.1f} KiB a page, {found.pages} pages of {found.capabilities} capabilities\n"
    )
