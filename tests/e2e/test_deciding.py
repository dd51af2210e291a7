"""The main job in a real browser: a person approves or denies, and exactly that happens."""

import asyncio
from typing import Any

import pytest

from tests.e2e.house import Visit

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]


async def test_what_is_approved_happens_once_and_comes_back_with_evidence(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    call = visit.begins(agent.calls("todo_add", text="Water the plants"))
    shown = await person.dialog_text()
    assert "Water the plants" in shown
    assert "Alice's agent" in shown
    assert visit.house.site_url in shown
    assert "Water the plants" not in await person.rows()
    await person.presses("Approve")
    answer = await call
    assert answer["status"] == "succeeded"
    assert answer["evidence"]["after"]["total"] == answer["evidence"]["before"]["total"] + 1
    assert (await person.rows()).count("Water the plants") == 1
    assert len(person.received("invoke")) == 1
    await person.dialog_is_gone()


async def test_what_is_denied_leaves_the_page_alone_and_is_not_asked_again(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    before = await person.rows()
    call = visit.begins(agent.calls("todo_clear_completed"))
    await person.presses("Deny")
    answer = await call
    assert (answer["is_error"], answer["code"]) == (True, "denied")
    again = await agent.calls("todo_clear_completed")
    assert (again["is_error"], again["code"]) == (True, "denied")
    assert len(person.received("approve_request")) == 1
    assert not person.received("invoke")
    assert await person.rows() == before


async def test_two_questions_wait_in_a_queue_and_never_swap_answers(visit: Visit) -> None:
    person, alice, bob = await visit.opens(), await visit.agent(), await visit.agent("bob")
    first = visit.begins(alice.calls("todo_add", text="from Alice"))
    await person.asked(1)
    second = visit.begins(bob.calls("todo_add", text="from Bob"))
    await person.asked(2)
    await person.waits_for("StaticText", "1 of 2")
    assert "from Alice" in await person.dialog_text()
    # The second is decided first: put aside the first, then deny what is shown.
    await person.presses("Decide later")
    await person.waits_for("StaticText", "from Bob")
    await person.presses("Deny")
    assert (await second)["code"] == "denied"
    assert not first.done()
    await person.dialog_is_gone()
    await person.presses("Ostiary")
    await person.presses("Review")
    assert "from Alice" in await person.dialog_text()
    await person.presses("Approve")
    assert (await first)["status"] == "succeeded"
    rows = await person.rows()
    assert ("from Alice" in rows, "from Bob" in rows) == (True, False)


async def test_three_at_once_are_answered_in_the_order_they_came(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    texts = ["one", "two", "three"]
    calls: list[asyncio.Task[dict[str, Any]]] = []
    for count, text in enumerate(texts, 1):
        calls.append(visit.begins(agent.calls("todo_add", text=text)))
        await person.asked(count)
    for text, decision in zip(texts, ["Approve", "Deny", "Approve"], strict=True):
        await person.waits_for("StaticText", text)
        await person.presses(decision)
    answers = await asyncio.gather(*calls)
    assert [answer["status"] for answer in answers] == ["succeeded", "denied", "succeeded"]
    assert (await person.rows())[-2:] == ["one", "three"]
