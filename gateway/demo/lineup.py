"""An agent that speaks `lineup.v1`, as small as one can be: it posts messages and reads one stream."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final

import httpx

from gateway.demo.scene import Scene

PATIENCE: Final = 15.0

AGENT: Final = "demo-agent"


class Talk:
    """One conversation; `results` counts the ends it was told."""

    def __init__(self, http: httpx.AsyncClient, conversation: str, lines: AsyncIterator[str]) -> None:
        self._http = http
        self._conversation = conversation
        self._lines = lines
        self._numbers = count(1)
        self.results = 0

    async def call(self, call_id: str, method: str, arguments: dict[str, Any], revision: str) -> dict[str, Any]:
        """Send one `tool.call`; the message that answers it."""
        message = {
            "v": 1,
            "id": f"m{next(self._numbers)}",
            "type": "lineup.v1.tool.call",
            "conversation_id": self._conversation,
            "sender": {"kind": "agent", "id": AGENT},
            "payload": {
                "call_id": call_id,
                "method": method,
                "inventory_revision": revision,
                "arguments": arguments,
            },
        }
        answer = await self._http.post("messages", json=message)
        answer.raise_for_status()
        told: dict[str, Any] = answer.json()
        return told

    async def receive(self, kind: str) -> dict[str, Any]:
        """The payload of the next message of `kind` on the stream."""
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                if not line.startswith("data: "):
                    continue
                message: dict[str, Any] = json.loads(line[6:])
                self.results += message["type"].endswith("tool.result")
                if message["type"] == f"lineup.v1.{kind}":
                    payload: dict[str, Any] = message["payload"]
                    return payload
        raise EOFError(f"the stream ended before a {kind} came")


@asynccontextmanager
async def lineup(scene: Scene) -> AsyncGenerator[Talk]:
    """Open the conversation of the demo's session."""
    base = f"{scene.gateway_url}/lineup/v1/conversations/{scene.session}/"
    headers = {"Authorization": f"Bearer {scene.token}"}
    async with (
        httpx.AsyncClient(base_url=base, headers=headers, timeout=PATIENCE) as http,
        http.stream("GET", "stream") as stream,
    ):
        yield Talk(http, scene.session, stream.aiter_lines())
