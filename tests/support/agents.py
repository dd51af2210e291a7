"""An agent as people run them: the official MCP client, over HTTP, with a token."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def an_agent(port: int, token: str) -> AsyncGenerator[mcp.Client]:
    """One that is connected to the gateway at `port`."""
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as http,
        mcp.Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)) as client,
    ):
        yield client


async def names_of(client: mcp.Client) -> list[str]:
    """The tools it sees."""
    return sorted(tool.name for tool in (await client.list_tools()).tools)


async def called(client: mcp.Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a call answers, as structured content."""
    answer = await client.call_tool(tool, arguments)
    assert answer.structured_content is not None
    return answer.structured_content
