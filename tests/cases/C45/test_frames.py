"""C45 on the page channel: B6, and results coming back from the page.

Differs from the case: the sizes are those of design §17. A frame ends at 1.25 MiB (16 KiB before `welcome`), a result
at 512 KiB.
"""

import json
import resource
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from gateway.domain.calls import CallState
from gateway.settings import Limits
from tests.interaction.page.rig import LIST, Page, Rig, running

pytestmark = pytest.mark.anyio

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
ONE, MANY = CASE["B6"]
FRAME = 1_310_720


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


def pieces(count: int, each: int) -> Iterator[str]:
    """A message in this many parts; it begins like a frame."""
    yield '{"type":"pong","n":0,"visibility":"hidden"'.ljust(each)
    for _ in range(count - 1):
        yield " " * each


async def says(page: Page, message: str | Iterator[str]) -> None:
    """Send it; the gateway may close before it is all gone."""
    with suppress(ConnectionClosed):
        await page.socket.send(message)


@pytest.mark.parametrize(
    "message",
    [" " * ONE["frame_bytes"], pieces(MANY["fragments"], MANY["each"]), pieces(3_000, 1)],
    ids=["one frame", "many fragments", "a byte a fragment"],
)
async def test_b6_over_the_limit_closes_that_page_only(rig: Rig, message: str | Iterator[str]) -> None:
    page, other = await rig.page(LIST), await rig.page(LIST, user="other")
    await says(page, message)
    assert await page.closed() == 1009
    assert await rig.records("frame.refused", peer=page.welcome["page"], code="body_too_large", closed_with=1009)
    assert (await other.declare(LIST, seq=2))["accepted"]


async def test_b6_before_anybody_signed_in_the_limit_is_smaller(rig: Rig) -> None:
    stranger = Page(await rig.socket(), "A" * 16, "ann")
    await says(stranger, pieces(17, 1_024))
    assert await stranger.closed() == 1009
    assert await rig.records("frame.refused", peer="127.0.0.1", code="body_too_large", closed_with=1009)


async def test_b6_in_fragments_exactly_the_limit_passes(rig: Rig) -> None:
    page = await rig.page(LIST)
    head = '{"type":"pong","n":0,"visibility":"hidden"'
    await page.socket.send(
        [head, *(" " * 10_000 for _ in range(131)), " " * (FRAME - 1_310_000 - len(head) - 1), "}"]
    )
    assert (await page.declare(LIST, seq=2))["accepted"]


async def test_b6_small_pieces_weigh_what_they_hold(rig: Rig) -> None:
    page = await rig.page(LIST)
    before = peak()
    # Not finished, and the 1,024 fragments a frame may have: nothing is dealt with before the last.
    await says(page, pieces(1_025, 1))
    assert await page.closed() == 1009
    assert peak() - before < 5 * FRAME


def peak() -> int:
    """The most this process ever held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1_024)


async def test_a_result_ends_at_its_own_limit_and_the_socket_stays(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    largest = Limits().page_result_bytes
    for size, state, code in ((largest, CallState.SUCCEEDED, None), (largest + 1, CallState.FAILED, "handler_error")):
        submitted = await rig.submit(session, "todo.list", {})
        invoke = await page.receive("invoke")
        await page.answer(invoke, "x" * (size - 2))
        call = (await rig.outcome(submitted)).call
        assert (call.state, call.code and call.code.wire) == (state, code)
        await page.receive("ack", ref=invoke["ref"])


async def test_a_result_in_a_frame_that_is_too_large_ends_at_the_deadline(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})
    invoke = await page.receive("invoke")
    with suppress(ConnectionClosed):
        await page.answer(invoke, "x" * FRAME)
    assert await page.closed() == 1009
    rig.clock.advance(30_000)
    await rig.sweep()
    call = (await rig.outcome(submitted)).call
    assert call.code is not None
    assert (call.state, call.code.wire) == (CallState.UNKNOWN, "deadline_exceeded")
