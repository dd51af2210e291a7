"""Documents by MCP: the SDK's own client shows one of the greatest size, and reads what is wrong with another (rules A1, H10)."""

from pathlib import Path
from typing import Any

import pytest

from policy.model import Floor
from tests.interaction.mcp.test_calls import MODES, sdk_client
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import join_page, running_gateway, site
from tests.unit.runtime.papers import sized, structured

SITES = {"todo": site("todo", "ui.*")}


@pytest.mark.parametrize("mode", MODES)
@in_loop
async def test_a_document_of_exactly_the_limit_is_shown(tmp_path: Path, mode: Any) -> None:
    assert SITES["todo"].expose == (Floor(pattern="ui.*"),)
    async with running_gateway(tmp_path, scope=("ui.*",), sites=SITES) as gateway:
        page = await join_page(gateway.services, patterns=("ui.*",))
        async with sdk_client(gateway, mode) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"ui_structured_ui", "ui_intelligent_ui"} <= names
            assert not any("callback" in name for name in names)
            answer = await client.call_tool("ui_structured_ui", {"document": sized(262_144)})
            assert not answer.is_error, answer
            [shown] = [frame for frame in page.of_type("document") if frame["op"] == "open"]
            assert shown["ui"]["document"] == sized(262_144)
            answer = await client.call_tool("ui_structured_ui", {"document": {**structured(), "colour": "secret"}})
            assert answer.is_error
            told = answer.structured_content
            assert told is not None
            assert (told["code"], told["pointer"]) == ("document.unknown_key", "/colour")
            assert "secret" not in str(told)
        assert [fact["code"] for fact in await gateway.records("call.refused")] == ["document.unknown_key"]
