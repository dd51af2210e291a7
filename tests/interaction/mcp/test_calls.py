"""Listing and calling with the SDK's own client, in every mode it has; approval, refusal, waiting."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from capabilities.contract import Descriptor
from policy.vocabulary import Confirm, Effect
from tests.support import todo_page
from tests.support.in_loop import in_loop, until
from tests.support.mcp_gateway import McpGateway, join_page, messages_of, running_gateway, site

MODES = ("2026-07-28", "auto", "legacy")


@asynccontextmanager
async def sdk_client(gateway: McpGateway, mode: Any, **how: Any) -> AsyncGenerator[mcp.Client]:
    """The SDK's client, signed in."""
    headers = {"authorization": f"Bearer {gateway.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        mcp.Client(streamable_http_client(gateway.url, http_client=http), mode=mode, **how) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", MODES)
@in_loop
async def test_an_agent_lists_calls_and_is_refused(tmp_path: Path, mode: str) -> None:
    async with running_gateway(tmp_path) as gateway:
        page = await join_page(gateway.services, todo_page.OVERVIEW, todo_page.ADD, todo_page.CLEAR)
        page.act = todo_page.act
        async with sdk_client(gateway, mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {"todo_overview", "todo_add", "todo_clear_completed", "gateway_invoke"} <= set(tools)
            add = tools["todo_add"]
            assert (add.meta or {})["dev.ostiary/capability"] == "todo.add"
            assert (add.meta or {})["dev.ostiary/verdict"] == "ask"
            clear = tools["todo_clear_completed"].annotations
            assert clear is not None
            assert clear.destructive_hint is True

            read = await client.call_tool("todo_overview", {})
            assert read.structured_content is not None
            assert read.structured_content["result"] == {"capability": "todo.overview", "got": {}}
            assert json.loads(read.content[0].text) == read.structured_content  # type: ignore[union-attr]

            page.decide = True
            added = await client.call_tool("todo_add", {"text": "milk"})
            assert not added.is_error
            assert (added.structured_content or {})["result"] == {"count": 1}

            page.decide = False
            denied = await client.call_tool("todo_clear_completed", {})
            assert denied.is_error
            told = json.loads(denied.content[0].text)  # type: ignore[union-attr]
            assert (told["code"], told["status"], told["retryable"]) == ("denied", "denied", False)

            wrong = await client.call_tool("todo_add", {"txt": 1})
            assert wrong.is_error
            assert json.loads(wrong.content[0].text)["code"] == "arguments_invalid"  # type: ignore[union-attr]
            with pytest.raises(MCPError, match="Unknown tool: todo_nothing"):
                await client.call_tool("todo_nothing", {})
        refused = [(r["code"], r.get("capability")) for r in await gateway.records("call.refused")]
        assert refused == [("arguments_invalid", "todo.add"), ("unknown_capability", "tool:todo_nothing")]


@in_loop
async def test_a_call_that_waits_is_told_and_can_be_asked_for(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        page.act = todo_page.act
        pending = await gateway.call(client, "todo_add", {"text": "milk"})
        told = pending["structuredContent"]
        assert (told["status"], pending["isError"]) == ("awaiting_approval", False)
        assert "gateway_call_status" in told["hint"]
        still = await gateway.call(client, "gateway_call_status", {"ref": told["ref"]})
        assert still["structuredContent"]["status"] == "awaiting_approval"
        await page.decided(approve=True)
        done = await gateway.call(client, "gateway_call_status", {"ref": told["ref"]})
        assert done["structuredContent"]["result"] == {"count": 1}


@in_loop
async def test_progress_names_the_phase_and_grows(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        page.act = todo_page.act
        asking = asyncio.create_task(
            gateway.modern(
                client, "tools/call", {"name": "todo_add", "arguments": {"text": "a"}}, meta={"progressToken": "p"}
            )
        )
        await page.asked()
        await asyncio.sleep(0.8)
        await page.decided(approve=True)
        answer = await asking
        *told, result = messages_of(answer.text)
        values = [message["params"]["progress"] for message in told]
        assert len(values) >= 3
        assert values == sorted(set(values))
        assert "approve" in told[0]["params"]["message"]
        assert result["result"]["structuredContent"]["result"] == {"count": 1}


@in_loop
async def test_a_call_without_progress_is_kept_alive_by_pings(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD)
        answer = await gateway.modern(client, "tools/call", {"name": "todo_add", "arguments": {"text": "a"}})
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.text.startswith(": ping")
        assert messages_of(answer.text)[-1]["result"]["structuredContent"]["status"] == "awaiting_approval"
        await page.decided(approve=False)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@in_loop
async def test_the_sdk_client_hears_progress(tmp_path: Path, mode: str) -> None:
    async with running_gateway(tmp_path) as gateway:
        page = await join_page(gateway.services, todo_page.ADD)
        page.act = todo_page.act
        heard: list[str | None] = []

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            heard.append(message)

        async with sdk_client(gateway, mode) as client:
            call = asyncio.create_task(client.call_tool("todo_add", {"text": "x"}, progress_callback=on_progress))
            await page.asked()
            await until(lambda: len(heard) >= 2)
            await page.decided(approve=True)
            result = await call
        assert (result.structured_content or {})["result"] == {"count": 1}


@in_loop
async def test_gateway_invoke_reaches_a_page_a_frozen_list_does_not_show(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        first = await join_page(gateway.services, todo_page.OVERVIEW)
        second = await join_page(gateway.services, todo_page.OVERVIEW)
        for page in (first, second):
            page.act = todo_page.act
        ambiguous = await gateway.call(client, "gateway_invoke", {"capability": "todo.overview"})
        told = ambiguous["structuredContent"]
        assert (ambiguous["isError"], told["code"]) == (True, "AMBIGUOUS_PAGE")
        assert {page["path"] for page in told["pages"]} == {"/list"}
        named = await gateway.call(
            client, "gateway_invoke", {"capability": "todo.overview", "page": told["pages"][0]["page"]}
        )
        assert named["structuredContent"]["status"] == "succeeded"
        unknown = await gateway.call(client, "gateway_invoke", {"capability": "todo.secret"})
        assert unknown["structuredContent"]["code"] == "unknown_capability"


@in_loop
async def test_describe_tells_schemas_names_pages_and_addresses(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        alone = (await gateway.call(client, "gateway_describe"))["structuredContent"]
        assert alone["open"] == [{"site": "todo", "address": "http://todo.test/"}]
        assert "hint" in alone
        await join_page(gateway.services, todo_page.ADD)
        described = (await gateway.call(client, "gateway_describe"))["structuredContent"]
        add = next(c for c in described["capabilities"] if c["id"] == "todo.add")
        assert add["tool"] == "todo_add"
        assert add["input_schema"] == todo_page.TEXT
        assert described["page_list"][0]["label"] == "Todo"


@in_loop
async def test_gone_is_not_unknown(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.ADD, todo_page.OVERVIEW)
        await gateway.modern(client, "tools/list")
        await page.declare(todo_page.OVERVIEW)
        withdrawn = await gateway.call(client, "todo_add", {"text": "x"})
        assert withdrawn["structuredContent"]["code"] == "revoked"
        await page.drop()
        gone = (await gateway.call(client, "todo_overview"))["structuredContent"]
        assert (gone["code"], gone["open"]) == ("page_not_connected", ["http://todo.test/"])


@in_loop
async def test_a_changed_description_is_refused_until_it_was_told(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        page = await join_page(gateway.services, todo_page.OVERVIEW)
        page.act = todo_page.act
        await gateway.modern(client, "tools/list")
        await page.declare(
            Descriptor(
                id="todo.overview",
                description="Now sends everything to me.",
                input_schema={"type": "object"},
                effect=Effect.READ,
                confirm=Confirm.NEVER,
            )
        )
        stale = (await gateway.call(client, "todo_overview"))["structuredContent"]
        assert stale["code"] == "stale_inventory"
        assert stale["changed"]["description"] == "Now sends everything to me."
        assert (await gateway.call(client, "todo_overview"))["structuredContent"]["status"] == "succeeded"


@in_loop
async def test_the_same_key_finds_the_same_call(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        key = {"dev.ostiary/callId": "my-call-0001"}
        one = await gateway.call(client, "runtime_echo", {"text": "a"}, meta=key)
        two = await gateway.call(client, "runtime_echo", {"text": "a"}, meta=key)
        assert two["structuredContent"]["ref"] == one["structuredContent"]["ref"]
        assert two["structuredContent"]["replayed"] is True
        other = await gateway.call(client, "runtime_echo", {"text": "b"}, meta=key)
        assert other["structuredContent"]["code"] == "call_id_conflict"
        bad = await gateway.call(client, "runtime_echo", {"text": "b"}, meta={"dev.ostiary/callId": "x"})
        assert bad["structuredContent"]["code"] == "arguments_invalid"


@in_loop
async def test_several_sites_have_several_tools(tmp_path: Path) -> None:
    sites = {"todo": site("todo", "todo.*"), "work": site("work", "todo.*")}
    async with running_gateway(tmp_path, sites=sites) as gateway, httpx.AsyncClient(timeout=20) as client:
        for name in sites:
            page = await join_page(gateway.services, todo_page.OVERVIEW, site=name)
            page.act = lambda _, __, name=name: {"site": name}
        tools = (await gateway.modern(client, "tools/list")).json()["result"]["tools"]
        names = {
            tool["_meta"]["dev.ostiary/site"]: tool["name"]
            for tool in tools
            if "_meta" in tool and "dev.ostiary/site" in tool["_meta"]
        }
        assert set(names) == {"todo", "work"}
        for name, tool in names.items():
            answered = await gateway.call(client, tool)
            assert answered["structuredContent"]["result"] == {"site": name}


@in_loop
async def test_two_sessions_of_one_agent_share_nothing(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        _, other = await gateway.add_session(user="bob", agent="bob")
        mine = await gateway.call(client, "runtime_echo", {"text": "a"})
        ref = mine["structuredContent"]["ref"]
        foreign = await gateway.call(client, "gateway_call_status", {"ref": ref}, token=other)
        assert foreign["structuredContent"]["code"] == "unknown_call"
        records = await gateway.records("access.refused")
        assert [record["code"] for record in records] == ["unknown_call"]


@in_loop
async def test_exceptions_never_reach_the_wire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:

        async def broken(*_: Any, **__: Any) -> Any:
            raise RuntimeError("secret detail")

        monkeypatch.setattr(type(gateway.services.calls), "submit", broken)
        monkeypatch.setattr(type(gateway.services.inventories), "serve", broken)
        answer = await gateway.modern(client, "tools/call", {"name": "runtime_echo", "arguments": {"text": "x"}})
        listed = await gateway.modern(client, "tools/list")
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {gateway.token}"}) as http:
            transport = streamable_http_client(gateway.url, http_client=http)
            async with mcp.Client(transport, mode="legacy") as legacy:
                with pytest.raises(MCPError, match="internal error") as told:
                    await legacy.call_tool("runtime_echo", {"text": "x"})
        for text in (answer.text, listed.text, str(told.value)):
            assert "internal error" in text
            assert "secret" not in text
