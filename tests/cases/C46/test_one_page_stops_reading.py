"""C46: one page stops reading, and nobody waits for it.

Differs from the case: what the case calls `surface_unresponsive` is `deadline_exceeded` where the call was written to
the page (its outcome is unknown), and `not_delivered` where it never left the gateway. The load is the case's in
kind and size of messages, not in minutes: `make soak` has the minutes.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.runtime.requests import Outcome
from gateway.transports.page_ws.outgoing import Outgoing
from tests.interaction.page.rig import LIST, Page, Rig, running
from tests.interaction.page.test_stalled import WINDOW, fill, until_dropped

pytestmark = pytest.mark.anyio

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
OWN = {**LIST, "id": "mail.list"}
"""What only the page that stalls offers."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running(page_queue_frames=64, page_queue_bytes=300_000) as running_rig:
        yield running_rig


@dataclass(frozen=True)
class Surface:
    """A page, and an agent of its user."""

    page: Page
    agent: AgentSession

    async def asked(self, rig: Rig) -> tuple[Outcome, Any]:
        """A call to this page, as large as the case's messages."""
        arguments = {"text": "x" * CASE["message_bytes"]}
        return await rig.submit(self.agent, "todo.list", arguments, page=self.page.welcome["page"])

    async def goes_on(self, rig: Rig) -> None:
        """A call to this page goes its usual way."""
        submitted = await self.asked(rig)
        await self.page.answer(await self.page.receive("invoke"), {})
        assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED


async def opened(rig: Rig) -> tuple[list[Surface], Surface]:
    """All the case's surfaces; the one that stalls apart. The first is of the same user as that one."""
    users = ["ann", *(f"user{n}" for n in range(2, CASE["surfaces"]))]
    others = [Surface(await rig.page(LIST, user=user), (await rig.grant(user=user))[0]) for user in users]
    return others, Surface(await rig.page(LIST, OWN, window=WINDOW), others[0].agent)


async def test_the_others_go_on_and_the_stalled_one_is_dropped(rig: Rig, capfd: pytest.CaptureFixture[str]) -> None:
    others, stalled = await opened(rig)
    session = stalled.agent
    await rig.services.inventories.serve(session)
    changes: list[str] = []
    rig.services.changes.subscribe(session, lambda: changes.append("changed"))
    stalled.page.stalls()
    capfd.readouterr()

    first = await stalled.asked(rig)
    # As much as the two machines take between them.
    await fill(rig, stalled.page, queued=50_000)
    outstanding: list[tuple[Outcome, Any]] = []
    link = rig.services.pages.link(stalled.page.welcome["page"])
    assert isinstance(link, Outgoing)
    for number in range(200):
        if not link.is_open:
            break
        outstanding.append(await stalled.asked(rig))
        await others[number % len(others)].goes_on(rig)
    assert not link.is_open, "its queue has no bound"
    await until_dropped(rig, stalled.page)
    # What never left the gateway did not run; what was written may have, and ends at its deadline.
    assert (await _code(rig, outstanding[-1])) == "not_delivered"
    rig.clock.advance(30_000)
    await rig.sweep()
    assert (await _code(rig, first)) == "deadline_exceeded"
    assert {await _code(rig, submitted) for submitted in outstanding} <= {"not_delivered", "deadline_exceeded"}

    # Its ten seconds are over too: what only it offered is gone, and the agent was told so once.
    listed = {entry.descriptor.id for entry in rig.services.inventories.snapshot(session).entries.values()}
    assert listed == {"todo.list"}
    rig.clock.advance(10_000)
    await rig.services.spine.drain()
    assert changes == ["changed"]
    out, err = capfd.readouterr()
    # Each call has its one line, as always; beside these there is no storm.
    assert len([line for line in (out + err).splitlines() if "entry=agent_tool" not in line]) <= 5


async def _code(rig: Rig, submitted: tuple[Outcome, Any]) -> str:
    await rig.services.spine.drain()
    code = (await rig.call(submitted[0].call.ref)).code
    return "" if code is None else code.wire


async def test_a_page_that_answers_no_ping_is_dropped(rig: Rig) -> None:
    stalled, other = await rig.page(OWN, window=WINDOW), await rig.page(LIST)
    stalled.stalls()
    for n in range(1, 4):
        while rig.clock.sleepers < 2:  # noqa: ASYNC110 - the clock has no event for it
            await asyncio.sleep(0)
        rig.clock.advance(20_000)
        await other.receive("ping", n=n)
        await other.send({"type": "pong", "n": n, "visibility": "visible"})
        await other.declare(LIST, seq=n + 1)
    await until_dropped(rig, stalled)
    assert rig.services.live.world.pages[other.welcome["page"]].is_connected


async def test_a_flood_from_one_page_slows_that_page_alone() -> None:
    async with running(page_frames_per_second=100, page_frames_burst=200) as rig:
        loud, other = await rig.page(LIST, user="loud"), Surface(await rig.page(LIST), (await rig.grant())[0])

        async def flood() -> None:
            for n in range(10_000):
                await loud.answer({"ref": f"call_{n}", "epoch": 1}, "x" * CASE["message_bytes"])

        flooding = asyncio.create_task(flood())
        for _ in range(20):
            await other.goes_on(rig)
        await loud.receive("error", code="rate_limited")
        assert not flooding.done()
        assert len(await rig.records("page.slowed", peer=loud.welcome["page"])) == 1
        assert len(await rig.records("frame.refused", peer=loud.welcome["page"])) == 20
        loud.socket.transport.abort()
        await asyncio.gather(flooding, return_exceptions=True)
