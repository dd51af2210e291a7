"""C13: the old socket's goodbye changes nothing for the new one.

Differs from the case: calls in flight end at once (`outcome_unknown`) when another document takes over; when the
same document comes back they go on, and end after ten seconds when it does not (rules J).
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.domain.calls import CallState
from tests.interaction.page.rig import LIST, Page, Rig, running

pytestmark = pytest.mark.anyio

STEPS = json.loads((Path(__file__).parent / "input.json").read_text())
CART = ({**LIST, "id": "cart.add"}, {**LIST, "id": "cart.list"})


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


def test_the_steps_are_those_of_the_case() -> None:
    assert "cart.add and cart.list" in STEPS[0]["do"]


async def settle(rig: Rig, page: Page) -> None:
    """Wait until the gateway has dealt with everything `page` said so far."""
    await page.declare(*CART, seq=50)
    await rig.services.spine.drain()


@pytest.mark.parametrize("leaves", [True, False], ids=["closes", "half open"])
async def test_another_document_takes_over(rig: Rig, leaves: bool) -> None:
    first = await rig.page(*CART)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "cart.add", {})
    invoke = await first.receive("invoke")
    first.socket.transport.pause_reading()  # it has not heard of its successor

    second = await rig.page(*CART, resume=first.welcome["resume"])
    call = (await rig.outcome(submitted)).call
    assert call.code is not None
    assert (call.state, call.code.wire) == (CallState.UNKNOWN, "outcome_unknown")
    assert not second.has("invoke")

    await first.answer(invoke, {"from": "socket 1"})
    if leaves:
        first.socket.transport.resume_reading()
        assert await first.closed() == 4409
    await settle(rig, second)
    listed = {entry.descriptor.id for entry in rig.services.inventories.snapshot(session).entries.values()}
    assert listed == {"cart.add", "cart.list"}
    assert (await rig.call(invoke["ref"])).state is CallState.UNKNOWN

    submitted = await rig.submit(session, "cart.list", {})
    await second.answer(await second.receive("invoke"), {"items": []})
    assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED
    first.socket.transport.abort()


async def test_the_same_document_comes_back_and_nobody_is_told_of_a_change(rig: Rig) -> None:
    first = await rig.page(*CART)
    session, _ = await rig.grant()
    await rig.services.inventories.serve(session)
    told: list[str] = []
    rig.services.changes.subscribe(session, lambda: told.append("changed"))
    submitted = await rig.submit(session, "cart.add", {})
    invoke = await first.receive("invoke")
    first.socket.transport.pause_reading()

    second = await rig.page(*CART, document=first.document, resume=first.welcome["resume"], seen=[invoke["ref"]])
    first.socket.transport.abort()
    await settle(rig, second)
    assert rig.services.live.world.pages[second.welcome["page"]].is_connected
    await second.answer(invoke, {"added": True})
    assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED
    assert told == []


async def test_a_call_whose_document_does_not_come_back_ends_after_ten_seconds(rig: Rig) -> None:
    first = await rig.page(*CART)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "cart.add", {})
    await first.receive("invoke")
    first.socket.transport.abort()
    while rig.services.live.world.pages[first.welcome["page"]].is_connected:
        await rig.store.run(lambda tx: None)
    rig.clock.advance(9_999)
    await rig.sweep()
    assert (await rig.call(submitted[0].call.ref)).state is CallState.DISPATCHED
    rig.clock.advance(1)
    await rig.sweep()
    assert (await rig.outcome(submitted)).call.state is CallState.UNKNOWN
    with pytest.raises(Exception, match="needs its page"):
        await rig.submit(session, "cart.list", {})


async def test_a_document_that_left_and_came_back_by_the_back_button_is_usable_at_once(rig: Rig) -> None:
    page = await rig.page(*CART)
    session, _ = await rig.grant()
    await page.send({"type": "bye", "why": "pagehide"})
    await page.socket.close(4000)
    # The new socket of the same document may come before the end of the old one was noticed.
    again = await rig.page(*CART, document=page.document, resume=page.welcome["resume"])
    assert again.welcome["epoch"] == page.welcome["epoch"]
    submitted = await rig.submit(session, "cart.list", {})
    await again.answer(await again.receive("invoke"), {})
    assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED
