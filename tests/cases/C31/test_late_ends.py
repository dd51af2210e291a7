"""C31: a deadline ends a call once; what its handler does afterwards is recorded and told to nobody.

The work of the case ends at 3 s; here it ends when the test opens its gate, a pipe, after the call was ruled on.
"""

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from capabilities.package import write_package
from gateway.settings import Limits
from tests.support.in_loop import until
from tests.support.mcp_gateway import McpGateway, running_gateway
from tests.support.mini_apps import a_package, a_python_app, a_tool

pytestmark = pytest.mark.anyio

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
APP = f"com.example.{CASE['app']}"
DEADLINE_MS = CASE["deadline_ms"]

MODULE = """
import asyncio, os

from capabilities.contract import ContextError, HandlerStopped, agent_tools, python_tool

HERE = {here!r}


def note(line):
    with open(os.path.join(HERE, "log"), "a") as log:
        log.write(line + chr(10))


def gate():
    with open(os.path.join(HERE, "work")) as opened:
        return opened.read()


async def submit(arguments, context):
    note("submit")
    await context.cancelled.wait()
    note("signal")
    if arguments["checks_cancel"]:
        raise HandlerStopped
    await asyncio.to_thread(gate)
    note("counted")
    try:
        await context.emit("order.submitted", {{"n": 1}})
        note("emitted")
    except ContextError:
        note("refused")
    return {{"submitted": True}}


TOOLS = agent_tools(
    app="com.example.orders", name="Orders", version="1.0.0", description="Takes orders.",
    tools=[python_tool(
        "orders.submit", submit, title="T", description="D.", timeout_ms={deadline_ms},
        input={{"type": "object"}}, output={{"type": "object"}},
    )],
)
"""


@dataclass
class Orders:
    """A gateway with the app of the case."""

    gateway: McpGateway
    client: httpx.AsyncClient
    here: Path

    def log(self) -> list[str]:
        """What the handler noted, in order."""
        path = self.here / "log"
        return path.read_text().split() if path.exists() else []

    async def submit(self, call_id: str, *, checks_cancel: bool = False) -> dict[str, Any]:
        """Call the tool by a key of the caller's own; the answer an agent reads."""
        arguments = {"capability": "orders.submit", "arguments": {"checks_cancel": checks_cancel}, "call_id": call_id}
        meta = {"progressToken": "p"}
        return (await self.gateway.call(self.client, "gateway_invoke", arguments, meta=meta))["structuredContent"]

    async def status(self, call_id: str) -> dict[str, Any]:
        """Where the call stands."""
        told = await self.gateway.call(self.client, "gateway_call_status", {"call_id": call_id})
        return told["structuredContent"]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[Orders]:
    here = tmp_path / "app"
    here.mkdir()
    os.mkfifo(here / "work")
    files = {"orders.py": MODULE.format(here=str(here), deadline_ms=DEADLINE_MS).encode()}
    plain = {"input_schema": {"type": "object"}, "output_schema": {"type": "object"}}
    manifest = a_python_app(
        files,
        app={"id": APP, "name": "Orders", "version": "1.0.0", "description": "Takes orders."},
        tools=[
            a_tool(
                "orders.submit",
                title="T",
                description="D.",
                call_model="command",
                effect="read",
                confirm="never",
                timeout_ms=DEADLINE_MS,
                **plain,
            )
        ],
        python={"module": "orders"},
    )
    package = tmp_path / "orders.ostiary-app"
    package.write_bytes(write_package(a_package(manifest, files)))
    limits = Limits(calls_per_minute=10_000, calls_burst=1_000, app_kill_ms=60_000)
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(
            running_gateway(tmp_path / "data", scope=("orders.*",), limits=limits)
        )
        await running.services.mini_apps.install(package, by="test")
        await running.services.mini_apps.enable(APP, by="test")
        client = await stack.enter_async_context(httpx.AsyncClient(timeout=60))
        yield Orders(running, client, here)


async def test_the_caller_is_told_at_the_deadline_and_the_handler_is_told_to_stop(house: Orders) -> None:
    """L1."""
    began = time.monotonic()
    answer = await house.submit("order-0001")
    assert DEADLINE_MS <= (time.monotonic() - began) * 1_000 < DEADLINE_MS + 1_500
    assert (answer["status"], answer["code"], answer["retryable"]) == ("unknown", "deadline_exceeded", False)
    assert house.log() == ["submit", "signal"]


async def test_a_late_end_is_recorded_once_and_told_to_nobody(house: Orders) -> None:
    """L2 to L4."""
    await house.submit("order-0002")
    again = await house.submit("order-0002")
    assert (again["code"], again["replayed"]) == ("deadline_exceeded", True)
    await asyncio.to_thread((house.here / "work").write_text, "go")

    async def is_late() -> bool:
        return bool((await house.status("order-0002")).get("late"))

    await until(is_late, seconds=20)
    told = await house.status("order-0002")
    assert (told["status"], told["late"], told["result"]) == ("succeeded", True, {"submitted": True})
    assert house.log() == ["submit", "signal", "counted", "refused"]
    assert (await house.submit("order-0002"))["late"] is True
    assert house.log().count("submit") == 1
    assert [record["code"] for record in await house.gateway.records("call.lost")] == ["deadline_exceeded"]
    assert [record.get("late") for record in await house.gateway.records("call.ended")] == [True]
    refused = await house.gateway.records("outbox.emission_refused")
    assert [(record["type"], record["reason"]) for record in refused] == [("order.submitted", "over")]


async def test_a_handler_that_stops_when_told_to_ends_as_a_plain_failure_that_may_be_tried_again(
    house: Orders,
) -> None:
    """L5."""
    assert CASE["variants"]["L5"]["handler_checks_cancel"]
    answer = await house.submit("order-0003", checks_cancel=True)
    assert (answer["status"], answer["code"], answer["retryable"]) == ("failed", "deadline_exceeded", True)
    assert "late" not in answer
    assert await house.gateway.records("call.lost") == []
    assert [record["code"] for record in await house.gateway.records("call.ended")] == ["deadline_exceeded"]
