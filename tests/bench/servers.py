"""The servers that are compared, each in a process of its own under the same uvicorn settings.

The baseline runs on uvicorn as it comes: what our connections are held to is part of what is measured.

`python -m tests.bench.servers gateway FOLDER TOOLS` is Ostiary with everything on, on SQLite in FOLDER;
`python -m tests.bench.servers gateway-pg FOLDER TOOLS` is the same on PostgreSQL, in a database of its own;
`python -m tests.bench.servers baseline FOLDER TOOLS` is a low-level SDK server with the same tools.
Either prints one line `{"port": …, "token": …}` and then serves until it is terminated.
"""

import asyncio
import json
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import mcp_types as wire
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server as McpServer
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from capabilities.builtin import echo
from capabilities.contract import Descriptor, HandlerKind
from capabilities.registry import Builtin
from gateway.adapters.configuration_file import load
from gateway.asgi import Bounds, Server, rest_collector, server_of
from gateway.bootstrap import build
from gateway.demo.scene import HOST, free_port
from policy.vocabulary import Confirm, Effect
from tests.support.postgres import fresh_database

CONFIGURATION = """\
version: 1
server:
  listen: "{host}:{port}"
  public_url: "http://{host}:{port}"
  builtins: [{builtins}]{database}
limits:
  # Raised for the load; nothing is switched off.
  calls_per_minute: 10000000
  calls_burst: 1000000
  requests_per_minute: 10000000
  requests_burst: 1000000
agents:
  bench: {{label: Bench}}
"""


def tools_of(count: int) -> dict[str, Builtin]:
    """`runtime.echo`, and `count` similar ones where a long list is wanted."""
    names = ["runtime.echo", *(f"runtime.echo{number}" for number in range(1, count))]
    return {
        name: Builtin(
            descriptor=Descriptor(
                id=name,
                title=echo.DESCRIPTOR.title,
                description=echo.DESCRIPTOR.description,
                input_schema=echo.DESCRIPTOR.input_schema,
                output_schema=echo.DESCRIPTOR.output_schema,
                effect=Effect.READ,
                confirm=Confirm.NEVER,
                handler=HandlerKind.RUNTIME,
            ),
            handler=echo.HANDLER,
        )
        for name in names
    }


async def gateway(folder: Path, count: int, database: str = "") -> None:
    """Ostiary: authentication, policy, ledger and audit as always."""
    port, builtins = free_port(0), tools_of(count)
    kept = f'\n  database: "{database}"' if database else ""
    text = CONFIGURATION.format(host=HOST, port=port, builtins=", ".join(builtins), database=kept)
    configuration = load(text, "bench.yaml", builtins=builtins)
    async with build(configuration, folder, builtins=builtins) as running:
        grant = await running.services.admin.add_session(
            "bench", user="bench", sites=[], scope=list(builtins), days=1, by="bench"
        )
        bounds = Bounds.of(running.services)
        rest_collector()
        await _serve(server_of(running.app, HOST, port, running.stop_streams, bounds=bounds), port, grant.token)


async def gateway_pg(folder: Path, count: int) -> None:
    """The same on PostgreSQL, in a database that is dropped at the end."""
    with fresh_database() as url:
        await gateway(folder, count, url)


async def baseline(_folder: Path, count: int) -> None:
    """The SDK's own server: the same tools, no rules."""
    port = free_port(0)
    tools = [
        wire.Tool(
            name=name.replace(".", "_"),
            title=builtin.descriptor.title,
            description=builtin.descriptor.description,
            input_schema=dict(builtin.descriptor.input_schema),
            output_schema=dict(builtin.descriptor.output_schema or {}),
        )
        for name, builtin in tools_of(count).items()
    ]

    async def list_tools(
        _: ServerRequestContext[Any, Any], __: wire.PaginatedRequestParams | None
    ) -> wire.ListToolsResult:
        return wire.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="private")

    async def call_tool(_: ServerRequestContext[Any, Any], params: wire.CallToolRequestParams) -> wire.CallToolResult:
        output = {"text": (params.arguments or {})["text"]}
        return wire.CallToolResult(
            content=[wire.TextContent(type="text", text=json.dumps(output))], structured_content=output
        )

    server = McpServer(
        "baseline",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda _: None,
    )
    manager = StreamableHTTPSessionManager(server, json_response=False)
    app = Starlette(routes=[Route("/mcp", endpoint=StreamableHTTPASGIApp(manager))])
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(manager.run())
        await _serve(_plain(app, port), port, "none")


def _plain(app: Starlette, port: int) -> uvicorn.Server:
    """uvicorn as it comes, told what ours is told: the bounds of our connections are not the baseline's to pay."""
    config = uvicorn.Config(
        app,
        host=HOST,
        port=port,
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    return uvicorn.Server(config)


async def _serve(server: uvicorn.Server, port: int, token: str) -> None:
    if isinstance(server, Server):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody
        await asyncio.sleep(0.01)
    print(json.dumps({"port": port, "token": token}), flush=True)
    await serving


SERVERS = {"gateway": gateway, "gateway-pg": gateway_pg, "baseline": baseline}

if __name__ == "__main__":
    kind, where, how_many = sys.argv[1:]
    asyncio.run(SERVERS[kind](Path(where), int(how_many)))
