"""Calls over `lineup.v1`: accepted at once, told on the stream, once each, in order."""

from typing import Any

import pytest

from tests.interaction.lineup.client import Agent
from tests.interaction.page.rig import LIST, Rig

pytestmark = pytest.mark.anyio


async def an_agent(rig: Rig, **changes: Any) -> Agent:
    session, token = await rig.grant(**changes)
    return Agent(http=rig.http, session=session, token=token)


async def test_a_tool_call_is_accepted_started_and_ended_once(rig: Rig) -> None:
    page, agent = await rig.page(LIST), await an_agent(rig)
    async with agent.stream() as stream:
        assert (await stream.receive("client.inventory")).payload["revision"] == "catalog-1"
        answer = await agent.tool("todo.list", {}, call_id="list-0001")
        assert answer.status_code == 202
        invoke = await page.receive("invoke")
        await page.answer(invoke, {"entries": []})
        receipt = await stream.receive("tool.receipt")
        assert receipt.payload == {
            "call_id": "list-0001",
            "app_scope": None,
            "status": "accepted",
            "seq": 1,
            "at": rig.clock.now(),
        }
        result = await stream.receive("tool.result")
        assert result.payload == {
            "call_id": "list-0001",
            "app_scope": None,
            "status": "completed",
            "result": {"entries": []},
        }
