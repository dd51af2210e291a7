"""A page that says too much is read slowly, one that says it in ways no browser does is closed; others go on."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.settings import Limits
from gateway.transports.page_ws import endpoint, protocol
from gateway.transports.page_ws.pace import Pace
from tests.interaction.page.rig import CLEAR, LIST, Page, Rig, hello, running

pytestmark = pytest.mark.anyio

CAPS = json.dumps({"type": "caps", "seq": 7, "part": 1, "parts": 1, "capabilities": [LIST]})


def test_the_private_names_belong_to_the_version_they_were_read_in() -> None:
    assert version("uvicorn").startswith(protocol.UVICORN), "read protocol.py against the new uvicorn"


# -- too many frames --------------------------------------------------------------------------------------------


def test_the_allowance_is_a_burst_and_then_a_rate_in_frames_and_in_bytes() -> None:
    limits = Limits(page_frames_per_second=10, page_frames_burst=5, page_bytes_per_second=1_000, page_bytes_burst=500)
    pace = Pace(limits, now=0)
    assert [pace.spend(frames=1, size=0, now=0) for _ in range(6)] == [0, 0, 0, 0, 0, 101]
    assert pace.spend(frames=1, size=0, now=200) == 0
    pace = Pace(limits, now=0)
    assert [pace.spend(frames=1, size=size, now=0) for size in (500, 1)] == [0, 2]
    # A clock that was put back takes nothing away.
    assert Pace(limits, now=1_000).spend(frames=5, size=500, now=0) == 0


async def test_a_flood_is_read_slowly_and_others_do_not_notice() -> None:
    async with running(page_frames_per_second=10, page_frames_burst=100) as rig:
        flooding, other = await rig.page(LIST, user="loud"), await rig.page(LIST)
        session, _ = await rig.grant()
        flood = asyncio.create_task(_shouts(flooding, 20_000))
        for _ in range(20):
            submitted = await rig.submit(session, "todo.list", {})
            await other.answer(await other.receive("invoke"), {})
            assert (await rig.outcome(submitted)).call.state.value == "succeeded"
        assert (await flooding.receive("error", code="rate_limited"))["message"]
        assert len(await rig.records("page.slowed", peer=flooding.welcome["page"], code="rate_limited")) == 1
        assert len(await rig.records("frame.refused", peer=flooding.welcome["page"])) == 20
        # The clock stands still, and after the burst its connection is not read: it cannot go on.
        assert not flood.done()
        flooding.socket.transport.abort()
        await asyncio.gather(flood, return_exceptions=True)


async def _shouts(page: Page, times: int) -> None:
    for _ in range(times):
        await page.socket.send("{" + " " * 4_000)


async def test_a_slowed_page_is_listened_to_again_in_time() -> None:
    async with running(page_frames_per_second=10, page_frames_burst=100) as rig:
        page = await rig.page(LIST)
        await _shouts(page, 109)
        await page.send(json.loads(CAPS))
        for wait in range(12):
            while rig.clock.sleepers < 2:  # noqa: ASYNC110 - the clock has no event for it; the other is the ping
                await asyncio.sleep(0)
            rig.clock.advance(101)
            assert wait < 11 or await page.receive("caps_ack", seq=7)
        assert len(await rig.records("page.slowed")) == 1


async def test_a_page_at_its_limit_is_not_slowed() -> None:
    async with running(page_frames_per_second=10, page_frames_burst=100) as rig:
        page = await rig.page(LIST)
        for seq in range(2, 98):
            await page.declare(LIST, seq=seq)
        assert not await rig.records("page.slowed")


async def test_what_a_page_says_counts_in_bytes_too() -> None:
    async with running(page_bytes_per_second=1_000, page_bytes_burst=200_000) as rig:
        page = await rig.page(LIST)
        for _ in range(4):
            await page.socket.send(CAPS[:-1] + " " * 60_000 + "}")
        assert await page.receive("error", code="rate_limited")
        assert await rig.records("page.slowed", peer=page.welcome["page"])


# -- refused results and decisions -----------------------------------------------------------------------------


async def _strange_results(page: Page) -> None:
    for n in range(50):
        await page.answer({"ref": f"call_{n}", "epoch": 1}, {})
        await page.receive("ack", ref=f"call_{n}")


async def _strange_decisions(page: Page) -> None:
    for _ in range(50):
        await page.send(
            {
                "type": "decision",
                "approval": "a",
                "nonce": "n",
                "sha256": "0" * 64,
                "decision": "deny",
                "visible": True,
            }
        )
        await page.receive("approve_update")


@pytest.mark.parametrize(
    ("flood", "event"),
    [(_strange_results, "frame.refused"), (_strange_decisions, "approval.refused")],
    ids=["results", "decisions"],
)
async def test_what_nobody_asked_for_is_counted_and_not_listed(
    rig: Rig, flood: Callable[[Page], Awaitable[None]], event: str
) -> None:
    page = await rig.page(LIST)
    await flood(page)
    assert len(await rig.records(event)) == 20
    await _expect_count(rig, page, "unknown_call")


async def test_the_same_result_again_and_again_is_counted_and_not_listed(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})
    invoke = await page.receive("invoke")
    for _ in range(51):
        await page.answer(invoke, {})
        await page.receive("ack")
    assert (await rig.outcome(submitted)).call.state.value == "succeeded"
    assert len(await rig.records("call.result_dropped", ref=invoke["ref"])) == 20
    await _expect_count(rig, page, "replay_detected")


async def test_the_same_decision_again_and_again_is_counted_and_not_listed(rig: Rig) -> None:
    page = await rig.page(CLEAR)
    session, _ = await rig.grant()
    await rig.submit(session, "todo.clear", {})
    request = await page.receive("approve_request")
    for _ in range(51):
        await page.decide(request, "deny")
        await page.receive("approve_update")
    assert len(await rig.records("approval.decided")) == 1
    assert len(await rig.records("approval.refused", code="replay_detected")) == 20
    await _expect_count(rig, page, "replay_detected")


async def test_a_flood_of_bad_tickets_is_counted_and_not_listed(rig: Rig) -> None:
    for _ in range(25):
        page = Page(await rig.socket(), "A" * 16, "ann")
        await page.send(hello(page.document, "no such ticket"))
        assert await page.closed() == 4401
    assert len(await rig.records("page.refused", code="unauthenticated", site="todo")) == 20
    rig.clock.advance(60_000)
    await rig.services.refusals.sweep()
    assert await rig.records("access.refusals_counted", further=5, code="unauthenticated")


async def _expect_count(rig: Rig, page: Page, code: str) -> None:
    rig.clock.advance(60_000)
    await rig.services.refusals.sweep()
    assert await rig.records("access.refusals_counted", further=30, peer=page.welcome["page"], code=code)


# -- what no browser sends ---------------------------------------------------------------------------------------


async def _pieces(page: Page, count: int) -> None:
    await page.socket.send([CAPS, *([""] * (count - 1))])


async def test_a_message_may_come_in_pieces_and_not_in_too_many(rig: Rig) -> None:
    page = await rig.page(LIST)
    await _pieces(page, protocol.PIECES - 1)  # the client adds a last one
    assert await page.receive("caps_ack", seq=7)
    await _refused_for(rig, page, lambda: _pieces(page, protocol.PIECES), 1009, "body_too_large")


async def _pings(page: Page, count: int) -> None:
    for n in range(count):
        await page.socket.ping(f"{n}")
    await page.socket.send(CAPS)


async def test_protocol_pings_are_answered_and_a_flood_of_them_is_closed(rig: Rig) -> None:
    page = await rig.page(LIST)
    await _pings(page, protocol.CONTROL_FRAMES)
    assert await page.receive("caps_ack", seq=7)
    async with asyncio.timeout(5):
        await (await page.socket.ping("last"))
    await page.socket.send(CAPS)
    await page.receive("caps_ack", seq=7)
    await _refused_for(rig, page, lambda: _pings(page, protocol.CONTROL_FRAMES + 1), 1008, "rate_limited")


async def test_a_flood_of_unasked_pongs_is_closed(rig: Rig) -> None:
    page = await rig.page(LIST)

    async def pongs() -> None:
        for _ in range(protocol.CONTROL_FRAMES + 1):
            await page.socket.pong()

    await _refused_for(rig, page, pongs, 1008, "rate_limited")


async def test_control_frames_and_pieces_are_paid_for() -> None:
    async with running(page_frames_per_second=10, page_frames_burst=100) as rig:
        page = await rig.page(LIST)
        await _pings(page, 50)
        await page.receive("caps_ack", seq=7)
        await _pings(page, 50)
        assert await page.receive("error", code="rate_limited")


async def test_text_that_is_not_utf_8_closes_the_socket(rig: Rig) -> None:
    page = await rig.page(LIST)
    await _refused_for(rig, page, lambda: page.socket.send(b"\xff\xfe", text=True), 1007, "bad_request")


async def _refused_for(rig: Rig, page: Page, does: Callable[[], Awaitable[Any]], close_code: int, code: str) -> None:
    other = await rig.page(LIST, user="other")
    with suppress(ConnectionClosed):
        await does()
    assert await page.closed() == close_code
    assert await rig.records("frame.refused", peer=page.welcome["page"], code=code, closed_with=close_code)
    assert (await other.declare(LIST, seq=9))["accepted"]


# -- too many sockets --------------------------------------------------------------------------------------------


async def test_sockets_are_counted_before_they_are_taken() -> None:
    async with running(page_connections=2) as rig:
        first = await rig.page(LIST)
        await rig.page(LIST, user="bob")
        with pytest.raises(InvalidStatus) as refused:
            await rig.socket()
        assert refused.value.response.status_code == 503
        assert refused.value.response.headers["Retry-After"]
        assert await rig.records("access.refused", door="page", code="busy")
        await first.socket.close()
        while rig.services.live.world.pages[first.welcome["page"]].is_connected:  # noqa: ASYNC110 - no event for it
            await asyncio.sleep(0.005)
        assert (await rig.page(LIST, user="cleo")).welcome


async def test_sockets_that_have_not_said_hello_are_few() -> None:
    async with running(page_arrivals=3) as rig:
        # Those who were welcomed do not count.
        await rig.page(LIST)
        silent = [await rig.socket() for _ in range(3)]
        with pytest.raises(InvalidStatus):
            await rig.socket()
        assert await rig.records("access.refused", door="page", code="busy")
        page = Page(silent[0], "A" * 16, "bob")
        await page.send(hello(page.document, await rig.ticket("bob")))
        assert await page.receive("welcome")
        silent.append(await rig.socket())
        for socket in silent:
            await socket.close()


def test_hello_has_three_seconds() -> None:
    assert endpoint.HELLO_SECONDS == 3.0
