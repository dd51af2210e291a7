"""What belongs to another user is like what does not exist (design §4)."""

import pytest

from tests.interaction.page.rig import LIST, Rig
from tests.interaction.surface.client import invoke, post

pytestmark = pytest.mark.anyio


async def test_the_page_of_another_user_is_like_one_that_is_not_there(rig: Rig) -> None:
    await rig.page(LIST)
    foreign = await rig.page(LIST, user="eve")
    _, token = await rig.grant()
    answers = [
        await post(rig, token, {**invoke("todo.list"), "page": name})
        for name in (foreign.welcome["page"], "page_aaaaaaaaaaaaaaaaaaaaaaaaaa")
    ]
    told = [(answer.status_code, answer.json()["error"]["code"]) for answer in answers]
    assert told == [(503, "page_not_connected")] * 2
    assert len(await rig.records("call.refused", code="page_not_connected")) == 2
    assert not foreign.has("invoke")
