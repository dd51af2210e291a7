"""Clients that leave, cancel or come back after a restart: what becomes of their calls and streams."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import todo_page
from tests.support.in_loop import in_loop, until
from tests.support.mcp_gateway import McpGateway, Patience, join_page, last_message, messages_of, running_gateway

SLOW = Patience(without=30, with_progress=30)
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"},
    },
}


async def begin(gateway: McpGateway, client: httpx.AsyncClient) -> dict[str, str]:
    """A legacy session: its headers."""
    answer = await client.post(gateway.url, json=INITIALIZE, headers=gateway.post_headers())
    assert answer.status_code == 200
    assert last_message(answer)["result"]["capabilities"]["tools"]["listChanged"] is True
    head = gateway.post_headers(
        **{"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    )
    ready = await client.post(
        gateway.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=head
    )
    assert ready.status_code == 202
    return head


def add_call(request: Any, text: str = "milk") -> dict[str, Any]:
    """A legacy call that needs the person."""
    params = {"name": "todo_add", "arguments": {"text": text}}
    return {"jsonrpc": "2.0", "id": request, "method": "tools/call", "params": params}


async def states(gateway: McpGateway) -> list[str]:
    """Of all calls, oldest first."""
    calls = await gateway.services.admin.calls(limit=50)
    return [call.state.value for call in calls][::-1]


async def is_orphaned(gateway: McpGateway) -> bool:
    """Whether the newest call is."""
    calls = await gateway.services.admin.calls(limit=1)
    return bool(calls) and calls[0].is_orphaned


@pytest.mark.parametrize("era", ["modern", "legacy"])
@in_loop
async def test_a_client_that_leaves_orphans_its_call_and_an_equal_one_takes_it_up(tmp_path: Path, era: str) -> None:
    async with running_gateway(tmp_path, patience=SLOW) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        page.act = todo_page.act
        if era == "modern":
            message, head = gateway.modern_parts("tools/call", {"name": "todo_add", "arguments": {"text": "milk"}})
        else:
            head, message = await begin(gateway, client), add_call(5)

        async def ask() -> httpx.Response:
            return await client.post(gateway.url, json=message, headers=head)

        asking = asyncio.create_task(ask())
        await page.asked()
        asking.cancel()
        await until(lambda: is_orphaned(gateway))
        await page.decided(approve=True)
        assert page.of_type("approve_update")[-1]["code"] == "agent_left"
        assert await states(gateway) == ["awaiting_approval"]

        if era == "legacy":
            message["id"] = 6
        again = asyncio.create_task(ask())
        await until(lambda: _is_armed(gateway))
        await page.decided(approve=True)
        result = last_message(await again)["result"]["structuredContent"]
        assert (result["result"], result["replayed"]) == ({"count": 1}, True)
        assert await states(gateway) == ["succeeded"]
        assert len(page.of_type("invoke")) == 1


async def _is_armed(gateway: McpGateway) -> bool:
    return not await is_orphaned(gateway)


@in_loop
async def test_an_explicit_cancel_of_an_older_client_ends_the_call_at_once(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, patience=SLOW) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        head = await begin(gateway, client)
        asking = asyncio.create_task(client.post(gateway.url, json=add_call("7"), headers=head))
        await page.asked()
        wrong = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "8"}}
        await client.post(gateway.url, json=wrong, headers=head)
        assert await states(gateway) == ["awaiting_approval"]
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "7"}}
        await client.post(gateway.url, json=cancel, headers=head)
        await asking
        await until(lambda: _is(gateway, ["cancelled"]))
        assert page.of_type("approve_update")[-1]["state"] == "withdrawn"


async def _is(gateway: McpGateway, wanted: list[str]) -> bool:
    return await states(gateway) == wanted


@in_loop
async def test_gateway_call_cancel_ends_an_undispatched_call(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        pending = await gateway.call(client, "todo_add", {"text": "x"})
        ended = await gateway.call(client, "gateway_call_cancel", {"ref": pending["structuredContent"]["ref"]})
        assert ended["structuredContent"]["status"] == "cancelled"
        assert page.of_type("approve_update")[-1]["state"] == "withdrawn"


@in_loop
async def test_a_taken_result_is_not_given_to_an_equal_request(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        page.act, page.decide = todo_page.act, True
        one = await gateway.call(client, "todo_add", {"text": "x"})
        await asyncio.sleep(0.5)
        two = await gateway.call(client, "todo_add", {"text": "x"})
        assert one["structuredContent"]["ref"] != two["structuredContent"]["ref"]
        assert len(page.of_type("invoke")) == 2


@in_loop
async def test_an_older_session_survives_a_restart(tmp_path: Path) -> None:
    """The id of a process that is gone is served without a session; the token says who asks."""
    async with httpx.AsyncClient(timeout=20) as client:
        async with running_gateway(tmp_path) as gateway:
            head, port, url = await begin(gateway, client), gateway.port, gateway.url
        async with running_gateway(tmp_path, port=port):
            answer = await client.post(url, json={"jsonrpc": "2.0", "id": 9, "method": "tools/list"}, headers=head)
            names = [tool["name"] for tool in last_message(answer)["result"]["tools"]]
            assert "runtime_echo" in names


@in_loop
async def test_an_ended_session_stays_ended(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, idle_seconds=0.5) as gateway, httpx.AsyncClient(timeout=20) as client:
        deleted = await begin(gateway, client)
        assert (await client.delete(gateway.url, headers=deleted)).status_code == 200
        idle = await begin(gateway, client)
        await asyncio.sleep(1)
        for head in (deleted, idle):
            answer = await client.post(
                gateway.url, json={"jsonrpc": "2.0", "id": 9, "method": "tools/list"}, headers=head
            )
            assert answer.status_code == 404
        unknown = gateway.post_headers(**{"mcp-session-id": "0" * 32, "mcp-protocol-version": "2025-11-25"})
        assert (await client.delete(gateway.url, headers=unknown)).status_code == 404


@in_loop
async def test_a_foreign_session_is_404(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        _, other = await gateway.add_session()
        head = await begin(gateway, client) | {"authorization": f"Bearer {other}"}
        answer = await client.post(
            gateway.url, json={"jsonrpc": "2.0", "id": 9, "method": "tools/list"}, headers=head
        )
        assert answer.status_code == 404


@in_loop
async def test_list_changed_reaches_the_newer_stream_of_its_own_session_only(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        _, stranger = await gateway.add_session(user="bob", agent="bob")
        streams = {
            who: asyncio.create_task(_listen(gateway, client, token))
            for who, token in (("ada", gateway.token), ("bob", stranger))
        }
        await asyncio.sleep(0.3)
        await join_page(gateway.services, todo_page.OVERVIEW)
        await asyncio.sleep(0.3)
        gateway.endpoint.close()
        ada, bob = await streams["ada"], await streams["bob"]
        assert [m.get("method", "result") for m in ada] == [
            "notifications/subscriptions/acknowledged",
            "notifications/tools/list_changed",
            "result",
        ]
        assert [m.get("method", "result") for m in bob] == ["notifications/subscriptions/acknowledged", "result"]


async def _listen(gateway: McpGateway, client: httpx.AsyncClient, token: str) -> list[dict[str, Any]]:
    wanted = {"notifications": {"toolsListChanged": True}}
    answer = await gateway.modern(client, "subscriptions/listen", wanted, token=token, request="s")
    return messages_of(answer.text)


@in_loop
async def test_list_changed_reaches_the_older_stream(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        head = await begin(gateway, client)
        heard: list[str] = []

        async def read() -> None:
            async with client.stream("GET", gateway.url, headers=head) as stream:
                async for line in stream.aiter_lines():
                    heard.extend([json.loads(line[6:])["method"]] if line.startswith("data: {") else [])

        reading = asyncio.create_task(read())
        await asyncio.sleep(0.3)
        await join_page(gateway.services, todo_page.OVERVIEW)
        await until(lambda: heard == ["notifications/tools/list_changed"])
        started = asyncio.get_running_loop().time()
        await gateway.services.identity.revoke_session(gateway.session.id, by="test")
        await asyncio.wait_for(reading, 2)
        assert asyncio.get_running_loop().time() - started < 1


@in_loop
async def test_revocation_ends_listen_streams_and_waits_within_a_second(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, patience=SLOW) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        listening = asyncio.create_task(_listen(gateway, client, gateway.token))
        call = asyncio.create_task(gateway.call(client, "todo_add", {"text": "x"}))
        await page.asked()
        await gateway.services.identity.revoke_session(gateway.session.id, by="test")
        messages = await asyncio.wait_for(listening, 1)
        assert "result" in messages[-1]
        ended = await asyncio.wait_for(call, 1)
        assert ended["structuredContent"].get("code", "session_revoked") == "session_revoked"


@in_loop
async def test_shutdown_answers_what_waits(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, patience=SLOW) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        call = asyncio.create_task(gateway.call(client, "todo_add", {"text": "x"}))
        await page.asked()
        gateway.endpoint.close()
        ended = await asyncio.wait_for(call, 1)
        assert ended["structuredContent"]["status"] == "awaiting_approval"
