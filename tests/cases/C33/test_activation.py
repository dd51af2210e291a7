"""C33: an app is started once for all who wait, and a start that failed is not the last.

Adapted names: `activation_timeout` is `app_activation_failed` with the reason `timeout` (rules J). The slow start (Y2)
is timed by a clock that is set, in `tests/unit/runtime/test_activation.py`; two instances at once (Y5) are excluded
there and by the contract of the store.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from capabilities.package import write_package
from tests.support.mcp_gateway import McpGateway, running_gateway
from tests.support.mini_apps import a_package, a_python_app, a_tool

pytestmark = pytest.mark.anyio

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
APP = "com.example.orders"
CALLS = CASE["Y1"]["parallel_calls"]

MODULE = """
import asyncio, os

from capabilities.contract import CallModel, Confirm, Effect, Readiness, agent_tools, python_tool

HERE = {here!r}


def note(line):
    with open(os.path.join(HERE, "log"), "a") as log:
        log.write(line + chr(10))


def gate(name):
    with open(os.path.join(HERE, name)) as opened:
        return opened.read()


async def activate(context):
    note("activate")
    word = await asyncio.to_thread(gate, "start")
    if word != "go":
        raise ValueError(word)
    note("activated")


async def deactivate(context):
    note("deactivate")


async def submit(arguments, context):
    note("submit")
    await asyncio.to_thread(gate, "work")
    note("submitted")
    return {{}}


async def look(arguments, context):
    note("look")
    return {{}}


def tool(method, handler):
    return python_tool(
        method, handler, title="T", description="D.", input={{"type": "object"}}, output={{"type": "object"}},
        readiness=Readiness.APP_READY, effect=Effect.READ, confirm=Confirm.NEVER,
    )


TOOLS = agent_tools(
    app="com.example.orders", name="Orders", version="1.0.0", description="Takes orders.",
    tools=[tool("orders.submit", submit), tool("orders.look", look)],
    on_activate=activate, on_deactivate=deactivate,
)
"""


@dataclass
class Orders:
    """A gateway with the app of the case; its hooks wait at gates that are pipes."""

    gateway: McpGateway
    client: httpx.AsyncClient
    here: Path

    def log(self) -> list[str]:
        """What the app noted, in order."""
        path = self.here / "log"
        return path.read_text().split() if path.exists() else []

    async def open(self, gate: str, word: str = "go") -> None:
        """Let who waits at a gate go on; returns once it read the word."""
        await asyncio.to_thread((self.here / gate).write_text, word)

    def begin(self, tool: str = "orders_look") -> asyncio.Task[dict[str, Any]]:
        """A call on a connection of its own."""
        return asyncio.create_task(self.gateway.call(self.client, tool, meta={"progressToken": "p"}))

    async def waiting(self, count: int) -> None:
        """Until so many calls wait for the app."""
        async with asyncio.timeout(20):
            while len(await self._states("waiting_activation")) < count:  # noqa: ASYNC110 - the store tells nobody
                await asyncio.sleep(0.02)

    async def noted(self, line: str) -> None:
        """Until the app noted it."""
        async with asyncio.timeout(20):
            while line not in self.log():  # noqa: ASYNC110 - another process writes the file
                await asyncio.sleep(0.02)

    async def _states(self, state: str) -> list[str]:
        store = self.gateway.services.spine.store
        calls = await store.run(lambda tx: tx.calls.open_calls())
        return [call.ref for call in calls if call.state.value == state]


@asynccontextmanager
async def orders(tmp_path: Path) -> AsyncGenerator[Orders]:
    here = tmp_path / "app"
    here.mkdir()
    for gate in ("start", "work"):
        os.mkfifo(here / gate)
    files = {"orders.py": MODULE.format(here=str(here)).encode()}
    readiness = {"readiness": "app_ready", "input_schema": {"type": "object"}, "output_schema": {"type": "object"}}
    manifest = a_python_app(
        files,
        app={"id": APP, "name": "Orders", "version": "1.0.0", "description": "Takes orders."},
        tools=[
            a_tool(method, title="T", description="D.", call_model="command", confirm="never", **readiness)
            for method in ("orders.submit", "orders.look")
        ],
        python={"module": "orders"},
        activation={"on_activate": True, "on_deactivate": True},
    )
    package = tmp_path / "orders.ostiary-app"
    package.write_bytes(write_package(a_package(manifest, files)))
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(running_gateway(tmp_path / "data", scope=("orders.*",)))
        await running.services.mini_apps.install(package, by="test")
        await running.services.mini_apps.enable(APP, by="test")
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=60))
        yield Orders(running, client, here)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[Orders]:
    async with orders(tmp_path) as made:
        yield made


async def test_y1_calls_at_once_start_it_once_and_are_all_answered_after_it(house: Orders) -> None:
    calls = [house.begin() for _ in range(CALLS)]
    await house.waiting(CALLS)
    await house.open("start")
    answers = await asyncio.gather(*calls)
    assert not any(answer["isError"] for answer in answers)
    log = house.log()
    assert log[:2] == ["activate", "activated"]
    assert (log.count("activate"), log.count("look")) == (1, CALLS)


async def test_y3_what_the_start_says_reaches_the_caller_and_the_next_call_tries_again(house: Orders) -> None:
    refused = house.begin()
    await house.waiting(1)
    await house.open("start", "no config")
    answer = (await refused)["structuredContent"]
    assert (answer["code"], answer["status"]) == ("app_activation_failed", "failed")
    assert "no config" in answer["message"]
    again = house.begin()
    await house.open("start")
    assert not (await again)["isError"]
    assert house.log() == ["activate", "activate", "activated", "look"]
    failed = await house.gateway.records("activation.failed")
    assert [record["reason"] for record in failed] == ["app_failed"]


async def test_y4_who_is_at_work_ends_before_the_app_is_taken_down_once(house: Orders) -> None:
    call = house.begin("orders_submit")
    await house.open("start")
    await house.noted("submit")
    disabling = asyncio.create_task(house.gateway.services.mini_apps.disable(APP, by="test"))
    await house.open("work")
    await disabling
    await house.gateway.services.mini_apps.settled()
    await house.noted("deactivate")
    assert not (await call)["isError"]
    log = house.log()
    assert log.index("submitted") < log.index("deactivate")
    assert log.count("deactivate") == 1


async def test_y6_the_first_caller_leaving_harms_nobody(house: Orders) -> None:
    async with httpx.AsyncClient(timeout=60) as leaving:
        first = asyncio.create_task(house.gateway.call(leaving, "orders_look", meta={"progressToken": "p"}))
        await house.waiting(1)
        others = [house.begin() for _ in range(2)]
        await house.waiting(3)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
    await house.open("start")
    assert [answer["isError"] for answer in await asyncio.gather(*others)] == [False, False]
    assert house.log().count("activate") == 1
