"""A gateway that starts again knows, before anybody can reach it, what it lost (design §13)."""

from pathlib import Path

import httpx

from tests.support import todo_page
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import join_page, running_gateway


@in_loop
async def test_what_ran_when_it_stopped_is_unknown_to_the_first_who_asks(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient() as client:
        page = await join_page(gateway.services, todo_page.OVERVIEW)
        pending = (await gateway.call(client, "todo_overview"))["structuredContent"]
        assert len(page.of_type("invoke")) == 1
        token = gateway.token
    async with running_gateway(tmp_path) as again, httpx.AsyncClient() as client:
        told = await again.call(client, "gateway_call_status", {"ref": pending["ref"]}, token=token)
        assert (told["isError"], told["structuredContent"]["code"]) == (True, "outcome_unknown")
        back = await join_page(again.services, todo_page.OVERVIEW)
        assert back.of_type("invoke") == []
        assert [record["unknown"] for record in await again.records("gateway.started")] == [0, 1]
        assert [record["ref"] for record in await again.records("call.lost")] == [pending["ref"]]
