"""A mini app's call as MCP clients follow it: progress, tasks, status, and one result (rules F1)."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from capabilities.package import write_package
from gateway.runtime.workspaces import Foregrounded, News, Opened, Place
from policy.model import Rule
from policy.vocabulary import Verdict
from tests.support.in_loop import in_loop, until
from tests.support.mcp_gateway import FakePage, McpGateway, join_page, messages_of, running_gateway, site
from tests.support.mini_apps import a_surface_package

TASKS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
RULE = Rule(id="focus", agents=("coder",), capabilities=("focus.*",), verdict=Verdict.PERMIT)


@dataclass
class Scene:
    """A gateway with an app, an agent, and a page with a workspace that does what the test says."""

    gateway: McpGateway
    client: httpx.AsyncClient
    page: FakePage

    @property
    def instance(self) -> str:
        """What the page was last asked to open."""
        opened = [frame for frame in self.page.of_type("app") if frame["op"] == "open"]
        name: str = opened[-1]["instance"]
        return name

    async def says(self, *news: News) -> None:
        """The page tells of the app's frame."""
        services = self.gateway.services
        await until(lambda: any(frame["op"] == "open" for frame in self.page.of_type("app")))
        live = services.live.world.pages[self.page.joined.page.id]
        for one in news:
            await services.workspaces.hear(Place(page=live, instance=self.instance), one)

    async def task(self, ref: str) -> dict[str, Any]:
        """The task of a call."""
        answer = await self.gateway.modern(self.client, "tasks/get", {"taskId": ref}, capabilities=TASKS)
        told: dict[str, Any] = answer.json()["result"]
        return told

    async def status(self, ref: str) -> dict[str, Any]:
        """What `gateway_call_status` tells."""
        told: dict[str, Any] = (await self.gateway.call(self.client, "gateway_call_status", {"ref": ref}))[
            "structuredContent"
        ]
        return told


@asynccontextmanager
async def scene(tmp_path: Path) -> AsyncGenerator[Scene]:
    package = a_surface_package()
    file = tmp_path / package.filename
    file.write_bytes(write_package(package))
    sites = {"todo": site("todo", "todo.*", "focus.*")}
    async with AsyncExitStack() as stack:
        running = running_gateway(tmp_path / "data", scope=("focus.*",), sites=sites, rules=(RULE,))
        gateway = await stack.enter_async_context(running)
        await gateway.services.mini_apps.install(file, by="test")
        await gateway.services.mini_apps.enable(package.manifest.app.id, by="test")
        page = await join_page(gateway.services, patterns=("todo.*", "focus.*"))
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=20))
        yield Scene(gateway, client, page)


@in_loop
async def test_a_task_says_how_far_the_start_is_and_ends_with_one_result(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        task = await on.gateway.call(on.client, "focus_start", {"minutes": 5}, capabilities=TASKS)
        ref = task["taskId"]
        assert (task["resultType"], task["status"], task["statusMessage"]) == ("task", "working", "starting")
        await on.says(Opened(), Foregrounded())
        assert (await on.task(ref))["statusMessage"] == "started"
        stopped = await on.gateway.call(on.client, "focus_stop")
        assert stopped["structuredContent"]["result"] == {"status": "interrupted"}
        done = await on.task(ref)
        assert (done["status"], done["result"]["structuredContent"]["result"]) == (
            "completed",
            {"status": "interrupted"},
        )


@in_loop
async def test_status_holds_the_newest_receipt_and_none_of_the_runtimes_names(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        pending = (await on.gateway.call(on.client, "focus_start", {"minutes": 5}))["structuredContent"]
        assert pending["receipt"]["status"] == "starting"
        await on.says(Opened(), Foregrounded())
        told = await on.status(pending["ref"])
        receipt = told["receipt"]
        assert {key: receipt[key] for key in ("app_scope", "status", "seq", "ref")} == {
            "app_scope": "com.example.focus",
            "status": "started",
            "seq": 3,
            "ref": pending["ref"],
        }
        assert set(receipt) == {"call_id", "app_scope", "status", "seq", "at", "ref"}
        text = str(told)
        assert on.instance not in text
        assert not any(name in text for name in ("inst_", "apps_", "actv_", "oper_"))


@in_loop
async def test_progress_tells_the_receipts_in_order(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        message, head = on.gateway.modern_parts(
            "tools/call",
            {"name": "focus_start", "arguments": {"minutes": 5}},
            meta={"progressToken": "p"},
        )
        heard: list[str] = []
        async with on.client.stream("POST", on.gateway.url, json=message, headers=head) as answer:
            async for line in answer.aiter_lines():
                for one in messages_of(line):
                    if one.get("method") == "notifications/progress":
                        heard.append(one["params"]["message"])
                        if heard == ["starting"]:
                            await on.says(Opened(), Foregrounded())
                        if heard[-1] == "started":
                            await on.gateway.call(on.client, "focus_stop")
                    elif "result" in one:
                        assert one["result"]["structuredContent"]["result"] == {"status": "interrupted"}
        assert list(dict.fromkeys(heard)) == ["starting", "started"]
