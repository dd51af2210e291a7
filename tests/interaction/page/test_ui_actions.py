"""What a mini app's frame asks for, over the socket its page really has."""

import pytest

from gateway.domain.calls import CallState
from tests.interaction.page.rig import ADD, LIST, Rig, running
from tests.interaction.page.shown import Shown, shown

pytestmark = pytest.mark.anyio


@pytest.fixture
async def screen(rig: Rig) -> Shown:
    return await shown(rig)


async def test_a_frame_hears_how_far_its_action_is_and_what_it_came_to(screen: Shown) -> None:
    await screen.act("notes.draw", {"x": 1})
    ref = await screen.run({"drawn": True})
    assert await screen.reply() == {"type": "action_reply", "id": "r1", "ok": True, "output": {"drawn": True}}
    first = await screen.page.receive("receipt", id="r1")
    assert first == {"type": "receipt", "id": "r1", "status": "accepted", "seq": 1}
    assert await screen.records("call.admitted", ref=ref, user="ann", instance=screen.instance)


async def test_the_page_asks_the_person_and_names_the_app(screen: Shown) -> None:
    await screen.act("notes.save")
    request = await screen.page.receive("approve_request")
    assert '"agent":"","app":"Notes"' in request["payload"]
    await screen.page.decide(request, "deny")
    reply = await screen.reply()
    assert (reply["ok"], reply["code"]) == (False, "denied")


async def test_a_start_is_told_step_by_step_and_an_operation_follows(screen: Shown) -> None:
    await screen.act("notes.start", {"minutes": 1})
    await screen.page.decide(await screen.page.receive("approve_request"), "approve")
    asked = await screen.page.receive("app", op="foreground")
    assert asked["agent"] == "Notes"
    await screen.say("foregrounded")
    told = [await screen.page.receive("receipt", id="r1", seq=seq) for seq in (1, 2, 3)]
    assert [receipt["status"] for receipt in told] == ["accepted", "starting", "started"]
    screen.rig.clock.advance(60_000)
    await screen.rig.sweep()
    assert (await screen.reply())["output"] == {"status": "completed"}


async def test_the_same_frame_sent_twice_is_one_call(screen: Shown) -> None:
    await screen.act("notes.draw", {"x": 1})
    await screen.act("notes.draw", {"x": 1})
    ref = await screen.run({"n": 1})
    assert [(await screen.reply())["output"] for _ in range(2)] == [{"n": 1}, {"n": 1}]
    await screen.act("notes.draw", {"x": 1})
    assert (await screen.reply())["output"] == {"n": 1}
    assert not screen.page.has("app")
    assert len(await screen.records("call.admitted", user="ann", instance=screen.instance)) == 1
    assert await screen.records("call.replayed", ref=ref)


async def test_a_page_that_was_cut_off_asks_again_and_is_answered(rig: Rig) -> None:
    screen = await shown(rig, document="A" * 16)
    await screen.act("notes.save", {"x": 1})
    request = await screen.page.receive("approve_request")
    resume = screen.page.welcome["resume"]
    await screen.page.close()
    await rig.services.spine.drain()
    [call] = await rig.store.run(lambda tx: tx.calls.open_of_instance(screen.instance))
    assert call.is_orphaned
    screen.page = await rig.page(document="A" * 16, resume=resume, workspace=True)
    await screen.page.declare()
    await screen.act("notes.save", {"x": 1})
    assert (await screen.page.receive("approve_update"))["state"] == "open"
    await screen.page.decide(request, "approve")
    await screen.run({"saved": 1})
    assert (await screen.reply())["output"] == {"saved": 1}
    assert (await rig.call(call.ref)).state is CallState.SUCCEEDED


async def test_a_capability_of_the_page_is_run_by_the_page(screen: Shown) -> None:
    await screen.page.declare(LIST)
    await screen.act("todo.list")
    await screen.page.answer(await screen.page.receive("invoke"), ["milk"])
    assert (await screen.reply())["output"] == ["milk"]


async def test_a_flood_of_frames_is_refused_and_counted() -> None:
    async with running(actions_burst=1) as rig:
        screen = await shown(rig)
        await screen.page.declare(ADD)
        for number in range(40):
            await screen.act("notes.draw", {}, f"r{number}")
        codes = [(await screen.reply(f"r{number}"))["code"] for number in range(1, 40)]
        assert {*codes} <= {"rate_limited", "busy"}
        assert codes.count("rate_limited") >= 20
        assert len(await screen.records("call.refused", user="ann", code="rate_limited")) == 20
