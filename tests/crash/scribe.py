"""The agent that speaks LineUp: it asks and does not wait, and reads its conversation over every break.

It names its last place whenever it comes back, so that what is lost, or comes twice, shows at once.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from random import Random
from typing import Any, Final

import httpx

from tests.crash.memory import Heard, Memory
from tests.crash.page import Page
from tests.crash.scene import SCRIBE, TALK

PATH: Final = f"/lineup/v1/conversations/{TALK}"
LATER: Final = "2099-01-01T00:00:00Z"
CALLED: Final = ("todo.list", "todo.add", "todo.add", "todo.slow", "todo.stuck", "runtime.echo", "runtime.echo")
_WORDS: Final = ("yes", "yes", "later", "no", "mute")
_KINDS: Final = ("tool", "app")

Wanted = tuple[str, str, str, str]
"""Kind of message, call_id, capability, title."""


class Scribe:
    """One agent of a lineage."""

    def __init__(self, http: httpx.AsyncClient, token: str, memory: Memory, page: Page, dice: Random) -> None:
        self._http = http
        self._token = token
        self._memory = memory
        self._page = page
        self._dice = dice
        self._revision = "catalog-1"
        self._unanswered: list[Wanted] = []
        self._ended: dict[str, asyncio.Event] = {}

    def habits(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """Everything it does, each to be repeated beside the others."""
        return (self.listen, self._call, self._call, self._come_back)

    async def listen(self) -> None:
        """Read the conversation, from the last place on, until the stream ends."""
        headers = {**self._headers(), "Last-Event-ID": str(self._memory.place)}
        whole = httpx.Timeout(10, read=None)
        async with self._http.stream("GET", f"{PATH}/stream", headers=headers, timeout=whole) as response:
            if response.status_code == HTTPStatus.BAD_REQUEST:
                told = f"{self._memory.place} is not known any more"
                self._memory.contradict("a conversation is told whole, and once", told)
            if response.status_code != HTTPStatus.OK:
                await asyncio.sleep(0.05)
                return
            place = 0
            async for line in response.aiter_lines():
                if line.startswith("id: "):
                    place = int(line[4:])
                elif line.startswith("data: "):
                    self._hear(place, json.loads(line[6:]))

    async def is_heard(self) -> None:
        """Ask for one thing more and return once the conversation told its end."""
        name = f"last-{secrets.token_hex(6)}"
        ended = self._ended[name] = asyncio.Event()
        await self._ask(("tool", name, "runtime.echo", "yes"))
        await ended.wait()

    def _hear(self, place: int, message: dict[str, Any]) -> None:
        kind, payload = message["type"].removeprefix("lineup.v1."), message["payload"]
        if kind == "client.inventory":
            self._revision = payload["revision"]
        if "call_id" not in payload:
            return
        heard = Heard(kind=kind, call_id=payload["call_id"], status=payload["status"], seq=payload.get("seq"))
        self._memory.listen(place, heard)
        if kind.endswith(".result") and heard.call_id in self._ended:
            self._ended[heard.call_id].set()

    async def _call(self) -> None:
        await self._page.is_there.wait()
        name = secrets.token_hex(6)
        wanted = (
            self._dice.choice(_KINDS),
            f"key-{name}",
            self._dice.choice(CALLED),
            f"{self._dice.choice(_WORDS)} {name}",
        )
        await self._kept(wanted)
        await asyncio.sleep(self._dice.uniform(0, 0.1))

    async def _come_back(self) -> None:
        """Ask again for what was not answered, by the same key."""
        await asyncio.sleep(0.05)
        if self._unanswered:
            await self._kept(self._unanswered.pop(0))

    async def _kept(self, wanted: Wanted) -> None:
        try:
            await self._ask(wanted)
        except (httpx.HTTPError, OSError, asyncio.CancelledError):
            self._unanswered.append(wanted)
            raise

    async def _ask(self, wanted: Wanted) -> None:
        kind, call_id, capability, title = wanted
        arguments = {"text": title} if capability == "runtime.echo" else {"title": title}
        payload: dict[str, Any] = {"call_id": call_id, "arguments": arguments}
        if kind == "tool":
            payload |= {"method": capability, "inventory_revision": self._revision}
        else:
            payload |= {"capability": capability, "reason": "to see what holds", "expires_at": LATER}
        message = {
            "v": 1,
            "id": call_id,
            "type": f"lineup.v1.{kind}.call",
            "conversation_id": TALK,
            "sender": {"kind": "agent", "id": SCRIBE},
            "payload": payload,
        }
        answer = await self._http.post(f"{PATH}/messages", json=message, headers=self._headers())
        if answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR:
            self._memory.contradict("no kill leaves a fault behind", f"{answer.status_code} {answer.text[:300]}")
        told = answer.json().get("payload", {})
        if answer.status_code == HTTPStatus.ACCEPTED or told.get("status") == "completed":
            self._memory.taken.add(call_id)

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._token}"}
