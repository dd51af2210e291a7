"""A bad network between page and gateway: whatever it does, an effect happens once and a call has one end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.runtime.requests import Outcome
from tests.interaction.page.document import Document
from tests.interaction.page.rig import ADD, LIST, Page, Rig, running
from tests.support.in_loop import until
from tests.support.toxic_proxy import Deed, ToxicProxy, Way

pytestmark = pytest.mark.anyio

WRITE: dict[str, Any] = {**ADD, "effect": "read", "confirm": "never"}
"""Changes something, and nobody is asked."""
MILK: dict[str, Any] = {"title": "milk"}


@dataclass(frozen=True)
class Scene:
    """A page behind a proxy, and an agent of its user."""

    rig: Rig
    proxy: ToxicProxy
    document: Document
    agent: AgentSession

    async def asked(self, capability: str = "todo.add", arguments: Any = MILK) -> tuple[Outcome, Any]:
        """A call to the page."""
        return await self.rig.submit(self.agent, capability, arguments)

    async def ends(self, submitted: tuple[Outcome, Any]) -> CallState:
        """How it ended."""
        return (await self.rig.outcome(submitted)).call.state

    async def holds(self, *submitted: tuple[Outcome, Any]) -> None:
        """What no network may change, once every deadline is over."""
        rig, refs = self.rig, [outcome.call.ref for outcome, _ in submitted]
        rig.clock.advance(30_000)
        await rig.sweep()
        await rig.services.spine.drain()
        assert set(self.document.effects.values()) <= {1}
        for ref in refs:
            call = await rig.call(ref)
            event = "call.lost" if call.state is CallState.UNKNOWN else "call.ended"
            assert call.state.is_terminal or call.state is CallState.UNKNOWN
            assert len(await rig.records(event, ref=ref)) == 1
            assert len(await rig.records("call.dispatched", ref=ref)) == 1
        assert await rig.store.run(lambda tx: tx.calls.open_calls()) == []
        assert (await rig.services.admin.audit_verify()).is_intact
        assert len(self.document.pages) == 1


@asynccontextmanager
async def scene(**limits: Any) -> AsyncGenerator[Scene]:
    """Open one."""
    async with ToxicProxy() as proxy, running(**limits) as rig:
        proxy.gateway, rig.way_in = rig.port, proxy.port
        document = Document(rig, (WRITE, LIST, {**ADD, "id": "notes.add"}))
        document.begin()
        try:
            async with asyncio.timeout(5):
                await document.is_there.wait()
            yield Scene(rig, proxy, document, (await rig.grant())[0])
        finally:
            await document.close()


async def test_a_cut_after_the_invoke_and_before_its_start_is_told() -> None:
    async with scene() as at:
        at.document.says_started = False
        at.proxy.at(Way.DOWN, "invoke", Deed.CUT_AFTER)
        submitted = await at.asked()
        assert await at.ends(submitted) is CallState.SUCCEEDED
        assert (at.document.visits, at.proxy.cuts) == (2, 1)
        assert at.document.effects[submitted[0].call.ref] == 1
        await at.holds(submitted)


async def test_a_cut_before_the_invoke_is_a_call_that_did_not_run() -> None:
    async with scene() as at:
        at.proxy.at(Way.DOWN, "invoke", Deed.CUT_BEFORE)
        submitted = await at.asked()
        call = (await at.rig.outcome(submitted)).call
        assert call.code is not None
        assert (call.state, call.code.wire) == (CallState.FAILED, "not_delivered")
        assert not at.document.effects
        await at.holds(submitted)


async def test_a_result_that_was_lost_with_its_connection_comes_again_and_counts_once() -> None:
    async with scene() as at:
        at.proxy.at(Way.UP, "result", Deed.CUT_BEFORE)
        submitted = await at.asked()
        assert await at.ends(submitted) is CallState.SUCCEEDED
        await until(lambda: not at.document.owes)
        assert (at.document.visits, at.proxy.count(Way.UP, "result")) == (2, 1)
        await at.holds(submitted)


async def test_an_ack_that_was_lost_with_its_connection_costs_nothing_but_a_repetition() -> None:
    async with scene() as at:
        at.proxy.at(Way.UP, "result", Deed.CUT_AFTER)
        submitted = await at.asked()
        assert await at.ends(submitted) is CallState.SUCCEEDED
        await until(lambda: not at.document.owes)
        assert at.document.visits == 2
        await at.holds(submitted)


async def test_a_cut_while_a_handler_works_and_another_while_the_page_comes_back() -> None:
    async with scene() as at:
        at.document.may_finish.clear()
        submitted = await at.asked()
        await until(lambda: at.document.effects)
        at.proxy.at(Way.DOWN, "welcome", Deed.CUT_BEFORE)
        at.proxy.cut()
        await until(lambda: at.document.visits == 2)
        at.document.may_finish.set()
        assert await at.ends(submitted) is CallState.SUCCEEDED
        await at.holds(submitted)


@pytest.mark.parametrize("way", list(Way))
async def test_a_connection_that_ends_one_way_only_is_over(way: Way) -> None:
    async with scene() as at:
        at.document.may_finish.clear()
        submitted = await at.asked()
        await until(lambda: at.document.effects)
        at.proxy.hang_up(way)
        await until(lambda: at.document.visits == 2)
        at.document.may_finish.set()
        assert await at.ends(submitted) is CallState.SUCCEEDED
        await at.holds(submitted)


async def silence(rig: Rig, page: Page) -> None:
    """Let pings go unanswered until the gateway gives the page up."""
    for _ in range(25):
        if not rig.services.live.world.pages[page.welcome["page"]].is_connected:
            return
        # A second at a time: whoever sleeps is not the only sleeper, and must have lain down again.
        rig.clock.advance(1_000)
        await rig.store.run(lambda tx: None)
    raise AssertionError("the silence is not noticed")


@pytest.mark.parametrize("ways", [tuple(Way), (Way.UP,)], ids=["both ways", "towards the gateway"])
async def test_a_half_open_connection_is_noticed_by_its_silence(ways: tuple[Way, ...]) -> None:
    async with scene(page_ping_ms=5_000) as at:
        assert at.document.page is not None
        at.document.may_finish.clear()
        first = await at.asked()
        await until(lambda: at.document.effects)
        half = at.document.page
        at.proxy.half_open(*ways)
        at.document.may_finish.set()
        await until(lambda: at.document.owes)
        await silence(at.rig, half)
        assert (await at.rig.call(first[0].call.ref)).state is CallState.DISPATCHED
        # Nobody told the page; it notices too, comes back within its ten seconds, and says what was swallowed.
        await at.document.notice_silence()
        assert await at.ends(first) is CallState.SUCCEEDED
        second = await at.asked()
        assert await at.ends(second) is CallState.SUCCEEDED
        await at.holds(first, second)


async def test_what_a_half_open_connection_swallowed_was_not_delivered() -> None:
    async with scene(page_ping_ms=5_000) as at:
        assert at.document.page is not None
        at.proxy.half_open()
        submitted = await at.asked()
        await silence(at.rig, at.document.page)
        await at.document.notice_silence()
        call = (await at.rig.outcome(submitted)).call
        assert call.code is not None
        assert (call.state, call.code.wire) == (CallState.FAILED, "not_delivered")
        assert not at.document.effects
        await at.holds(submitted)


async def test_a_page_that_never_comes_back_leaves_the_outcome_unknown() -> None:
    async with scene(page_ping_ms=5_000) as at:
        assert at.document.page is not None
        at.proxy.half_open()
        submitted = await at.asked()
        await silence(at.rig, at.document.page)
        at.rig.clock.advance(10_000)
        await at.rig.sweep()
        call = (await at.rig.outcome(submitted)).call
        assert call.code is not None
        assert (call.state, call.code.wire) == (CallState.UNKNOWN, "outcome_unknown")
        await at.holds(submitted)


async def test_frames_that_come_three_times_count_once() -> None:
    async with scene() as at:
        for kind in ("result", "decision", "started"):
            at.proxy.at(Way.UP, kind, Deed.REPEAT)
        submitted = await at.asked("notes.add")
        assert await at.ends(submitted) is CallState.SUCCEEDED
        await until(lambda: at.document.frames["ack"] == 3)
        ref = submitted[0].call.ref
        assert len(await at.rig.records("approval.decided", ref=ref)) == 1
        receipts = await at.rig.store.run(lambda tx: tx.calls.receipts_of(ref))
        assert [receipt.status for receipt in receipts] == ["accepted", "started"]
        await at.holds(submitted)


async def test_an_invoke_that_comes_three_times_runs_once() -> None:
    async with scene() as at:
        at.proxy.at(Way.DOWN, "invoke", Deed.REPEAT)
        at.proxy.at(Way.DOWN, "approve_request", Deed.REPEAT)
        submitted = [await at.asked(), await at.asked("notes.add")]
        for one in submitted:
            assert await at.ends(one) is CallState.SUCCEEDED
        await until(lambda: at.document.frames["invoke"] == 6)
        assert list(at.document.effects.values()) == [1, 1]
        await at.holds(*submitted)


async def test_a_large_frame_that_trickles_keeps_nobody_waiting() -> None:
    async with scene() as at:
        at.document.output = "x" * 400_000
        at.proxy.delay, at.proxy.piece = 0.002, 4_000
        slow = await at.asked()
        await until(lambda: at.document.owes)
        session, _ = await at.rig.grant(user="bea")
        # Straight to the gateway, beside the line that is slow.
        at.rig.way_in = None
        quick = await at.rig.page(LIST, user="bea")
        for _ in range(5):
            submitted = await at.rig.submit(session, "todo.list", {}, page=quick.welcome["page"])
            await quick.answer(await quick.receive("invoke"), {})
            assert await at.ends(submitted) is CallState.SUCCEEDED
        assert (await at.rig.call(slow[0].call.ref)).state is CallState.DISPATCHED
        assert await at.ends(slow) is CallState.SUCCEEDED
        await at.holds(slow)
