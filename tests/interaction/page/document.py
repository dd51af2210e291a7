"""One document with the rules of the surface host: it comes back, runs each ref once, and keeps what is not acked."""

import asyncio
import hashlib
import json
import secrets
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from websockets.exceptions import WebSocketException

from tests.interaction.page.rig import Page, Rig

_GONE: Final = (OSError, WebSocketException, TimeoutError)


@dataclass(eq=False)
class Document:
    """A tab of `ann` that offers `declared`. `effects` counts what its handlers did, `frames` what it got."""

    rig: Rig
    declared: tuple[dict[str, Any], ...]
    name: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    effects: Counter[str] = field(default_factory=Counter[str])
    frames: Counter[str] = field(default_factory=Counter[str])
    visits: int = 0
    page: Page | None = None
    may_finish: asyncio.Event = field(default_factory=asyncio.Event)
    """Handlers end once this is set."""
    is_there: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while its capabilities are declared."""
    says_started: bool = True
    output: Any = field(default_factory=dict[str, Any])
    pages: set[str] = field(default_factory=set[str])
    """The page sessions it was; one, if all went well."""
    _welcome: dict[str, Any] = field(default_factory=dict[str, Any])
    _known: dict[str, dict[str, Any] | None] = field(default_factory=dict[str, dict[str, Any] | None])
    _outbox: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _decided: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    @property
    def owes(self) -> bool:
        """Whether an answer waits for its ack."""
        return bool(self._outbox)

    def begin(self) -> None:
        """Be there, through every loss of the connection, until `close`."""
        self.may_finish.set()
        self._start(self._live())

    async def close(self) -> None:
        """The tab is closed."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def notice_silence(self) -> None:
        """Give a socket up on which nothing is heard, as the surface host does."""
        assert self.page is not None
        self.page.socket.transport.abort()

    async def _live(self) -> None:
        while True:
            with suppress(*_GONE):
                await self._visit()
            self.is_there.clear()

    async def _visit(self) -> None:
        self.page = await self.rig.page(
            document=self.name,
            seen=list(self._known),
            **({"resume": self._welcome["resume"]} if self._welcome else {}),
        )
        self.visits += 1
        self._welcome = self.page.welcome
        self.pages.add(self._welcome["page"])
        declaring = {"type": "caps", "seq": 1, "part": 1, "parts": 1, "capabilities": list(self.declared)}
        for frame in (*self._outbox.values(), *self._decided.values(), declaring):
            await self.page.send(frame)
        async for text in self.page.socket:
            await self._take(json.loads(text))

    async def _take(self, frame: dict[str, Any]) -> None:
        self.frames[frame["type"]] += 1
        match frame["type"]:
            case "caps_ack":
                self.is_there.set()
            case "approve_request":
                await self._decide(frame["payload"])
            case "invoke":
                await self._invoked(frame)
            case "ack":
                self._outbox.pop(frame["ref"], None)
            case "ping":
                await self._say({"type": "pong", "n": frame["n"], "visibility": "visible"})
            case _:
                pass

    async def _decide(self, text: str) -> None:
        payload = json.loads(text)
        frame = {
            "type": "decision",
            "approval": payload["approval"],
            "nonce": payload["nonce"],
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "decision": "approve",
            "visible": True,
        }
        await self._say(self._decided.setdefault(payload["approval"], frame))

    async def _invoked(self, frame: dict[str, Any]) -> None:
        ref = frame["ref"]
        if ref in self._known:
            known = self._known[ref]
            await self._say(known or {"type": "started", "ref": ref})
            return
        self._known[ref] = None
        self._start(self._run(frame))

    async def _run(self, frame: dict[str, Any]) -> None:
        ref = frame["ref"]
        if self.says_started:
            await self._say({"type": "started", "ref": ref})
        self.effects[ref] += 1
        await self.may_finish.wait()
        answer = {"type": "result", "ref": ref, "epoch": frame["epoch"], "ok": True, "output": self.output}
        self._known[ref] = self._outbox[ref] = answer
        await self._say(answer)

    async def _say(self, frame: dict[str, Any]) -> None:
        if self.page is not None:
            with suppress(*_GONE):
                await self.page.send(frame)

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
