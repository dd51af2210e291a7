"""Forgetting by age and end only; what is forgotten can be replayed by no clock (design §6)."""

from dataclasses import replace
from typing import Any, Final

import pytest

from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.retention import BATCH, UNITS
from gateway.runtime.workspaces import Place
from gateway.testing import FakeClock, MemoryStore
from tests.unit.runtime.focus import a_screen, focus, with_focus
from tests.unit.runtime.rig import ADD, LIST, MILK, Rig, running

pytestmark = pytest.mark.anyio

HOUR: Final = 3_600_000
DAY: Final = 24 * HOUR


async def settle_clock(rig: Rig) -> None:
    """Ten even minutes, after which history may go."""
    for _ in range(3):
        await rig.after(240_000)


async def succeeded(rig: Rig, session: Any, page: Any, **more: Any) -> str:
    outcome, waiter = await rig.submit(session, "todo.list", {}, **more)
    await page.answer(outcome.call.ref, [])
    await rig.services.calls.wait(outcome, waiter, 1.0)
    return outcome.call.ref


async def test_a_named_call_is_kept_for_its_time_and_its_name_with_it(rig: Rig) -> None:
    page, session = await rig.page(LIST), await rig.grant()
    issued_at = rig.clock.now()
    named = await succeeded(rig, session, page, call_id="call-0001", issued_at=issued_at)
    minted = await succeeded(rig, session, page)
    await rig.after(2 * DAY)
    await settle_clock(rig)
    assert [c.ref for c in await rig.services.admin.calls()] == [named], f"{minted} is a day old"
    again, _ = await rig.submit(session, "todo.list", {}, call_id="call-0001")
    assert (again.replayed, again.call.ref) == (True, named)

    await rig.after(5 * DAY)
    await settle_clock(rig)
    assert list(await rig.services.admin.calls()) == []
    assert await rig.store.run(lambda tx: tx.calls.usage()) == (0, 0)
    assert await rig.records("retention.applied") == [
        {"by": "retention", "minted_calls": 1},
        {"by": "retention", "calls": 1},
    ]

    page = await rig.page(LIST, resume=page)
    with pytest.raises(GatewayError) as refused:
        await rig.submit(session, "todo.list", {}, call_id="call-0001", issued_at=issued_at)
    assert refused.value.code is ErrorCode.CALL_TOO_OLD
    assert page.invoked == []


async def test_no_clock_that_is_set_back_makes_a_forgotten_call_young_again() -> None:
    store, clock = MemoryStore(), FakeClock()
    async with running(store, clock) as rig:
        page, session = await rig.page(LIST), await rig.grant()
        issued_at = clock.now()
        await succeeded(rig, session, page, call_id="call-0001", issued_at=issued_at)
        await rig.after(8 * DAY)
        await settle_clock(rig)
        assert list(await rig.services.admin.calls()) == []
    clock.advance(issued_at + 1_000 - clock.now())
    async with running(store, clock) as rig:
        page = await rig.page(LIST)
        with pytest.raises(GatewayError) as refused:
            await rig.submit(session, "todo.list", {}, call_id="call-0001", issued_at=issued_at)
        assert refused.value.code is ErrorCode.CALL_TOO_OLD
        assert page.invoked == []
        assert len(await rig.records("call.refused", code="call_too_old", call_id="call-0001")) == 1


async def test_a_request_from_the_future_is_refused(rig: Rig) -> None:
    """Its stamp would be young again after its call was forgotten."""
    page, session = await rig.page(LIST), await rig.grant()
    with pytest.raises(GatewayError) as refused:
        await rig.submit(session, "todo.list", {}, call_id="call-0001", issued_at=rig.clock.now() + 300_001)
    assert refused.value.code is ErrorCode.CLOCK_SKEW
    assert page.invoked == []
    assert len(await rig.records("call.refused", code="clock_skew")) == 1


async def test_a_clock_that_leaps_for_a_moment_makes_nothing_forgotten(rig: Rig) -> None:
    page, session = await rig.page(LIST), await rig.grant()
    ref = await succeeded(rig, session, page, call_id="call-0001")
    await settle_clock(rig)
    await rig.after(30 * DAY)
    await rig.after(60_000)
    await rig.after(-30 * DAY)
    await settle_clock(rig)
    assert (await rig.call(ref)).state is CallState.SUCCEEDED


async def test_unknown_calls_outlive_every_age_and_keep_no_arguments(rig: Rig) -> None:
    await rig.page(LIST)
    outcome, _ = await rig.submit(await rig.grant(), "todo.list", {"marker": "MARKER-1"})
    await rig.after(30_000)
    assert (await rig.call(outcome.call.ref)).state is CallState.UNKNOWN
    assert await rig.store.run(lambda tx: tx.calls.input_of(outcome.call.ref)) is None
    await rig.after(1_000 * DAY)
    await settle_clock(rig)
    assert (await rig.call(outcome.call.ref)).state is CallState.UNKNOWN
    assert await rig.store.run(lambda tx: tx.calls.usage()) == (1, 0)


