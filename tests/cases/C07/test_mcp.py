"""C07 Hostile JSON text over MCP: a repeated key runs neither capability; half a surrogate pair breaks nothing."""

import json
from pathlib import Path

import httpx

from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import running_gateway

HERE = Path(__file__).parent


@in_loop
async def test_a_repeated_key_runs_nothing(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        message, head = gateway.modern_parts("tools/call", {"name": "gateway_invoke", "arguments": "@"})
        body = json.dumps(message).replace('"@"', (HERE / "input-duplicate.json").read_text())
        answer = await client.post(gateway.url, content=body, headers=head)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)
        assert answer.json()["error"]["data"] == {"code": "bad_json"}
        assert await gateway.services.admin.calls() == []
        assert [r["code"] for r in await gateway.records("access.refused")] == ["bad_json"]


@in_loop
async def test_half_a_surrogate_pair_is_refused_and_the_connection_lives(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=20) as client:
        message, head = gateway.modern_parts("tools/call", {"name": "gateway_invoke", "arguments": "@"})
        body = json.dumps(message).replace('"@"', (HERE / "input-surrogate.json").read_text())
        answer = await client.post(gateway.url, content=body, headers=head)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
        answer.content.decode()
        assert (await gateway.modern(client, "tools/list")).status_code == 200
        assert (await gateway.services.admin.audit_verify()).is_intact
