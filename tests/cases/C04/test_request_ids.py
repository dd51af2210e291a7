"""C04 Request ids come back as they were sent, or are refused; nothing runs for a refused one."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.interaction.mcp.test_leaving import INITIALIZE, begin
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import last_message, running_gateway

INPUT = json.loads((Path(__file__).parent / "input.json").read_text())


@pytest.mark.parametrize("era", ["modern", "legacy"])
@in_loop
async def test_valid_ids_are_echoed_with_type_and_digits(tmp_path: Path, era: str) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        legacy = await begin(gateway, client)
        for request in INPUT["valid_ids"]:
            if era == "modern":
                answer = await gateway.modern(client, "tools/list", request=request)
            else:
                message = {"jsonrpc": "2.0", "id": request, "method": "tools/list"}
                answer = await client.post(gateway.url, json=message, headers=legacy)
            assert answer.status_code == 200
            assert f'"id":{json.dumps(request)}' in answer.text
            assert type(last_message(answer)["id"]) is type(request)


@pytest.mark.parametrize("request_id", INPUT["invalid_ids"], ids=json.dumps)
@pytest.mark.parametrize("era", ["modern", "legacy"])
@in_loop
async def test_other_ids_are_refused_and_nothing_runs(tmp_path: Path, request_id: Any, era: str) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        call = {"name": "runtime_echo", "arguments": {"text": "x"}}
        message, head = gateway.modern_parts("tools/call", call, request=request_id)
        if era == "legacy":
            message, head = {**INITIALIZE, "id": request_id}, gateway.post_headers()
        answer = await client.post(gateway.url, json=message, headers=head)
        assert answer.status_code == 400
        told = answer.json()
        assert told["error"]["code"] == -32600
        assert told.get("id") is None
        assert ("id" in told) is (era == "legacy")
        assert await gateway.services.admin.calls() == []
        assert [r["code"] for r in await gateway.records("access.refused")] == ["bad_request"]


@in_loop
async def test_seven_and_the_text_seven_each_get_their_own_answer(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:

        async def ask(request: Any) -> dict[str, Any]:
            call = {"name": "runtime_echo", "arguments": {"text": repr(request)}}
            return (await gateway.modern(client, "tools/call", call, request=request)).json()

        for request, told in zip((7, "7"), await asyncio.gather(ask(7), ask("7")), strict=True):
            assert told["id"] == request
            assert type(told["id"]) is type(request)
            assert told["result"]["structuredContent"]["result"] == {"text": repr(request)}
