"""A page that stops reading is dropped at the bounds of its queue, for good, and nobody waits for it."""

import asyncio
from typing import Any

import pytest

from gateway.domain.calls import CallState
from gateway.transports.page_ws.outgoing import Outgoing
from tests.interaction.page.rig import ADD, LIST, Page, Rig, running

pytestmark = pytest.mark.anyio

SMALL: Any = {"page_queue_frames": 64, "page_queue_bytes": 200_000}
WINDOW = 4_096


async def until_dropped(rig: Rig, page: Page) -> None:
    """Wait until the gateway counts the page as gone."""
    async with asyncio.timeout(5):
        while rig.services.live.world.pages[page.welcome["page"]].is_connected:  # noqa: ASYNC110 - no event for it
            await asyncio.sleep(0.005)


async def fill(rig: Rig, page: Page, queued: int | None = None) -> None:
    """Send to a page that does not read until `queued` bytes stay in its queue, or until it is dropped."""
    link = rig.services.pages.link(page.welcome["page"])
    assert isinstance(link, Outgoing)
    while link.send({"type": "error", "code": "x", "message": "y" * 25_000}):
        for _ in range(50):
            await asyncio.sleep(0)
        if queued is not None and link.queued_bytes >= queued:
            return
    await until_dropped(rig, page)


async def test_the_number_of_frames_on_their_way_is_bounded() -> None:
    async with running(**SMALL) as rig:
        page = await rig.page(LIST)
        link = rig.services.pages.link(page.welcome["page"])
        assert link is not None
        # Nothing is awaited here, so nothing is written meanwhile.
        taken = [link.send({"type": "ping", "n": 0}) for _ in range(65)]
        assert taken == [True] * 64 + [False]
        await page.closed()


async def test_the_size_of_what_is_on_its_way_is_bounded() -> None:
    async with running(**SMALL) as rig:
        page = await rig.page(LIST)
        link = rig.services.pages.link(page.welcome["page"])
        assert link is not None
        large = {"type": "error", "code": "x", "message": "y" * 60_000}
        assert [link.send(large) for _ in range(4)] == [True, True, True, False]
        await page.closed()


async def test_a_page_that_does_not_read_is_given_up_with_its_connection() -> None:
    async with running(**SMALL) as rig:
        page = await rig.page(LIST, window=WINDOW)
        page.stalls()
        await fill(rig, page)
        # The other end of its connection is gone, though it never took what was sent.
        async with asyncio.timeout(10):
            while not page.socket.transport.is_closing():
                page.socket.transport.write(b"\x8a\x80\x00\x00\x00\x00")
                await asyncio.sleep(0.02)


async def test_what_was_never_written_to_a_page_did_not_run_and_is_said_so() -> None:
    async with running(**SMALL) as rig:
        page = await rig.page({**ADD, "effect": "read", "confirm": "never"}, window=WINDOW)
        session, _ = await rig.grant()
        first = await rig.submit(session, "todo.add", {"title": "read by nobody"})
        page.stalls()
        await fill(rig, page, 150_000)
        behind = await rig.submit(session, "todo.add", {"title": "never written"})
        assert (await rig.call(behind[0].call.ref)).state is CallState.DISPATCHED
        await fill(rig, page)
        ended = (await rig.outcome(behind)).call
        assert ended.code is not None
        assert (ended.state, ended.code.wire) == (CallState.FAILED, "not_delivered")
        # What was written may have run: only its deadline ends the wait for it.
        assert (await rig.call(first[0].call.ref)).state is CallState.DISPATCHED
        rig.clock.advance(30_000)
        await rig.sweep()
        lost = (await rig.outcome(first)).call
        assert lost.code is not None
        assert (lost.state, lost.code.wire) == (CallState.UNKNOWN, "deadline_exceeded")
