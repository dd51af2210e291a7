"""The page: one document that outlives every gateway, with the rules of the surface host and a memory of its own.

It runs each ref once, keeps answers until they are acked, comes back with `resume` and `seen`, and now and then
loses its socket, loses a frame, or is loaded anew.
"""

import asyncio
import hashlib
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from tests.crash.memory import Memory
from tests.crash.scene import DECLARED, HOST, ORIGIN, SITE, USER
from tests.crash.timer import Workspace

_PAUSE: Final = 0.02
_GONE: Final = (OSError, WebSocketException, httpx.HTTPError, TimeoutError)


class _Lost(Exception):
    """The socket is given up on purpose."""


@dataclass(eq=False)
class Page:
    """One tab."""

    port: int
    http: httpx.AsyncClient
    key: str
    memory: Memory
    dice: Random
    gateway_is_up: asyncio.Event = field(default_factory=asyncio.Event)
    is_there: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while its capabilities are declared to the gateway that runs now."""
    document: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    resume: str | None = None
    page: str | None = None
    epoch: int = 0
    loses_frames: bool = True
    _known: dict[str, dict[str, Any] | None] = field(default_factory=dict[str, dict[str, Any] | None])
    _outbox: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _decided: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _cancelled: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    _socket: ClientConnection | None = None
    _workspace: Workspace = field(init=False)
    _work: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def __post_init__(self) -> None:
        self._workspace = Workspace(self.say, self._invoked, self.dice)

    @property
    def owes(self) -> bool:
        """Whether answers wait for their ack."""
        return bool(self._outbox)

    @property
    def consumed(self) -> dict[str, dict[str, Any]]:
        """The decisions this document made, by approval."""
        return self._decided

    async def run(self) -> None:
        """Be there until cancelled, through every restart."""
        while True:
            await self.gateway_is_up.wait()
            with suppress(*_GONE, _Lost):
                await self._visit()
            self.is_there.clear()
            self._socket = None
            await asyncio.sleep(_PAUSE)

    async def lose_socket(self) -> None:
        """The network breaks."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def load_anew(self) -> None:
        """The person reloads: another document of the same tab."""
        self.document = secrets.token_urlsafe(16)
        self.page = None
        for forgotten in (self._known, self._outbox, self._decided):
            forgotten.clear()
        self._workspace.forget()
        await self.lose_socket()

    async def wander(self) -> None:
        """The person does something to a mini app."""
        await self._workspace.wander()

    async def say(self, frame: dict[str, Any]) -> None:
        """Send a frame, if there is a socket."""
        if self._socket is not None:
            with suppress(*_GONE):
                await self._socket.send(json.dumps(frame))

    # -- one visit ------------------------------------------------------------------------------------------------

    async def _visit(self) -> None:
        ticket = await self._ticket()
        async with asyncio.timeout(5):
            socket = await connect(
                f"ws://{HOST}:{self.port}/page/v1",
                origin=ORIGIN,  # type: ignore[arg-type] - a NewType of str
                compression=None,
                max_size=None,
                ping_interval=None,
            )
        async with socket:
            self._socket = socket
            await self.say(self._hello(ticket))
            async for text in socket:
                await self._take(json.loads(text), ticket)

    async def _ticket(self) -> str:
        answer = await self.http.post(
            "/v1/host-tokens",
            json={"user": USER, "origin": ORIGIN},
            headers={"authorization": f"Bearer {self.key}"},
        )
        return answer.raise_for_status().json()["ticket"]

    def _hello(self, ticket: str) -> dict[str, Any]:
        open_first = [*self._outbox, *reversed(self._known)]
        return {
            "type": "hello",
            "v": 1,
            "site": SITE,
            "doc": self.document,
            "ticket": ticket,
            **({} if self.resume is None else {"resume": self.resume}),
            "seen": list(dict.fromkeys(open_first))[:256],
            "url": f"{ORIGIN}/",
            "title": "To-do",
            "visibility": "visible",
            "automated": False,
            "workspace": True,
        }

    async def _take(self, frame: dict[str, Any], ticket: str) -> None:
        match frame["type"]:
            case "welcome":
                await self._welcomed(frame, ticket)
            case "caps_ack":
                self.is_there.set()
            case "approve_request":
                self._start(self._decide(frame["payload"]))
            case "invoke":
                await self._invoked(frame)
            case "app":
                # Frames of one instance are answered in their order; only the person takes time.
                self._start(self._workspace.take(frame))
            case "cancel":
                if frame["ref"] in self._cancelled:
                    self._cancelled[frame["ref"]].set()
            case "ack":
                self._outbox.pop(frame["ref"], None)
            case "ping":
                await self.say({"type": "pong", "n": frame["n"], "visibility": "visible"})
            case _:
                pass

    async def _welcomed(self, frame: dict[str, Any], ticket: str) -> None:
        self.memory.used_tickets.append(ticket)
        self.memory.welcome(frame["page"], frame["epoch"])
        if frame["page"] != self.page:
            if self.page is not None:
                self.memory.contradict(
                    "a document that resumes finds its page session", f"{self.page} became {frame['page']}"
                )
            for forgotten in (self._outbox, self._decided):
                forgotten.clear()
        self.page, self.epoch, self.resume = frame["page"], frame["epoch"], frame["resume"]
        caps = {"type": "caps", "seq": 1, "part": 1, "parts": 1, "capabilities": list(DECLARED)}
        # What it still owes may come before what it declares: nothing orders the two.
        first, then = self.dice.sample([[caps], list(self._outbox.values())], 2)
        for owed in (*first, *then, *self._decided.values()):
            await self.say(owed)

    # -- what it is asked -----------------------------------------------------------------------------------------

    async def _decide(self, text: str) -> None:
        payload = json.loads(text)
        given = json.loads(payload["input"])
        title = given.get("title") or given["text"]
        decision = "deny" if title.startswith("no") else "approve"
        if title.startswith("mute") or payload["epoch"] != self.epoch:
            return
        if title.startswith("later"):
            await asyncio.sleep(self.dice.uniform(0.05, 0.4))
        frame = {
            "type": "decision",
            "approval": payload["approval"],
            "nonce": payload["nonce"],
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "decision": decision,
            "visible": True,
        }
        await self.say(self._decided.setdefault(payload["approval"], frame))

    async def _invoked(self, frame: dict[str, Any]) -> None:
        ref = frame["ref"]
        if self.loses_frames and self.dice.random() < 0.01:
            await self.lose_socket()
            raise _Lost
        self.memory.asked_to_run[ref] += 1
        if ref in self._known:
            known = self._known[ref]
            await self.say(self._started(frame) if known is None else known)
        elif frame.get("epoch", self.epoch) != self.epoch:
            await self.say({"type": "refused", "ref": ref, "why": "stale_epoch"})
        else:
            self._known[ref] = None
            self._cancelled[ref] = asyncio.Event()
            self._start(self._run(frame))

    async def _run(self, frame: dict[str, Any]) -> None:
        ref, document = frame["ref"], self.document
        await self.say(self._started(frame))
        self.memory.effects[ref] += 1
        kind = (frame.get("capability") or frame["method"]).partition(".")[2]
        if kind == "stuck":
            return
        answer: dict[str, Any] = {"type": "result", "ref": ref}
        if frame["type"] == "app":
            answer |= {"type": "app_news", "instance": frame["instance"], "what": "result"}
        else:
            answer |= {"epoch": frame["epoch"]}
        if kind == "slow" and await self._is_cancelled_while_working(ref):
            answer |= {"ok": False, "error": {"code": "cancelled", "message": "stopped"}}
        elif kind == "broken":
            answer |= {"ok": True, "output": {"undone": ref}}
        else:
            await asyncio.sleep(self.dice.choice((0, 0, 0.01, 0.05)))
            given = json.loads(frame.get("input") or frame["arguments"])
            output = {"done": f"{ref} for {given['title']}"}
            self.memory.outputs[ref] = output
            answer |= {"ok": True, "output": output}
        if document == self.document:
            self._known[ref] = self._outbox[ref] = answer
            await self.say(answer)

    async def _is_cancelled_while_working(self, ref: str) -> bool:
        for n in range(1, 5):
            await self.say({"type": "progress", "ref": ref, "n": n, "total": 4})
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await self._cancelled[ref].wait()
                    return True
        return False

    def _started(self, frame: dict[str, Any]) -> dict[str, Any]:
        if frame["type"] == "app":
            return {"type": "app_news", "instance": frame["instance"], "what": "started", "ref": frame["ref"]}
        return {"type": "started", "ref": frame["ref"]}

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
