"""The same document comes back, another one takes over, or it is a copy."""

import pytest

from gateway.domain.calls import CallState
from gateway.runtime.pages import Joined
from tests.interaction.page.rig import LIST, Page, Rig, hello, running

pytestmark = pytest.mark.anyio


async def test_the_same_document_continues_with_its_epoch_and_its_result(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})
    invoke = await page.receive("invoke")
    await page.socket.close()

    again = await rig.page(LIST, document=page.document, resume=page.welcome["resume"], seen=[invoke["ref"]])
    assert (again.welcome["page"], again.welcome["epoch"]) == (page.welcome["page"], page.welcome["epoch"])
    assert again.welcome["resume"] != page.welcome["resume"]
    await again.answer(invoke, {"late": False})
    await again.receive("ack", ref=invoke["ref"])
    assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED


async def test_what_the_same_document_never_saw_was_not_delivered(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})
    await page.receive("invoke")
    await page.socket.close()
    await rig.page(LIST, document=page.document, resume=page.welcome["resume"], seen=[])
    call = (await rig.outcome(submitted)).call
    assert call.code is not None
    assert (call.state, call.code.wire) == (CallState.FAILED, "not_delivered")


async def test_another_document_makes_running_work_unknown_and_is_a_new_epoch(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})
    invoke = await page.receive("invoke")
    fresh = await rig.page(LIST, resume=page.welcome["resume"], seen=[])
    assert fresh.welcome["page"] == page.welcome["page"]
    assert fresh.welcome["epoch"] == page.welcome["epoch"] + 1
    assert (await rig.outcome(submitted)).call.state is CallState.UNKNOWN
    assert await page.closed() == 4409
    # Nothing is sent to the new document that was meant for the old one.
    await fresh.answer(invoke, {"mine": False})
    await fresh.receive("ack", ref=invoke["ref"])
    assert not fresh.has("invoke")
    assert (await rig.call(invoke["ref"])).state is CallState.UNKNOWN


async def test_a_new_document_offers_nothing_until_it_declares(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    assert "todo/todo.list" in rig.services.inventories.snapshot(session).entries
    fresh = await rig.page(resume=page.welcome["resume"])
    assert not rig.services.inventories.snapshot(session).entries
    await fresh.declare(LIST)
    assert "todo/todo.list" in rig.services.inventories.snapshot(session).entries


async def test_a_call_dispatched_right_after_the_join_is_not_taken_for_lost(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    joined = rig.services.live.world.pages[page.welcome["page"]]
    submitted = await rig.submit(session, "todo.list", {})
    invoke = await page.receive("invoke")
    # As `arrived` would find it had the call come between the join and this.
    await rig.services.pages.arrived(Joined(page=joined, resume="", open=frozenset()), frozenset())
    assert (await rig.call(invoke["ref"])).state is CallState.DISPATCHED
    await page.answer(invoke, {})
    assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED


async def test_a_dropped_page_keeps_its_place_for_ten_seconds_and_calls_wait_for_it(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    await _gone(rig, page)
    submitted = await rig.submit(session, "todo.list", {})
    assert submitted[0].call.state is CallState.READY
    rig.clock.advance(9_999)
    await rig.sweep()
    again = await rig.page(LIST, document=page.document, resume=page.welcome["resume"])
    await again.answer(await again.receive("invoke"), {})
    assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED


async def test_a_page_that_stays_away_is_forgotten_with_its_work(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})
    await page.receive("invoke")
    await _gone(rig, page)
    rig.clock.advance(10_000)
    await rig.sweep()
    assert (await rig.outcome(submitted)).call.state is CallState.UNKNOWN
    assert page.welcome["page"] not in rig.services.live.world.pages


async def test_two_tabs_are_two_page_sessions(rig: Rig) -> None:
    first, second = await rig.page(LIST), await rig.page(LIST)
    assert first.welcome["page"] != second.welcome["page"]
    assert first.welcome["epoch"] == second.welcome["epoch"] == 1


async def test_a_used_resume_secret_begins_a_page_session_of_its_own(rig: Rig) -> None:
    page = await rig.page(LIST)
    again = await rig.page(LIST, document=page.document, resume=page.welcome["resume"])
    stale = await rig.page(LIST, resume=page.welcome["resume"])
    assert stale.welcome["page"] != again.welcome["page"]
    assert rig.services.live.world.pages[again.welcome["page"]].is_connected


async def test_a_document_whose_welcome_was_lost_comes_back_as_itself(rig: Rig) -> None:
    page = await rig.page(LIST)
    again, told = page, set[str]()
    for _ in range(3):
        # Each time it asks with the one secret it ever heard.
        again = await rig.page(LIST, document=page.document, resume=page.welcome["resume"])
        assert (again.welcome["page"], again.welcome["epoch"]) == (page.welcome["page"], 1)
        told.add(again.welcome["resume"])
    assert len(told) == 3
    newest = await rig.page(LIST, document=page.document, resume=again.welcome["resume"])
    assert newest.welcome["page"] == page.welcome["page"]
    first = await rig.page(LIST, document=page.document, resume=page.welcome["resume"])
    assert first.welcome["page"] != page.welcome["page"]


async def test_the_number_of_pages_of_one_user_is_bounded() -> None:
    async with running(pages_per_user=2) as rig:
        await rig.page()
        await rig.page()
        refused = Page(await rig.socket(), "A" * 16, "ann")
        await refused.send(hello(refused.document, await rig.ticket()))
        assert (await refused.receive("error"))["code"] == "busy"
        assert await refused.closed() == 1013
        assert await rig.records("page.refused", code="busy")
        # Another user is not concerned.
        assert (await rig.page(user="bea")).welcome


async def _gone(rig: Rig, page: Page) -> None:
    """Close the page's socket and wait until the gateway noticed."""
    await page.socket.close()
    name = page.welcome["page"]
    while rig.services.live.world.pages[name].is_connected:
        await rig.services.spine.store.run(lambda tx: None)
