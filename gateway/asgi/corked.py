"""Sends the head of an answer together with the body behind it: one system call and one packet instead of two."""

import asyncio
from typing import Any


class Corked:
    """A transport as uvicorn uses one: a write is held until the next one, or until the loop's turn is over."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self.uncorked = transport
        self._loop = loop
        self._held = b""

    def write(self, data: bytes) -> None:
        """Write `data` behind everything written before."""
        if self._held:
            self.uncorked.writelines((self._held, data))
            self._held = b""
        elif data:
            self._held = data
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        """Close once everything was sent."""
        self._flush()
        self.uncorked.close()

    def _flush(self) -> None:
        if self._held:
            self.uncorked.write(self._held)
            self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.uncorked, name)
