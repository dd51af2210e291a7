"""Who consumes the outbox: a server in the parent that remembers what it took, and is not always well.

It refuses some posts, hangs up on others, and now and then takes one and loses its own answer on the way.
"""

import asyncio
import hashlib
import hmac
import json
import os
from base64 import b64decode
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from gateway.adapters.webhook import key_of
from gateway.transports.control import CommandRefused, ControlClient, NoGateway
from tests.crash.memory import Memory

VARIABLE: Final = "OSTIARY_CRASH_SECRET"
SECRET: Final = "a secret of the crash rig, long enough"

# The processes that are killed inherit it.
os.environ.setdefault(VARIABLE, SECRET)

_TAKEN: Final = b"HTTP/1.1 204 No Content\r\n\r\n"
_REFUSED: Final = b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n"


@dataclass(eq=False)
class Consumer:
    """One of a lineage."""

    port: int
    memory: Memory
    dice: Random
    is_well: bool = False
    """Takes everything from now on."""
    _bodies: dict[str, bytes] = field(default_factory=dict[str, bytes])
    _server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def open(self) -> None:
        """Listen, through all lives."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:]
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head)}
                body = await reader.readexactly(int(headers["content-length"]))
                answer = self._answer(headers, body)
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()

    def _answer(self, headers: dict[str, str], body: bytes) -> bytes | None:
        self._judge(headers, body)
        event: dict[str, Any] = json.loads(body)
        whim = 1.0 if self.is_well else self.dice.random()
        if whim < 0.1 or (not self.is_well and _is_disliked(event["id"])):
            return _REFUSED
        if whim < 0.15:
            return None
        self.memory.take(event)
        return None if whim < 0.2 else _TAKEN

    def _judge(self, headers: dict[str, str], body: bytes) -> None:
        name, stamp = headers["webhook-id"], headers["webhook-timestamp"]
        wanted = hmac.digest(key_of(SECRET), f"{name}.{stamp}.".encode() + body, "sha256")
        if b64decode(headers["webhook-signature"].removeprefix("v1,")) != wanted:
            self.memory.contradict("an event is signed", f"{name} is not")
        if self._bodies.setdefault(name, body) != body:
            self.memory.contradict("an event is the same on every repeat", f"{name} was another one before")


def _is_disliked(event: str) -> bool:
    """One in thirty is refused until somebody looks."""
    return hashlib.sha256(event.encode()).digest()[0] < 8


def mind(client: Callable[[], ControlClient]) -> list[dict[str, Any]] | None:
    """Put dead letters back; returns what waits, as far as it is looked at. None: no gateway answered."""
    with suppress(NoGateway, CommandRefused), client() as asking:
        asking.ask("outbox.requeue")
        waiting: list[dict[str, Any]] = asking.ask("outbox.list", {"state": "pending", "limit": 1_000})
        return waiting
    return None
