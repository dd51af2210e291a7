"""The MCP Inspector, another team's client, lists strictly and calls."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import todo_page
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import join_page, running_gateway
from tests.support.mcp_inspector import call_tool, run_inspector


@pytest.mark.parametrize("era", ["modern", "legacy"])
@in_loop
async def test_strict_listing_and_one_call(tmp_path: Path, era: Any) -> None:
    async with running_gateway(tmp_path / "data") as gateway:
        page = await join_page(gateway.services, todo_page.OVERVIEW, todo_page.ADD, todo_page.CLEAR)
        page.act = todo_page.act
        home = tmp_path / "home"
        home.mkdir()
        how: dict[str, Any] = {"home": home, "token": gateway.token, "era": era}
        listed = await run_inspector(gateway.url, "tools/list", **how)
        assert listed.exit_code == 0, listed.notes
        assert {"todo_overview", "todo_add", "gateway_describe"} <= {tool["name"] for tool in listed.result["tools"]}
        called = await call_tool(gateway.url, "todo_overview", {}, **how)
        assert called.result["structuredContent"]["status"] == "succeeded"
