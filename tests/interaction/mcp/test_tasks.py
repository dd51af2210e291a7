"""Calls that wait, as tasks of the Tasks extension."""

import asyncio
from pathlib import Path
from typing import Any

import httpx

from tests.support import todo_page
from tests.support.in_loop import in_loop, until
from tests.support.mcp_gateway import McpGateway, join_page, running_gateway

TASKS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


async def _ask(gateway: McpGateway, client: httpx.AsyncClient, method: str, task: str, **how: Any) -> httpx.Response:
    more: dict[str, Any] = {"inputResponses": {}} if method == "tasks/update" else {}
    return await gateway.modern(client, method, {"taskId": task, **more}, **_declared(how))


def _declared(how: dict[str, Any]) -> dict[str, Any]:
    return {"capabilities": TASKS, **how}


@in_loop
async def test_a_call_that_waits_becomes_a_task_and_ends_as_one(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        page.act = todo_page.act
        task = await gateway.call(client, "todo_add", {"text": "x"}, capabilities=TASKS)
        assert (task["resultType"], task["status"]) == ("task", "working")
        assert "approve" in task["statusMessage"]
        ref = task["taskId"]
        calls = await gateway.services.admin.calls(limit=1)
        assert (calls[0].ref, calls[0].handed_out) == (ref, True)
        working = (await _ask(gateway, client, "tasks/get", ref)).json()["result"]
        assert (working["resultType"], working["status"], "result" in working) == ("complete", "working", False)
        await page.decided(approve=True)
        await until(lambda: _is(gateway, client, ref, "completed"))
        done = (await _ask(gateway, client, "tasks/get", ref)).json()["result"]
        assert done["result"]["structuredContent"]["result"] == {"count": 1}
        assert done["result"]["isError"] is False


async def _is(gateway: McpGateway, client: httpx.AsyncClient, ref: str, status: str) -> bool:
    return (await _ask(gateway, client, "tasks/get", ref)).json()["result"]["status"] == status


@in_loop
async def test_a_denied_task_is_completed_with_an_error_and_a_cancelled_one_is_cancelled(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        first = (await gateway.call(client, "todo_add", {"text": "x"}, capabilities=TASKS))["taskId"]
        await page.decided(approve=False)
        await until(lambda: _is(gateway, client, first, "completed"))
        denied = (await _ask(gateway, client, "tasks/get", first)).json()["result"]["result"]
        assert (denied["isError"], denied["structuredContent"]["code"]) == (True, "denied")
        second = (await gateway.call(client, "todo_add", {"text": "y"}, capabilities=TASKS))["taskId"]
        ack = (await _ask(gateway, client, "tasks/cancel", second)).json()["result"]
        assert set(ack) == {"resultType", "_meta"}
        assert await _is(gateway, client, second, "cancelled")
        assert (await _ask(gateway, client, "tasks/update", second)).status_code == 200


@in_loop
async def test_a_client_that_leaves_a_task_does_not_orphan_it(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        page.act = todo_page.act
        ref = (await gateway.call(client, "todo_add", {"text": "x"}, capabilities=TASKS))["taskId"]
        await client.aclose()
        await asyncio.sleep(0.1)
        await page.decided(approve=True)
        call, _ = await gateway.services.admin.call(ref)
        assert call.state.value in ("dispatched", "succeeded")


@in_loop
async def test_tasks_are_guarded(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        await join_page(gateway.services, todo_page.ADD)
        _, other = await gateway.add_session(user="bob", agent="bob")
        ref = (await gateway.call(client, "todo_add", {"text": "x"}, capabilities=TASKS))["taskId"]
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            undeclared = await _ask(gateway, client, method, ref, capabilities={})
            assert (undeclared.status_code, undeclared.json()["error"]["code"]) == (400, -32021)
            mismatch = await _ask(gateway, client, method, ref, headers={"mcp-name": "call_other"})
            assert (mismatch.status_code, mismatch.json()["error"]["code"]) == (400, -32020)
            foreign = await _ask(gateway, client, method, ref, token=other)
            unknown = await _ask(gateway, client, method, "call_unknown")
            assert foreign.json()["error"]["code"] == unknown.json()["error"]["code"] == -32602
        refused = await gateway.records("access.refused")
        assert [r["code"] for r in refused].count("unknown_call") == 6
