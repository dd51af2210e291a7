"""Packages of mini apps in Python, made of a module's text alone, and a gateway that runs one."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import orjson

from capabilities.package import write_package
from tests.support.mcp_gateway import McpGateway, running_gateway
from tests.support.mini_apps import a_package, entries_of

ROOT: Final = Path(__file__).parents[2]


async def packed(folder: Path, text: str, module: str) -> Path:
    """The package of an app whose only file is `module`, as `TOOLS` in it declares the app."""
    home = folder / f"{module}-source"
    home.mkdir()
    (home / f"{module}.py").write_text(text)
    evaluating = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "capabilities.declare", str(home), module), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await evaluating.communicate()
    files = {f"{module}.py": text.encode()}
    declared: dict[str, Any] = orjson.loads(told)["declaration"]
    manifest = {"manifest": 1, **declared, "python": {"module": module}, "files": entries_of(files)}
    package = folder / f"{module}.ostiary-app"
    package.write_bytes(write_package(a_package(manifest, files)))
    return package


@dataclass
class Hosted:
    """A gateway with one app, and an agent's connection."""

    gateway: McpGateway
    client: httpx.AsyncClient
    app: str

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What an agent reads of a call of `tool` (its MCP name)."""
        meta = {"progressToken": "p"}
        return (await self.gateway.call(self.client, tool, arguments, meta=meta))["structuredContent"]


@asynccontextmanager
async def hosting(
    folder: Path, text: str, *, app: str, module: str, grant: Collection[str] = (), **changes: Any
) -> AsyncGenerator[Hosted]:
    """Run a gateway over `folder` with the app installed (once) and enabled; `changes` are of its configuration."""
    package = folder / f"{module}.ostiary-app"
    scope = (f"{app.rpartition('.')[2]}.*",)
    async with AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(running_gateway(folder / "data", scope=scope, **changes))
        if not package.exists():
            await packed(folder, text, module)
            await gateway.services.mini_apps.install(package, by="test")
            await gateway.services.mini_apps.enable(app, grant=grant, by="test")
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=60))
        yield Hosted(gateway, client, app)
