"""C19 Waiting for a person, over MCP. Times are shortened; a hang-up orphans (tests/interaction/mcp/test_leaving.py)."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.settings import Limits
from gateway.transports.agents_mcp import Patience
from tests.interaction.mcp.test_leaving import add_call, begin
from tests.support import todo_page
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import McpGateway, join_page, messages_of, running_gateway

PATIENT = Patience(without=10, with_progress=10, between_progress=0.3, between_pings=0.3)
QUICK_ADD = replace(todo_page.ADD, timeout_ms=300)


def _limits(approval_ms: int) -> Limits:
    return Limits(approval_ms=approval_ms, calls_per_minute=1000, calls_burst=100)


async def _state(gateway: McpGateway) -> str:
    return (await gateway.services.admin.calls(limit=1))[0].state.value


@in_loop
async def test_w1_the_time_to_execute_begins_with_the_approval(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, patience=PATIENT) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, QUICK_ADD)
        page.act = todo_page.act
        call = asyncio.create_task(gateway.call(client, "todo_add", {"text": "x"}))
        await page.asked()
        await asyncio.sleep(1)
        await page.decided(approve=True)
        assert (await call)["structuredContent"]["result"] == {"count": 1}


@in_loop
async def test_w2_silence_is_an_expiry_and_not_a_denial(tmp_path: Path) -> None:
    async with (
        running_gateway(tmp_path, patience=PATIENT, limits=_limits(500)) as gateway,
        httpx.AsyncClient(timeout=20) as client,
    ):
        page = await join_page(gateway.services, QUICK_ADD)
        page.act = todo_page.act
        told = (await gateway.call(client, "todo_add", {"text": "x"}))["structuredContent"]
        assert (told["status"], told["code"], told["retryable"]) == ("expired", "approval_expired", True)
        assert page.of_type("approve_update")[-1]["state"] == "expired"
        await page.decided(approve=True)  # W3: the click comes after the end
        assert page.of_type("approve_update")[-1]["code"] == "approval_expired"
        assert await _state(gateway) == "expired"
        assert page.of_type("invoke") == []
        page.decide = True
        again = await gateway.call(client, "todo_add", {"text": "x"}, meta={"dev.ostiary/callId": "another-1"})
        assert again["structuredContent"]["status"] == "succeeded"


@in_loop
async def test_w3_a_click_after_the_agent_cancelled_runs_nothing(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, patience=PATIENT) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, QUICK_ADD)
        head = await begin(gateway, client)
        asking = asyncio.create_task(client.post(gateway.url, json=add_call(3), headers=head))
        await page.asked()
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}
        await client.post(gateway.url, json=cancel, headers=head)
        await asking
        await page.decided(approve=True)
        assert await _state(gateway) == "cancelled"
        assert page.of_type("invoke") == []


@pytest.mark.parametrize("delay", [0.45, 0.5, 0.55])
@in_loop
async def test_w4_expiry_and_click_have_one_outcome(tmp_path: Path, delay: float) -> None:
    async with (
        running_gateway(tmp_path, patience=PATIENT, limits=_limits(500)) as gateway,
        httpx.AsyncClient(timeout=20) as client,
    ):
        page = await join_page(gateway.services, todo_page.ADD)
        page.act = todo_page.act
        call = asyncio.create_task(gateway.call(client, "todo_add", {"text": "x"}))
        await page.asked()
        await asyncio.sleep(delay)
        await page.decided(approve=True)
        told = (await call)["structuredContent"]["status"]
        assert told == await _state(gateway)
        ended = [record for record in await gateway.records() if record["event"] == "call.ended"]
        assert len(ended) == 1
        assert len(page.of_type("invoke")) == (told == "succeeded")


@pytest.mark.parametrize("meta", [{}, {"progressToken": "p"}])
@in_loop
async def test_w5_a_waiting_stream_is_never_idle(tmp_path: Path, meta: dict[str, Any]) -> None:
    async with running_gateway(tmp_path, patience=PATIENT) as gateway, httpx.AsyncClient() as client:
        page = await join_page(gateway.services, todo_page.ADD)
        page.act = todo_page.act
        message, head = gateway.modern_parts(
            "tools/call", {"name": "todo_add", "arguments": {"text": "x"}}, meta=meta
        )
        text = ""
        # The read timeout stands for the idle limit of a client or proxy.
        idle = httpx.Timeout(5, read=0.6)
        async with client.stream("POST", gateway.url, json=message, headers=head, timeout=idle) as stream:
            clicking = asyncio.create_task(_click_after(page, 1.5))
            async for part in stream.aiter_text():
                text += part
            await clicking
        assert messages_of(text)[-1]["result"]["structuredContent"]["result"] == {"count": 1}


async def _click_after(page: Any, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await page.decided(approve=True)


@in_loop
async def test_w6_a_restart_approves_nothing(tmp_path: Path) -> None:
    async with httpx.AsyncClient(timeout=20) as client:
        async with running_gateway(tmp_path) as gateway:
            page = await join_page(gateway.services, todo_page.ADD)
            ref = (await gateway.call(client, "todo_add", {"text": "x"}))["structuredContent"]["ref"]
            session, token = gateway.session, gateway.token
        assert page.of_type("invoke") == []
        async with running_gateway(tmp_path) as gateway:
            told = await gateway.call(client, "gateway_call_status", {"ref": ref}, token=token)
            assert told["structuredContent"]["status"] in ("awaiting_approval", "expired", "denied")
            assert session.id != gateway.session.id
