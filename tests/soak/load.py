"""The load: pages that come, work, reload and vanish, and agents that call, listen and are sent away."""

import asyncio
import itertools
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import SystemRandom, token_urlsafe
from typing import Any, Final

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Origin

from gateway.demo.scene import HOST
from tests.soak.gateway import SITE

Ask = Callable[..., Awaitable[Any]]
"""A command to the gateway's process, by name and fields."""

MODERN: Final = "2026-07-28"
STUCK_SECONDS: Final = 60.0
"""Longer than any wait the gateway promises (45 s) and the machine's hiccups."""

NUMBERED: Final = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
}

OFFERED: Final = (
    {"id": "counter.add", "description": "Counts.", "input_schema": NUMBERED, "effect": "read", "confirm": "never"},
    {"id": "counter.ask", "description": "Counts if allowed.", "input_schema": NUMBERED},
    {
        "id": "counter.hang",
        "description": "Never answers.",
        "input_schema": NUMBERED,
        "effect": "read",
        "confirm": "never",
        "timeout_ms": 1_000,
    },
)


@dataclass(eq=False)
class Tally:
    """What happened."""

    effects: Counter[int] = field(default_factory=Counter[int])
    """How often the call with this number was done, over all pages."""
    answers: Counter[str] = field(default_factory=Counter[str])
    times: list[float] = field(default_factory=list[float])
    events: Counter[str] = field(default_factory=Counter[str])
    stuck: list[str] = field(default_factory=list[str])
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    outstanding: dict[int, float] = field(default_factory=dict[int, float])


class SoakPage:
    """One tab of one user."""

    def __init__(self, port: int, user: str, ask: Ask, tally: Tally, rng: SystemRandom) -> None:
        self.user = user
        self.name: str | None = None
        self._url = f"ws://{HOST}:{port}/page/v1"
        self._ask = ask
        self._tally = tally
        self._rng = rng
        self._resume: str | None = None
        self._seen: list[str] = []
        self._unacked: dict[str, str] = {}

    async def live(self, until: float) -> None:
        """Come back again and again: as the same document, or as a new one."""
        document = token_urlsafe(16)
        while time.monotonic() < until:
            leaves = min(until, time.monotonic() + self._rng.uniform(3, 40))
            with suppress(ConnectionClosed, InvalidHandshake, OSError, TimeoutError):
                await self._stay(document, leaves)
            kind = self._rng.random()
            if kind < 0.6:
                self._tally.events["reconnects"] += 1
            elif kind < 0.9:
                self._tally.events["reloads"] += 1
                document, self._seen, self._unacked = token_urlsafe(16), [], {}
            else:
                self._tally.events["tabs closed"] += 1
                document, self._seen, self._unacked, self._resume = token_urlsafe(16), [], {}, None
                await asyncio.sleep(self._rng.uniform(0, 4))

    async def _stay(self, document: str, leaves: float) -> None:
        ticket = await self._ask("ticket", user=self.user)
        socket = await connect(
            self._url,
            origin=Origin(SITE),
            compression=None,
            max_queue=None,
            ping_interval=None,
            close_timeout=1,  # type: ignore[arg-type] - a NewType of str
        )
        try:
            await socket.send(json.dumps(self._hello(document, ticket)))
            async with asyncio.timeout(max(0.0, leaves - time.monotonic())):
                async for text in socket:
                    await self._take(socket, json.loads(text))
        finally:
            self.name = None
            if self._rng.random() < 0.5:
                socket.transport.abort()
            await socket.close()

    def _hello(self, document: str, ticket: str) -> dict[str, Any]:
        hello: dict[str, Any] = {
            "type": "hello",
            "v": 1,
            "site": "soak",
            "doc": document,
            "ticket": ticket,
            "seen": self._seen[-256:],
            "url": f"{SITE}/",
            "visibility": "visible",
            "automated": False,
        }
        return {**hello, "resume": self._resume} if self._resume else hello

    async def _take(self, socket: ClientConnection, frame: dict[str, Any]) -> None:
        match frame["type"]:
            case "welcome":
                self._resume = frame["resume"]
                await self._send(socket, type="caps", seq=1, part=1, parts=1, capabilities=list(OFFERED))
                for text in self._unacked.values():
                    await socket.send(text)
                self.name = frame["page"]
            case "ping":
                await self._send(socket, type="pong", n=frame["n"], visibility="visible")
            case "approve_request":
                await self._decide(socket, frame["payload"])
            case "invoke":
                await self._work(socket, frame)
            case "ack":
                self._unacked.pop(frame["ref"], None)
            case _:
                pass

    async def _decide(self, socket: ClientConnection, payload: str) -> None:
        if self._rng.random() < 0.1:
            return
        shown = json.loads(payload)
        await self._send(
            socket,
            type="decision",
            approval=shown["approval"],
            nonce=shown["nonce"],
            sha256=sha256(payload.encode()).hexdigest(),
            decision="approve" if self._rng.random() < 0.8 else "deny",
            visible=True,
        )

    async def _work(self, socket: ClientConnection, invoke: dict[str, Any]) -> None:
        self._seen.append(invoke["ref"])
        self._tally.effects[json.loads(invoke["input"])["number"]] += 1
        await self._send(socket, type="started", ref=invoke["ref"])
        if invoke["capability"] == "counter.hang":
            return
        result = {
            "type": "result",
            "ref": invoke["ref"],
            "epoch": invoke["epoch"],
            "ok": True,
            "output": {"text": "x" * self._rng.choice((10, 1_000, 20_000))},
        }
        self._unacked[invoke["ref"]] = json.dumps(result)
        await socket.send(self._unacked[invoke["ref"]])

    async def _send(self, socket: ClientConnection, **frame: Any) -> None:
        await socket.send(json.dumps(frame))


