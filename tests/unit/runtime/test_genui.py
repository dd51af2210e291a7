"""`ui` in what the handler of a mini app's frame returned (rules I1); handlers in Python are seen through a real worker."""

import json
from collections.abc import AsyncGenerator

import pytest

from gateway.runtime.genui import parted
from gateway.runtime.settlement import Answer
from tests.unit.runtime.focus import DRAW, a_screen, focus, install, result, with_focus
from tests.unit.runtime.rig import Rig, running

pytestmark = pytest.mark.anyio

CARD = {"type": "chart", "props": {"n": "1"}}


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running(**with_focus()) as made:
        install(made, focus(DRAW))
        yield made


async def test_a_frames_handler_may_say_how_its_answer_looks(rig: Rig) -> None:
    screen, session = await a_screen(rig), await rig.grant(scope=["focus.*"])
    outcome, _ = await rig.submit(session, "focus.draw", {})
    await screen.open()
    await screen.answer(outcome.call.ref, json.dumps({"ok": True, "ui": CARD}))
    assert await result(rig, outcome.call.ref) == '{"ok":true}'
    shown = [frame["content"] for frame in screen.page.connection.of("panel")]
    assert shown == [{"type": "chart", "props": {"n": 1}}]


@pytest.mark.parametrize("output", ['{"ok":1}', '{"a":{"ui":1}}', '["ui"]', '"ui"', "null"])
def test_an_answer_without_the_key_is_left_as_it_is(output: str) -> None:
    answer = Answer(output=output)
    assert parted(answer) is answer


def test_what_cannot_be_drawn_leaves_a_result_without_it() -> None:
    taken = parted(Answer(output='{"a":1,"ui":1}', evidence="{}"))
    assert taken == Answer(output='{"a":1}', evidence="{}", drops_ui=True)
