"""C01 Root-level combinators: no tool lost, the rule still enforced (both protocol eras)."""

import json
from pathlib import Path

import httpx
import pytest

from capabilities.contract import Descriptor
from policy.vocabulary import Confirm, Effect
from tests.interaction.mcp.test_leaving import begin
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import join_page, last_message, running_gateway, site

INPUT = json.loads((Path(__file__).parent / "input.json").read_text())
COMBINATORS = {"oneOf", "anyOf", "allOf", "if", "then", "else", "not"}


@in_loop
async def test_every_sibling_is_listed_and_the_rule_holds(tmp_path: Path) -> None:
    declared = [
        Descriptor(id=c["name"], input_schema=c["inputSchema"], effect=Effect.READ, confirm=Confirm.NEVER)
        for c in INPUT["capabilities"]
    ]
    name = INPUT["surface"]
    async with (
        running_gateway(tmp_path, sites={name: site(name, "report.*")}, scope=("report.*",)) as gateway,
        httpx.AsyncClient(timeout=20) as client,
    ):
        page = await join_page(gateway.services, *declared, site=name)
        page.act = lambda capability, _: {"ran": capability}
        modern = (await gateway.modern(client, "tools/list")).json()["result"]["tools"]
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        old = await client.post(gateway.url, json=request, headers=await begin(gateway, client))
        for tools in (modern, last_message(old)["result"]["tools"]):
            by_name = {tool["name"]: tool for tool in tools}
            for tool in ("report_create", "report_find", "report_list"):
                schema = by_name[tool]["inputSchema"]
                assert schema["type"] == "object"
                assert "properties" in schema
                assert not COMBINATORS & set(schema)

        bad = await gateway.call(client, "report_create", {"mode": "final"})
        assert bad["isError"] is True
        assert "approver" in bad["content"][0]["text"]
        good = await gateway.call(client, "report_create", {"mode": "final", "approver": "eve"})
        assert good["structuredContent"]["result"] == {"ran": "report.create"}
        either = await gateway.call(client, "report_find", {})
        assert either["structuredContent"]["code"] == "arguments_invalid"

        described = (await gateway.call(client, "gateway_describe"))["structuredContent"]["capabilities"]
        full = {c["id"]: c["input_schema"] for c in described}
        assert full == {c["name"]: c["inputSchema"] for c in INPUT["capabilities"]}


pytestmark = pytest.mark.timeout(60)