class SoakAgent:
    """One agent of one user."""

    def __init__(
        self, port: int, user: str, pages: list[SoakPage], ask: Ask, tally: Tally, rng: SystemRandom
    ) -> None:
        self._url = f"http://{HOST}:{port}/mcp"
        self._user = user
        self._pages = pages
        self._ask = ask
        self._tally = tally
        self._rng = rng
        self._session: dict[str, str] = {}

    async def live(self, until: float) -> None:
        """Do one thing after the other."""
        self._session = await self._ask("grant", user=self._user)
        does = (self._calls, self._echoes, self._asks, self._hangs, self._lists, self._listens, self._is_revoked)
        async with httpx.AsyncClient(timeout=STUCK_SECONDS) as client:
            while time.monotonic() < until:
                (act,) = self._rng.choices(does, weights=(50, 20, 12, 3, 6, 3, 0.5))
                with suppress(httpx.TransportError):
                    await act(client)
                await asyncio.sleep(self._rng.uniform(0, 0.4))

    async def _calls(self, client: httpx.AsyncClient) -> None:
        await self._invokes(client, "counter.add")

    async def _asks(self, client: httpx.AsyncClient) -> None:
        await self._invokes(client, "counter.ask")

    async def _hangs(self, client: httpx.AsyncClient) -> None:
        await self._invokes(client, "counter.hang")

    async def _invokes(self, client: httpx.AsyncClient, capability: str) -> None:
        names = [page.name for page in self._pages if page.name]
        if not names:
            return
        number = next(self._tally.numbers)
        arguments = {"capability": capability, "arguments": {"number": number}, "page": self._rng.choice(names)}
        self._tally.outstanding[number] = began = time.monotonic()
        try:
            answer = await self._post(client, "tools/call", {"name": "gateway_invoke", "arguments": arguments})
        except httpx.ReadTimeout:
            self._tally.stuck.append(f"{capability} {number}")
            return
        finally:
            del self._tally.outstanding[number]
        self._tally.times.append(time.monotonic() - began)
        self._tally.answers[self._kind_of(answer)] += 1

    def _kind_of(self, answer: httpx.Response) -> str:
        if answer.status_code != 200:
            return f"http {answer.status_code}"
        texts = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")] or [answer.text]
        message = json.loads(texts[-1])
        content = message.get("result", {}).get("structuredContent") or message.get("error", {})
        return str(content.get("code") or content.get("status"))

    async def _echoes(self, client: httpx.AsyncClient) -> None:
        call = {"name": "runtime_echo", "arguments": {"text": "hello"}}
        self._tally.events[f"echo {self._kind_of(await self._post(client, 'tools/call', call))}"] += 1

    async def _lists(self, client: httpx.AsyncClient) -> None:
        await self._post(client, "tools/list", {})
        self._tally.events["lists"] += 1

    async def _listens(self, client: httpx.AsyncClient) -> None:
        self._tally.events["subscriptions"] += 1
        wanted = {"notifications": {"toolsListChanged": True}}
        message, headers = self._parts("subscriptions/listen", wanted)
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(self._rng.uniform(0.5, 3)),
                client.stream("POST", self._url, content=message, headers=headers) as answer,
            ):
                async for _ in answer.aiter_bytes():
                    self._tally.events["list changes"] += 1

    async def _is_revoked(self, _: httpx.AsyncClient) -> None:
        await self._ask("revoke", session=self._session["session"])
        self._session = await self._ask("grant", user=self._user)
        self._tally.events["revocations"] += 1

    async def _post(self, client: httpx.AsyncClient, method: str, params: dict[str, Any]) -> httpx.Response:
        message, headers = self._parts(method, params)
        return await client.post(self._url, content=message, headers=headers)

    def _parts(self, method: str, params: dict[str, Any]) -> tuple[str, dict[str, str]]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = {
            "authorization": f"Bearer {self._session['token']}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": MODERN,
            "mcp-method": method,
        }
        if "name" in params:
            headers["mcp-name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        return json.dumps(message), headers
