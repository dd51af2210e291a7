"""The load: agents that read, write, wait, cancel, hang up and come back, over MCP and over the surface protocol.

Each habit is one coroutine that repeats itself until its gateway is gone. Whatever it is answered goes into the
memory; what is not answered is asked again later, by the same key.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from random import Random
from typing import Any, Final

import httpx

from tests.crash.memory import Asked, Memory, Told, Transmission
from tests.crash.page import Page
from tests.crash.press import RUN
from tests.crash.scene import SCRIBE
from tests.crash.scribe import Scribe
from tests.crash.timer import DRAW, START, STOP
from tests.support.mcp_gateway import ACCEPT, MODERN, last_message

GONE: Final = (httpx.HTTPError, OSError)
_TITLES: Final = ("yes", "yes", "later", "no")


@dataclass(eq=False)
class Agents:
    """The agents of a lineage: `coder` speaks MCP, `helper` the surface protocol, `scribe` LineUp."""

    port: int
    http: httpx.AsyncClient
    tokens: dict[str, str]
    memory: Memory
    page: Page
    dice: Random
    unanswered: list[Asked] = field(default_factory=list[Asked])
    scribe: Scribe = field(init=False)

    def __post_init__(self) -> None:
        self.scribe = Scribe(self.http, self.tokens[SCRIBE], self.memory, self.page, self.dice)

    def habits(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """Everything agents do, each to be repeated beside the others."""
        return (
            self._read,
            self._write,
            self._write,
            self._echo,
            self._echo_after_approval,
            self._invoke,
            self._come_back,
            self._cancel_waiting,
            self._cancel_running,
            self._hang_up,
            self._keep_secret,
            self._overrun,
            self._break_promise,
            self._press,
            self._press_badly,
            self._focus,
            self._stop_focus,
            self._draw,
            self._wander,
            self._ask_wrongly,
            self._list,
            self._shake_page,
            *self.scribe.habits(),
        )

    async def work(self, is_over: Callable[[], bool]) -> None:
        """Repeat every habit until the gateway is gone."""

        async def repeat(habit: Callable[[], Awaitable[None]]) -> None:
            while not is_over():
                with suppress(*GONE):
                    await habit()
                await asyncio.sleep(self.dice.uniform(0, 0.02))

        await asyncio.gather(*(repeat(habit) for habit in self.habits()))

    # -- the two doors --------------------------------------------------------------------------------------------

    async def call(self, asked: Asked, *, wait: float = 5.0, meta: dict[str, Any] | None = None) -> Told | None:
        """`tools/call`. Raises TimeoutError after `wait` seconds: the agent hangs up."""
        key = {} if asked.call_id is None else {"dev.ostiary/callId": asked.call_id}
        name, arguments = asked.capability.replace(".", "_"), _arguments(asked)
        is_first = self.memory.ask(asked)
        async with asyncio.timeout(wait):
            content = await self.tool(name, arguments, {**key, **(meta or {})})
        return self._hear(asked, content, is_first=is_first)

    async def tool(self, name: str, arguments: dict[str, Any], meta: dict[str, Any] | None = None) -> dict[str, Any]:
        """Any tool; the structured content of its answer."""
        whole = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "rig", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            **(meta or {}),
        }
        answer = await self.http.post(
            "/mcp",
            json={
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": name, "arguments": arguments, "_meta": whole},
            },
            headers=self._mcp_headers("tools/call", name),
        )
        self._judge_answer(answer)
        return last_message(answer).get("result", {}).get("structuredContent", {})

    def _mcp_headers(self, method: str, name: str | None = None) -> dict[str, str]:
        return {
            "authorization": f"Bearer {self.tokens['coder']}",
            "accept": ACCEPT,
            "mcp-protocol-version": MODERN,
            "mcp-method": method,
            **({} if name is None else {"mcp-name": name}),
        }

    async def invoke(self, asked: Asked, *, wait: int) -> Told | None:
        """A surface invoke with a nonce of its own; remembered as sent, once its answer named the call."""
        body = json.dumps(
            {
                "protocol": "pling.surface/0.1",
                "id": "rig",
                "method": "invoke",
                "capability": asked.capability,
                "input": _arguments(asked),
                **({} if asked.call_id is None else {"call_id": asked.call_id}),
            }
        ).encode()
        headers = {
            "Ostiary-Nonce": secrets.token_hex(12),
            "Ostiary-Timestamp": str(time.time_ns() // 1_000_000),
            "Prefer": f"wait={wait}",
        }
        is_first = self.memory.ask(asked)
        answer = await self.transmit(headers, body)
        told = self._hear(asked, answer.get("result") or answer.get("error") or {}, is_first=is_first)
        if told is not None and answer["ok"]:
            self.memory.transmissions.append(Transmission(headers=headers, body=body, ref=told.ref))
        return told

    async def transmit(self, headers: Any, body: bytes) -> dict[str, Any]:
        """Send an envelope as it is."""
        whole = {"authorization": f"Bearer {self.tokens['helper']}", "content-type": "application/json", **headers}
        answer = await self.http.post("/surface/v1", content=body, headers=whole)
        self._judge_answer(answer)
        return answer.json()

    def _judge_answer(self, answer: httpx.Response) -> None:
        if answer.status_code == 500 or b'"code":-32603' in answer.content:
            self.memory.contradict("no kill leaves a fault behind", f"{answer.status_code} {answer.text[:300]}")
        if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            # A gateway that is ending; it says nothing about the call.
            answer.raise_for_status()

    async def surface(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """`status` or `cancel`."""
        body = {"protocol": "pling.surface/0.1", "id": "rig", "method": method, "input": given}
        return (await self.transmit({}, json.dumps(body).encode())).get("result", {})

    def _hear(self, asked: Asked, content: dict[str, Any], *, is_first: bool = False) -> Told | None:
        ref, status = content.get("ref"), content.get("status")
        if not isinstance(ref, str) or not isinstance(status, str):
            if is_first:
                self.memory.refuse(asked)
            return None
        error: dict[str, Any] = content.get("error", content)
        told = Told(ref=ref, status=status, asked=asked, result=content.get("result"), code=error.get("code"))
        self.memory.hear(told)
        return told

    # -- habits ---------------------------------------------------------------------------------------------------

    def _fresh(self, agent: str, capability: str, word: str, *, has_key: bool = True) -> Asked:
        name = secrets.token_hex(6)
        return Asked(
            agent=agent,
            capability=capability,
            title=f"{word} {name}",
            call_id=f"key-{name}" if has_key else None,
        )

    async def _read(self) -> None:
        await self.page.is_there.wait()
        await self._kept(self.call, self._fresh("coder", "todo.list", "read", has_key=self.dice.random() < 0.5))

    async def _write(self) -> None:
        await self.page.is_there.wait()
        await self._kept(self.call, self._fresh("coder", "todo.add", self.dice.choice(_TITLES)))

    async def _echo(self) -> None:
        await self._kept(self.call, self._fresh("coder", "runtime.echo", "echo"))

    async def _echo_after_approval(self) -> None:
        await self.page.is_there.wait()
        await self._kept(self.invoke, self._fresh("helper", "runtime.echo", "yes"), wait=2)

    async def _invoke(self) -> None:
        await self.page.is_there.wait()
        asked = self._fresh("helper", self.dice.choice(("todo.list", "todo.add")), self.dice.choice(_TITLES))
        await self._kept(self.invoke, asked, wait=2)

    async def _come_back(self) -> None:
        """Ask again for what was not answered, by the same key."""
        if not self.unanswered:
            await asyncio.sleep(0.05)
            return
        await self.page.is_there.wait()
        asked = self.unanswered.pop(0)
        if asked.agent == "coder":
            await self._kept(self.call, asked)
        else:
            await self._kept(self.invoke, asked, wait=2)

    async def _cancel_waiting(self) -> None:
        await self.page.is_there.wait()
        told = await self._kept(self.invoke, self._fresh("helper", "todo.add", "mute"), wait=0)
        if told is not None and self.dice.random() < 0.7:
            await self._follow(told, "cancel", {"ref": told.ref})

    async def _cancel_running(self) -> None:
        await self.page.is_there.wait()
        told = await self._kept(self.invoke, self._fresh("helper", "todo.slow", "slow"), wait=0)
        if told is not None and self.dice.random() < 0.7:
            await self._follow(told, "cancel", {"ref": told.ref})
            await self._follow(told, "status", {"ref": told.ref, "wait": 1})

    async def _follow(self, told: Told, method: str, given: dict[str, Any]) -> None:
        self._hear(told.asked, await self.surface(method, given))

    async def _hang_up(self) -> None:
        """Leave before the person has answered; half of the time come back at once."""
        await self.page.is_there.wait()
        asked = self._fresh("coder", "todo.add", "mute")
        with suppress(TimeoutError):
            await self.call(asked, wait=0.15)
        if self.dice.random() < 0.5:
            with suppress(TimeoutError):
                await self.call(asked, wait=0.05)

    async def _keep_secret(self) -> None:
        await self.page.is_there.wait()
        word = self.dice.choice(("yes", "mute"))
        asked = self._fresh("helper", "todo.unlock", word)
        await self._kept(self.invoke, asked, wait=1 if word == "yes" else 0)
        await asyncio.sleep(0.1)

    async def _overrun(self) -> None:
        await self.page.is_there.wait()
        await self._kept(self.invoke, self._fresh("helper", "todo.stuck", "stuck"), wait=2)

    async def _break_promise(self) -> None:
        await self.page.is_there.wait()
        await self._kept(self.call, self._fresh("coder", "todo.broken", "broken"))

    async def _press(self) -> None:
        await self._kept(self.call, self._fresh("coder", RUN, "press"))

    async def _press_badly(self) -> None:
        """Ask a handler that ends its process, or one that never ends; seldom, so that the others get to work."""
        await asyncio.sleep(self.dice.uniform(0.1, 0.6))
        await self._kept(self.call, self._fresh("coder", RUN, self.dice.choice(("die", "die", "hang"))))

    async def _focus(self) -> None:
        """A short operation, waited for to its end, or cancelled meanwhile."""
        await self.page.is_there.wait()
        asked = self._fresh("helper", START, "focus")
        told = await self._kept(self.invoke, asked, wait=self.dice.choice((0, 2)))
        if told is not None and self.dice.random() < 0.2:
            await self._follow(told, "cancel", {"ref": told.ref})
        await asyncio.sleep(self.dice.uniform(0, 0.2))

    async def _stop_focus(self) -> None:
        await asyncio.sleep(self.dice.uniform(0.2, 0.8))
        await self._kept(self.invoke, self._fresh("helper", STOP, "stop"), wait=1)

    async def _draw(self) -> None:
        await self.page.is_there.wait()
        await self._kept(self.invoke, self._fresh("helper", DRAW, "draw"), wait=self.dice.choice((0, 2)))

    async def _wander(self) -> None:
        await asyncio.sleep(self.dice.uniform(0.1, 0.6))
        await self.page.wander()

    async def _ask_wrongly(self) -> None:
        """Ask for what no schema allows: it is refused, and its key names nothing."""
        await self.page.is_there.wait()
        await self.invoke(replace(self._fresh("helper", "todo.add", "wrong"), title=""), wait=0)
        await asyncio.sleep(0.1)

    async def _list(self) -> None:
        whole = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "rig", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        await self.http.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": whole}},
            headers=self._mcp_headers("tools/list"),
        )
        await asyncio.sleep(0.1)

    async def _shake_page(self) -> None:
        await self.page.is_there.wait()
        await asyncio.sleep(self.dice.uniform(0.1, 0.5))
        if self.dice.random() < 0.25:
            await self.page.load_anew()
        else:
            await self.page.lose_socket()

    async def _kept(self, ask: Any, asked: Asked, **how: Any) -> Told | None:
        """Ask; what the gateway's end swallowed is asked again one day."""
        try:
            return await ask(asked, **how)
        except (*GONE, TimeoutError, asyncio.CancelledError):
            if asked.call_id is not None:
                self.unanswered.append(asked)
            raise


def _arguments(asked: Asked) -> dict[str, Any]:
    if asked.capability == START:
        return {"minutes": 2 + len(asked.title) % 3}
    if asked.capability == STOP:
        return {}
    return {"text": asked.title} if asked.capability == "runtime.echo" else {"title": asked.title}