async def test_a_full_ledger_refuses_tells_and_takes_calls_again_once_age_made_room() -> None:
    async with running(MemoryStore(ledger_cap=2)) as rig:
        page, session = await rig.page(LIST), await rig.grant()
        first = await succeeded(rig, session, page)
        await succeeded(rig, session, page)
        with pytest.raises(GatewayError) as refused:
            await rig.submit(session, "todo.list", {}, call_id="call-0003")
        assert refused.value.code is ErrorCode.LEDGER_FULL
        assert len(await rig.records("call.refused", code="ledger_full", call_id="call-0003")) == 1
        told, _ = await rig.services.calls.status(session, first)
        assert told.call.state is CallState.SUCCEEDED
        await settle_clock(rig)
        assert await rig.store.run(lambda tx: tx.calls.usage()) == (2, 0), "being full makes nothing older"

        await rig.after(2 * DAY)
        await settle_clock(rig)
        page = await rig.page(LIST, resume=page)
        assert await succeeded(rig, session, page, call_id="call-0003")


async def test_the_cap_of_open_calls_refuses_and_an_end_makes_room() -> None:
    async with running(MemoryStore(open_cap=1)) as rig:
        page, session = await rig.page(ADD), await rig.grant()
        outcome, _ = await rig.submit(session, "todo.add", MILK)
        with pytest.raises(GatewayError) as refused:
            await rig.submit(session, "todo.add", {"title": "bread"}, call_id="call-0002")
        assert refused.value.code is ErrorCode.LEDGER_FULL
        assert len(await rig.records("call.refused", code="ledger_full", call_id="call-0002")) == 1
        await page.decide(approve=False)
        assert (await rig.call(outcome.call.ref)).state is CallState.DENIED
        again, _ = await rig.submit(session, "todo.add", {"title": "bread"}, call_id="call-0002")
        assert again.call.state is CallState.AWAITING_APPROVAL


async def test_one_look_forgets_a_bounded_number_and_a_run_is_told_once() -> None:
    many = BATCH * (UNITS - 1) + 1
    async with running() as rig:
        page, session = await rig.page(LIST), await rig.grant()
        ref = await succeeded(rig, session, page)
        call = await rig.call(ref)
        await rig.store.run(lambda tx: tx.calls.erase_results(2**62, 10))
        tables = vars(rig.store)["_tables"]
        for number in range(many - 1):
            name = f"call_{number:05}"
            tables.calls[name] = replace(call, ref=name, call_id=name)
        await rig.after(2 * DAY)
        await rig.after(240_000)
        await rig.after(240_000)
        await rig.after(240_000)
        assert await rig.store.run(lambda tx: tx.calls.usage()) == (1, 0)
        assert await rig.records("retention.applied") == []
        await rig.after(1_000)
        assert await rig.store.run(lambda tx: tx.calls.usage()) == (0, 0)
        assert await rig.records("retention.applied") == [{"by": "retention", "minted_calls": many}]


async def test_an_administrator_may_have_it_done_now_and_gets_no_younger_ages(rig: Rig) -> None:
    page, session = await rig.page(LIST), await rig.grant()
    await succeeded(rig, session, page)
    assert await rig.services.admin.purge(by="local:ada") == {}
    rig.clock.advance(2 * DAY)
    assert await rig.services.admin.purge(by="local:ada") == {"minted_calls": 1}
    assert await rig.records("retention.applied") == [{"by": "local:ada", "minted_calls": 1}]


async def test_what_ran_of_a_mini_app_is_kept_for_its_time_after_its_end_and_no_longer() -> None:
    async with running(offered=[focus()], **with_focus()) as rig:
        screen, session = await a_screen(rig), await rig.grant(scope=["focus.*"])
        await rig.submit(session, "focus.start", {"minutes": 10})
        await screen.come_to_front()
        [instance] = await rig.store.run(lambda tx: list(tx.instances.all_live()))
        place = Place(page=screen.page.live, instance=instance.id)
        await rig.services.workspaces.keep(place, 0, {"marker": "MARKER-1"})
        await rig.submit(session, "focus.stop", {})

        await rig.after(6 * DAY)
        await settle_clock(rig)
        assert await rig.store.run(lambda tx: tx.app_sessions.find(instance.app_session)) is not None
        await rig.after(2 * DAY)
        await settle_clock(rig)
        assert await rig.store.run(lambda tx: tx.instances.find(instance.id)) is None
        assert await rig.store.run(lambda tx: tx.app_sessions.find(instance.app_session)) is None
        assert await rig.store.run(lambda tx: list(tx.app_sessions.entries(instance.app_session, limit=9))) == []
        assert await rig.store.run(lambda tx: tx.session_data.find(instance.app, instance.app_session)) is None
        assert vars(rig.store)["_tables"].activations == {}
        counts = {name: n for facts in await rig.records("retention.applied") for name, n in facts.items()}
        assert {"activations": 1, "instances": 1, "app_sessions": 1}.items() <= counts.items()


async def test_a_mini_app_that_runs_is_forgotten_at_no_age() -> None:
    async with running(offered=[focus()], **with_focus()) as rig:
        screen, session = await a_screen(rig), await rig.grant(scope=["focus.*"])
        await rig.submit(session, "focus.draw", {})
        await screen.open()
        await rig.services.admin.purge(by="local:ada")
        rig.clock.advance(1_000 * DAY)
        await rig.services.admin.purge(by="local:ada")
        [instance] = await rig.store.run(lambda tx: list(tx.instances.all_live()))
        assert await rig.store.run(lambda tx: tx.app_sessions.find(instance.app_session)) is not None
