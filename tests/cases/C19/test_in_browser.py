"""C19: waiting for a person is not running, and a late yes runs nothing.

Differs from the case: where the agent left, the dialog is greyed and takes no answer until the agent is back; after
an expiry it is closed, so there is no button left to say "expired" (a word on the screen says it). An answer that
was on its way at that moment is refused by the gateway: the page's door is tested for that (interaction tests).
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.house import Agent, Visit, Visitor, until
from tests.support.mcp_gateway import McpGateway

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
WINDOW_MS = CASE["approval_window_ms"]

SEND = f"""{{
  id: 'lab.send', title: 'Send', description: 'Sends.', effect: 'write', timeoutMs: {CASE["deadline_ms"]},
  inputSchema: {{ type: 'object' }},
  handler: (input) => {{ (window.ran ??= []).push(input.n); return {{ sent: input.n }}; }},
}}"""


async def waiting(visit: Visit, n: int) -> tuple[Visitor, Agent, Any]:
    """A call that waits for the person, its dialog open for answers."""
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(SEND)
    call = visit.begins(send(agent, n))
    await person.may_decide()
    return person, agent, call


async def send(agent: Agent, n: int) -> dict[str, Any]:
    return await agent.calls("gateway_invoke", capability="lab.send", arguments={"n": n})


async def ran(person: Visitor) -> list[int]:
    """What the page did."""
    return await person.page.evaluate("window.ran ?? []")


def test_the_windows_are_those_of_the_case(house: Any) -> None:
    assert house.running.services.live.world.configuration.limits.approval_ms == WINDOW_MS


async def test_w1_the_time_to_run_begins_with_the_approval(visit: Visit) -> None:
    person, _, call = await waiting(visit, 1)
    visit.house.clock.leap(CASE["W1"]["approve_at_ms"])
    await person.presses("Approve")
    assert (await call)["status"] == "succeeded"
    # The test hears of a frame a moment after the page does.
    await until(lambda: person.received("invoke"))
    (invoke,) = person.received("invoke")
    assert CASE["deadline_ms"] - 1_000 < invoke["deadline"] <= CASE["deadline_ms"]
    assert await ran(person) == [1]


async def test_w2_silence_is_a_no_and_not_a_denial(visit: Visit) -> None:
    person, agent, call = await waiting(visit, 2)
    visit.house.clock.leap(WINDOW_MS)
    answer = await call
    assert (answer["is_error"], answer["code"], answer["retryable"]) == (True, "approval_expired", True)
    await person.dialog_is_gone()
    await person.waits_for("StaticText", "Expired: Send")
    assert await ran(person) == []
    assert not await visit.house.records("approval.decided", ref=answer["ref"])
    # It may be asked again, and is then decided on its own.
    again = visit.begins(send(agent, 2))
    await person.presses("Approve")
    assert (await again)["status"] == "succeeded"
    assert await ran(person) == [2]


async def test_w3_an_agent_that_cancels_takes_its_question_back(visit: Visit) -> None:
    person, agent, call = await waiting(visit, 3)
    ref = (await person.asked())["ref"]
    cancelled = await agent.calls("gateway_call_cancel", ref=ref)
    assert cancelled["status"] == "cancelled"
    assert (await call)["status"] == "cancelled"
    await person.dialog_is_gone()
    assert await person.decisions() == []
    assert await ran(person) == []


async def test_w3_an_agent_that_hangs_up_gets_nothing_done_until_it_is_back(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(SEND)
    wire = McpGateway(
        gateway=visit.house.running,
        endpoint=visit.house.running.mcp,
        url=f"{visit.house.gateway_url}/mcp",
        session=None,  # type: ignore[arg-type] - only its token is used
        token=agent.token,
    )
    wanted = {"name": "gateway_invoke", "arguments": {"capability": "lab.send", "arguments": {"n": 4}}}
    message, headers = wire.modern_parts("tools/call", wanted)
    async with httpx.AsyncClient(timeout=60) as client:
        line = visit.begins(client.post(wire.url, json=message, headers=headers))
        await person.may_decide()
        line.cancel()
        await asyncio.gather(line, return_exceptions=True)
    await person.waits_for("StaticText", "The agent left")
    button = await person.waits_for("button", "Approve")
    await person.page.mouse.click(*await person.middle_of(button))
    assert await person.decisions() == []
    assert await ran(person) == []

    again = visit.begins(send(agent, 4))
    await person.waits_until_gone("StaticText", "The agent left")
    await person.presses("Approve")
    answer = await again
    assert (answer["status"], answer["replayed"]) == ("succeeded", True)
    assert await ran(person) == [4]
    assert len(person.received("approve_request")) == 1


async def test_w4_a_click_at_the_very_end_has_exactly_one_outcome(visit: Visit) -> None:
    person, _, call = await waiting(visit, 5)
    visit.house.clock.leap(CASE["W4"]["approve_at_ms"])
    await person.presses("Approve")
    answer = await call
    assert answer["code"] == "approval_expired"
    await person.dialog_is_gone()
    assert await ran(person) == []
    ends = await visit.house.records("call.ended", ref=answer["ref"])
    assert [end["state"] for end in ends] == ["expired"]


async def test_w6_a_restart_keeps_the_question_and_answers_it_for_nobody(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(SEND)

    async def ask(who: Agent) -> dict[str, Any]:
        return await who.calls("gateway_invoke", capability="lab.send", arguments={"n": 6}, call_id="call-0006")

    call = visit.begins(ask(agent))
    await person.may_decide()
    await visit.house.stop_gateway()
    await asyncio.gather(call, return_exceptions=True)
    visit.house.clock.leap(CASE["W6"]["restart_at_ms"])
    await visit.house.start_gateway()
    await until(lambda: len(person.received("approve_request")) == 2)
    first, second = (json.loads(frame["payload"]) for frame in person.received("approve_request"))
    assert first == second
    assert await person.decisions() == []
    assert await ran(person) == []

    back = await visit.connects(agent.token, agent.session)
    again = visit.begins(ask(back))
    await until(lambda: visit.house.records("call.replayed", ref=first["ref"]))
    await person.presses("Approve")
    answer = await again
    assert (answer["status"], answer["ref"], answer["replayed"]) == ("succeeded", first["ref"], True)
    assert await ran(person) == [6]
