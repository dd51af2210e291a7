"""Somebody sets the machine's clock, by hours: nothing that ended begins again, and nothing stops ending."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from gateway.domain.calls import CallState
from gateway.domain.errors import GatewayError
from gateway.runtime.identity import TicketRequest
from gateway.runtime.joining import Hello
from gateway.runtime.steady_clock import SteadyClock
from gateway.testing import FakeClock
from tests.unit.runtime.rig import ADD, LIST, MILK, ORIGIN, Connection, Document, Rig, running

pytestmark = pytest.mark.anyio

HOURS = 5 * 3_600_000


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


async def refusal_of(asking: object) -> str:
    with pytest.raises(GatewayError) as refusal:
        await asking  # type: ignore[misc] - whatever the test asks
    return refusal.value.code.wire


async def join(rig: Rig, ticket: str) -> None:
    """Let a document come with this ticket."""
    hello = Hello(
        site="todo",
        document="document-1234567",
        ticket=ticket,
        resume=None,
        seen=frozenset(),
        url=f"{ORIGIN}/list",
        title="List",
        visible=True,
        automated=False,
        origin=ORIGIN,
    )
    await rig.services.pages.join(hello, Connection())


async def asked(rig: Rig) -> tuple[Document, str]:
    """A page with an open question, and its call."""
    page = await rig.page(ADD)
    outcome, _ = await rig.submit(await rig.grant(), "todo.add", MILK)
    assert outcome.call.state is CallState.AWAITING_APPROVAL
    return page, outcome.call.ref


async def test_time_goes_on_from_the_latest_instant() -> None:
    clock = FakeClock()
    steady, start = SteadyClock(clock), clock.now()
    clock.jump(HOURS)
    assert steady.now() == start + HOURS
    with capture_logs() as lines:
        clock.jump(-2 * HOURS)
        assert steady.now() == start + HOURS
        clock.advance(1_000)
        assert steady.now() == start + HOURS + 1_000
    assert [(line["event"], line["behind_ms"]) for line in lines] == [("clock_set_back", 2 * HOURS)]
    # Once the wall has caught up, it leads again.
    clock.jump(3 * HOURS)
    assert steady.now() == clock.now()
    assert steady.behind_ms == 0


async def test_an_expired_ticket_opens_nothing_after_the_clock_was_set_back(rig: Rig) -> None:
    ticket = await rig.ticket("ann", "todo")
    rig.clock.advance(120_001)
    rig.clock.jump(-HOURS)
    secret = (await rig.services.admin.add_key("todo", capabilities=["todo.*"], by="test")).secret
    with pytest.raises(GatewayError):
        await join(rig, ticket)
    # One made now is as good as ever.
    key = await rig.services.identity.site_key(secret)
    fresh, _ = await rig.services.identity.mint_ticket(key, TicketRequest(user="ann", origin=ORIGIN))
    await join(rig, fresh)


async def test_an_expired_session_stays_out(rig: Rig) -> None:
    grant = await rig.services.admin.add_session(
        "alice", user="ann", sites=["todo"], scope=["todo.*"], days=1, by="test"
    )
    await rig.services.identity.agent(grant.token)
    rig.clock.advance(86_400_001)
    assert await refusal_of(rig.services.identity.agent(grant.token)) == "session_expired"
    rig.clock.jump(-HOURS)
    assert await refusal_of(rig.services.identity.agent(grant.token)) == "session_expired"


async def test_an_expired_question_cannot_be_answered_after_the_clock_was_set_back(rig: Rig) -> None:
    page, ref = await asked(rig)
    rig.clock.advance(120_001)
    rig.clock.jump(-HOURS)
    await page.decide()
    assert (await rig.call(ref)).state is CallState.EXPIRED
    assert page.invoked == []


async def test_a_question_ends_in_time_though_the_clock_was_set_back_meanwhile(rig: Rig) -> None:
    _, ref = await asked(rig)
    sweeping = asyncio.create_task(rig.sweeper.run())
    await rig.settle()
    rig.clock.jump(-HOURS)
    for _ in range(120):
        assert (await rig.call(ref)).state is CallState.AWAITING_APPROVAL
        rig.clock.advance(1_000)
        await rig.settle()
    assert (await rig.call(ref)).state is CallState.EXPIRED
    sweeping.cancel()


async def test_a_clock_set_forward_ends_what_is_over_by_then_once_and_lets_the_sweeper_rest(rig: Rig) -> None:
    page, ref = await asked(rig)
    sweeping = asyncio.create_task(rig.sweeper.run())
    await rig.settle()
    rig.clock.jump(HOURS)
    await rig.settle()
    assert (await rig.call(ref)).state is CallState.EXPIRED
    assert rig.clock.sleepers == 1
    rig.clock.jump(-HOURS)
    await rig.settle()
    # It sleeps: nothing runs again until time passes.
    assert rig.clock.sleepers == 1
    assert (await rig.call(ref)).state is CallState.EXPIRED
    await page.decide()
    assert page.invoked == []
    sweeping.cancel()


async def test_limits_are_measured_by_a_clock_nobody_sets() -> None:
    async with running(calls_per_minute=60, calls_burst=1) as rig:
        await rig.page(LIST)
        session = await rig.grant()
        await rig.submit(session, "todo.list", {})
        for jump in (HOURS, -2 * HOURS):
            rig.clock.jump(jump)
            assert await refusal_of(rig.submit(session, "todo.list", {"n": jump})) == "rate_limited"
        rig.clock.advance(1_000)
        await rig.submit(session, "todo.list", {"n": 0})
