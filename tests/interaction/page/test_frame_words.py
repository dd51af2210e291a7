"""What a page says of a mini app's frame: shapes, sizes, whose it is, and how much of it at once."""

from typing import Any

import pytest

from gateway.domain.calls import CallState
from gateway.transports.page_ws.mini_apps import AT_ONCE
from tests.interaction.page.rig import Rig, running
from tests.interaction.page.shown import Shown, shown

pytestmark = pytest.mark.anyio


@pytest.fixture
async def screen(rig: Rig) -> Shown:
    return await shown(rig)


async def drawing(screen: Shown) -> tuple[Any, str]:
    """A call a handler in the frame was handed: how its caller knows it, and its ref."""
    submitted = await screen.rig.submit(screen.session, "notes.draw", {})
    tool = await screen.page.receive("app", op="tool")
    return submitted, tool["ref"]


@pytest.mark.parametrize(
    ("frame", "pointer"),
    [
        ({"type": "app_news", "what": "opened"}, "/instance"),
        ({"type": "app_news", "instance": "i", "what": "eval"}, "/what"),
        ({"type": "app_news", "instance": "i", "what": "event", "event": "close", "data": {}}, "/event"),
        ({"type": "intent", "instance": "i", "what": "left"}, "/what"),
        ({"type": "action", "id": "1", "instance": "i", "action": "todo.add", "input": 1}, "/input"),
    ],
)
async def test_what_has_no_such_shape_is_refused_and_the_socket_lives(
    screen: Shown, frame: dict[str, Any], pointer: str
) -> None:
    await screen.page.send(frame)
    error = await screen.page.receive("error")
    assert (error["code"], pointer in error["message"]) == ("bad_request", True)
    assert await screen.records("frame.refused", peer=screen.page.welcome["page"], pointer=pointer)
    await screen.act("notes.draw", name="after")
    await screen.run({})
    assert (await screen.reply("after"))["ok"]


@pytest.mark.parametrize("what", ["opened", "foregrounded", "refused"])
async def test_what_is_said_of_somebody_else_s_frame_changes_nothing(screen: Shown, what: str) -> None:
    await screen.page.send({"type": "app_news", "instance": "elsewhere", "what": what})
    assert (await screen.page.receive("error"))["code"] == "bad_request"
    assert await screen.records("frame.refused", peer=screen.page.welcome["page"], code="bad_request")


@pytest.mark.parametrize(("size", "state"), [(524_288, CallState.SUCCEEDED), (524_289, CallState.FAILED)])
async def test_a_result_of_a_frame_is_taken_up_to_its_limit(screen: Shown, size: int, state: CallState) -> None:
    submitted, ref = await drawing(screen)
    # `{"d":"…"}` is eight bytes around the text.
    await screen.say("result", ref=ref, ok=True, output={"d": "a" * (size - 8)})
    await screen.page.receive("ack", ref=ref)
    outcome = await screen.rig.outcome(submitted)
    assert outcome.call.state is state
    if state is CallState.FAILED:
        assert "larger than 524288 bytes" in str(outcome.call.message)


async def test_an_integer_the_other_half_would_round_fails_the_call_where_it_stands(screen: Shown) -> None:
    submitted, ref = await drawing(screen)
    text = f'{{"type":"app_news","instance":"{screen.instance}","what":"result","ref":"{ref}","ok":true,"output":{{"n":9007199254740993}}}}'
    await screen.page.socket.send(text)
    await screen.page.receive("ack", ref=ref)
    outcome = await screen.rig.outcome(submitted)
    assert outcome.call.state is CallState.FAILED
    assert "`unsafe_integer` at `/n`" in str(outcome.call.message)


async def test_a_result_for_a_call_it_was_not_handed_is_acknowledged_and_noted(screen: Shown) -> None:
    await screen.say("result", ref="call_made_up", ok=True, output={})
    await screen.page.receive("ack", ref="call_made_up")
    assert (await screen.page.receive("error"))["code"] == "unknown_call"
    assert await screen.records("frame.refused", peer=screen.page.welcome["page"], code="unknown_call")


async def test_so_many_actions_run_at_once_and_no_more() -> None:
    async with running(actions_burst=1_000, open_actions_per_page=1_000) as rig:
        screen = await shown(rig)
        for number in range(AT_ONCE):
            await screen.act("notes.draw", {"n": number}, name=f"r{number}")
            await screen.page.receive("app", op="tool")
        await screen.act("notes.draw", {"n": AT_ONCE}, name="more")
        reply = await screen.reply("more")
        assert (reply["ok"], reply["code"]) == (False, "busy")
        assert await screen.records("frame.refused", peer=screen.page.welcome["page"], code="busy")
