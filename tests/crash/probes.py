"""What a fresh life is asked about the lives before it: replays, repeated keys, used tickets, used approvals."""

import asyncio
import json
from contextlib import suppress
from random import Random
from typing import Any, Final

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.crash.agents import Agents
from tests.crash.memory import Transmission
from tests.crash.scene import HOST, ORIGIN, SITE

SAMPLE: Final = 3
_TICKET_REFUSED: Final = 4401


async def probe(agents: Agents, dice: Random) -> None:
    """Ask; what should be refused and is not becomes a contradiction."""
    memory = agents.memory
    for transmission in _some(memory.transmissions, dice):
        await _replay(agents, transmission)
    for (agent, call_id), ref in _some(list(memory.by_key.items()), dice):
        await _ask_by_key(agents, agent, call_id, ref)
    for ticket in _some(memory.used_tickets, dice)[:1]:
        await _use_again(agents, ticket)
    for decision in _some(list(agents.page.consumed.values()), dice)[:1]:
        await agents.page.say(decision)


def _some(things: list[Any], dice: Random) -> list[Any]:
    return dice.sample(things, min(SAMPLE, len(things)))


async def _replay(agents: Agents, sent: Transmission) -> None:
    answer = await agents.transmit(sent.headers, sent.body)
    error = answer.get("error", {})
    if (error.get("code"), error.get("ref")) != ("REPLAY_DETECTED", sent.ref):
        agents.memory.contradict("a transmission counts once", f"that of {sent.ref} was answered {answer}")


async def _ask_by_key(agents: Agents, agent: str, call_id: str, ref: str) -> None:
    if agent == "coder":
        answer = await agents.tool("gateway_call_status", {"call_id": call_id})
    else:
        answer = await agents.surface("status", {"call_id": call_id})
    if answer.get("ref") != ref:
        agents.memory.contradict("a repeated call_id is the same call", f"`{call_id}` was {ref}, is {answer}")


async def _use_again(agents: Agents, ticket: str) -> None:
    hello: dict[str, Any] = {
        "type": "hello",
        "v": 1,
        "site": SITE,
        "doc": "another-document-0",
        "ticket": ticket,
        "seen": [],
        "url": f"{ORIGIN}/",
        "visibility": "visible",
        "automated": False,
    }
    async with asyncio.timeout(5):
        socket = await connect(
            f"ws://{HOST}:{agents.port}/page/v1",
            origin=ORIGIN,  # type: ignore[arg-type] - a NewType of str
            compression=None,
        )
        async with socket:
            await socket.send(json.dumps(hello))
            with suppress(ConnectionClosed):
                frame = json.loads(await socket.recv())
                if frame["type"] == "welcome":
                    agents.memory.contradict("a ticket is used once", "a used one was welcomed")
