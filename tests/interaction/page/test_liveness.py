"""A page that does not answer is gone, one that does not read is dropped, and nobody else waits for either."""

import asyncio
import json
from typing import Any

import pytest

from tests.interaction.page.rig import LIST, Page, Rig

pytestmark = pytest.mark.anyio


async def _tick(rig: Rig) -> None:
    """Let one ping interval pass."""
    while not rig.clock.sleepers:  # noqa: ASYNC110 - the clock has no event for it
        await asyncio.sleep(0)
    rig.clock.advance(20_000)


async def test_a_page_that_answers_its_pings_stays(rig: Rig) -> None:
    page = await rig.page(LIST)
    for n in range(1, 6):
        await _tick(rig)
        assert (await page.receive("ping"))["n"] == n
        await page.send({"type": "pong", "n": n, "visibility": "visible"})
        await page.declare(LIST, seq=n + 1)
    assert rig.services.live.world.pages[page.welcome["page"]].is_connected


async def test_two_missed_pongs_drop_the_page(rig: Rig) -> None:
    page = await rig.page(LIST)
    for _ in range(2):
        await _tick(rig)
        await page.receive("ping")
        # Other frames, and the unasked report of visibility, are no answer.
        await page.send({"type": "pong", "n": 0, "visibility": "visible"})
        await page.declare(LIST, seq=5)
    assert rig.services.live.world.pages[page.welcome["page"]].is_connected
    await _tick(rig)
    await page.closed()
    assert not rig.services.live.world.pages[page.welcome["page"]].is_connected


async def test_an_answer_to_a_ping_that_was_not_sent_yet_does_not_count_ahead(rig: Rig) -> None:
    page = await rig.page(LIST)
    await page.send({"type": "pong", "n": 1_000, "visibility": "visible"})
    await page.declare(LIST, seq=2)
    for _ in range(3):
        await _tick(rig)
    await page.closed()
    assert not rig.services.live.world.pages[page.welcome["page"]].is_connected


async def test_visibility_is_reported_unasked(rig: Rig) -> None:
    page = await rig.page(LIST)
    await page.send({"type": "pong", "n": 0, "visibility": "hidden"})
    await page.declare(LIST, seq=2)
    assert not rig.services.live.world.pages[page.welcome["page"]].visible


async def test_a_revoked_page_is_told_before_its_socket_closes(rig: Rig) -> None:
    page = await rig.page(LIST)
    rig.services.pages.close_all("revoked", user="ann")
    assert (await page.receive("bye"))["why"] == "revoked"
    assert await page.closed() == 4401


async def test_a_shutdown_says_so(rig: Rig) -> None:
    page = await rig.page(LIST)
    rig.services.pages.close_all("shutdown")
    assert (await page.receive("bye"))["why"] == "shutdown"
    assert await page.closed() == 1012


async def test_the_standing_ends_with_its_ticket_and_a_fresh_one_extends_it(rig: Rig) -> None:
    page = await rig.page(LIST)
    assert page.welcome["reauth"] == 900_000
    rig.clock.advance(899_999)
    await page.send({"type": "ticket", "ticket": await rig.ticket()})
    await page.declare(LIST, seq=2)
    rig.clock.advance(899_999)
    await rig.sweep()
    assert rig.services.live.world.pages[page.welcome["page"]].is_connected
    rig.clock.advance(1)
    await rig.sweep()
    assert await _bye(page) == "expired"
    assert await page.closed() == 4401


async def test_activity_is_shown_after_welcome_and_after_each_change(rig: Rig) -> None:
    page = await rig.page()
    first = await page.receive("activity")
    assert (first["entries"], first["pinned"]) == ([], False)
    await page.declare(LIST)
    session, _ = await rig.grant()
    rig.services.sessions.used(session)
    submitted = await rig.submit(session, "todo.list", {})
    await page.answer(await page.receive("invoke"), {})
    await rig.outcome(submitted)
    shown: dict[str, Any] = {}
    while not shown.get("entries") or shown["entries"][0]["state"] != "succeeded":
        shown = await page.receive("activity")
    assert shown["entries"][0]["capability"] == "todo.list"
    assert shown["agents"] == [{"agent": "alice", "label": "Alice", "connected": True}]
    assert "input" not in json.dumps(shown)


async def _bye(page: Page) -> str:
    return (await page.receive("bye"))["why"]
