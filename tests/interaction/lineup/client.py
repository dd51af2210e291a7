"""An agent that speaks `lineup.v1` over HTTP: it posts messages, and reads a stream event by event."""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.canonical import canonical
from gateway.domain.conversations import Talk
from gateway.runtime.calls import TAKEN_MS
from gateway.runtime.effects import After, LogGrew
from tests.interaction.page.rig import Rig

PATIENCE: Final = 5.0
LATER: Final = "2099-01-01T00:00:00Z"

_numbers: Final = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a stream; `place` is its id."""

    place: int
    message: dict[str, Any]

    @property
    def kind(self) -> str:
        """The type of the message, without its prefix."""
        return str(self.message["type"]).removeprefix("lineup.v1.")

    @property
    def payload(self) -> dict[str, Any]:
        return self.message["payload"]


@dataclass(eq=False)
class Stream:
    """An open stream. `last` is the id of the last event, as a client would send it to go on."""

    response: httpx.Response
    last: int | None = None
    pings: int = 0
    _lines: AsyncIterator[str] = field(init=False)
    _kept: list[Event] = field(default_factory=list[Event])

    def __post_init__(self) -> None:
        self._lines = self.response.aiter_lines()

    async def next(self) -> Event:
        """The next event, whatever it is."""
        async with asyncio.timeout(PATIENCE):
            return await self._read()

    async def receive(self, kind: str, **payload: Any) -> Event:
        """The next event of `kind` whose payload holds this; what is passed over is kept for `passed`."""
        async with asyncio.timeout(PATIENCE):
            while True:
                event = await self._read()
                if event.kind == kind and payload.items() <= event.payload.items():
                    return event
                self._kept.append(event)

    async def ended(self) -> list[Event]:
        """What still comes until the gateway ends the stream."""
        rest: list[Event] = []
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    rest.append(await self._read())
                except StopAsyncIteration:
                    return rest

    async def pinged(self) -> None:
        """Return at the next sign of life."""
        async with asyncio.timeout(PATIENCE):
            while await anext(self._lines) != ": ping":
                pass

    @property
    def passed(self) -> list[Event]:
        """Events that were waited past."""
        return self._kept

    async def _read(self) -> Event:
        place, data = None, None
        while True:
            line = await anext(self._lines)
            if line.startswith("id: "):
                place = int(line[4:])
            elif line.startswith("data: "):
                data = json.loads(line[6:])
            elif not line and data is not None:
                assert place is not None
                self.last = place
                return Event(place=place, message=data)


@dataclass(eq=False, kw_only=True)
class Agent:
    """One session at the door."""

    http: httpx.AsyncClient
    session: AgentSession
    token: str

    def headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **more}

    def path(self, what: str, conversation: str | None = None) -> str:
        return f"/lineup/v1/conversations/{conversation or self.session.conversation}/{what}"

    def message(self, kind: str, payload: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """A good message; `changes` makes it another."""
        return {
            "v": 1,
            "id": f"m{next(_numbers)}",
            "type": f"lineup.v1.{kind}",
            "conversation_id": self.session.conversation,
            "sender": {"kind": "agent", "id": self.session.agent},
            "payload": payload,
            **changes,
        }

    async def post(self, message: Any, *, conversation: str | None = None, **headers: str) -> httpx.Response:
        return await self.http.post(
            self.path("messages", conversation), json=message, headers=self.headers(**headers)
        )

    async def tool(
        self, method: str, arguments: dict[str, Any], *, call_id: str | None = None, revision: int = 1, **changes: Any
    ) -> httpx.Response:
        payload = {
            "call_id": call_id or fresh_call_id(),
            "method": method,
            "inventory_revision": f"catalog-{revision}",
            "arguments": arguments,
        }
        return await self.post(self.message("tool.call", payload, **changes))

    async def app(
        self, capability: str, arguments: dict[str, Any], *, call_id: str | None = None, **payload: Any
    ) -> httpx.Response:
        whole = {
            "call_id": call_id or fresh_call_id(),
            "capability": capability,
            "reason": "so that you can look at it",
            "expires_at": LATER,
            "arguments": arguments,
            **payload,
        }
        return await self.post(self.message("app.call", whole))

    @asynccontextmanager
    async def stream(
        self, after: int | None = None, *, conversation: str | None = None, named: str | None = None
    ) -> AsyncGenerator[Stream]:
        """Open a stream; `after` is the place to go on after, `named` the text that says so."""
        named = str(after) if after is not None else named
        whole = self.headers(**({} if named is None else {"Last-Event-ID": named}))
        async with self.http.stream("GET", self.path("stream", conversation), headers=whole) as response:
            yield Stream(response)

    async def inventory(self) -> dict[str, Any]:
        """The inventory as a new stream tells it."""
        async with self.stream() as stream:
            return (await stream.receive("client.inventory")).payload


async def an_agent(rig: Rig, agent: str = "alice", user: str = "ann", **grant: Any) -> Agent:
    """A new session of `agent` at the door."""
    session, token = await rig.grant(agent, user, **grant)
    return Agent(http=rig.http, session=session, token=token)


async def happens(rig: Rig, agent: Agent, instance: str, event: str, data: dict[str, Any]) -> None:
    """A person does something in a surface of this agent's conversation."""
    talk = Talk.of(agent.session)
    body = canonical({"instance_id": instance, "event": event, "data": data}).decode()
    told = (LogGrew(talk=talk),)
    await rig.services.spine.run(lambda tx: After(tx.conversations.tell_event(talk, body, rig.clock.now()), told))


async def records(rig: Rig, event: str, **facts: Any) -> list[dict[str, Any]]:
    """`rig.records`, once it is noted which results were taken: that waits for the clock."""
    rig.clock.advance(TAKEN_MS)
    return await rig.records(event, **facts)


def fresh_call_id() -> str:
    """A call_id no test has used."""
    return f"call-{next(_numbers):06d}"
