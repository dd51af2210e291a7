"""An agent calls a handler in Python: over MCP, through a crash, and through a restart."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.support.in_loop import until
from tests.support.processes import ended
from tests.support.python_apps import Hosted, hosting

pytestmark = pytest.mark.anyio

APP = "com.example.press"

MODULE = """
import asyncio, os

from capabilities.contract import Confirm, Effect, agent_tools, python_tool

HERE = {here!r}
OBJECT = {{"type": "object"}}


async def run(arguments, context):
    with open(os.path.join(HERE, "log"), "a") as log:
        log.write(arguments["how"] + chr(10))
    if arguments["how"] == "crash":
        os._exit(1)
    if arguments["how"] == "wait":
        await asyncio.Event().wait()
    await context.progress(1, 2, "half")
    return {{"pid": os.getpid()}}


TOOLS = agent_tools(
    app="com.example.press", name="Press", version="1.0.0", description="Presses.",
    tools=[python_tool(
        "press.run", run, title="T", description="D.", input=OBJECT, output=OBJECT,
        effect=Effect.READ, confirm=Confirm.NEVER,
    )],
)
"""


def text(folder: Path) -> str:
    return MODULE.format(here=str(folder))


def log(folder: Path) -> list[str]:
    path = folder / "log"
    return path.read_text().split() if path.exists() else []


async def invoke(hosted: Hosted, call_id: str, how: str) -> dict[str, object]:
    arguments = {"capability": "press.run", "arguments": {"how": how}, "call_id": call_id}
    answer = await hosted.gateway.call(hosted.client, "gateway_invoke", arguments, meta={"progressToken": "p"})
    return answer["structuredContent"]


async def test_an_agent_gets_the_answer_of_a_process_that_is_not_the_gateway(tmp_path: Path) -> None:
    async with hosting(tmp_path, text(tmp_path), app=APP, module="press") as hosted:
        pid = (await hosted.call("press_run", how="go"))["result"]["pid"]
        assert pid != os.getpid()
        # One process does the next call, too.
        assert (await hosted.call("press_run", how="go"))["result"]["pid"] == pid
    await ended(pid)


async def test_a_crash_is_an_outcome_nobody_knows_and_is_not_repeated(tmp_path: Path) -> None:
    async with hosting(tmp_path, text(tmp_path), app=APP, module="press") as hosted:
        for _ in range(2):
            answer = await invoke(hosted, "press-0001", "crash")
            assert (answer["status"], answer["code"]) == ("unknown", "outcome_unknown")
        assert (await hosted.call("press_run", how="go"))["status"] == "succeeded"
        assert [record["code"] for record in await hosted.gateway.records("call.lost")] == ["outcome_unknown"]
    assert log(tmp_path) == ["crash", "go"]


async def test_what_a_worker_held_when_the_gateway_stopped_is_unknown_afterwards(tmp_path: Path) -> None:
    async with hosting(tmp_path, text(tmp_path), app=APP, module="press") as hosted:
        pid = (await hosted.call("press_run", how="go"))["result"]["pid"]
        asking = asyncio.create_task(invoke(hosted, "press-0002", "wait"))
        await until(lambda: log(tmp_path) == ["go", "wait"], seconds=20)
        session, token = hosted.gateway.session, hosted.gateway.token
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    await ended(pid)
    async with hosting(tmp_path, text(tmp_path), app=APP, module="press") as again:
        told = await again.gateway.call(again.client, "gateway_call_status", {"call_id": "press-0002"}, token=token)
        assert told["structuredContent"]["code"] == "outcome_unknown"
        assert [record["session"] for record in await again.gateway.records("call.lost")] == [session.id]
        assert (await again.call("press_run", how="go"))["status"] == "succeeded"
    assert log(tmp_path) == ["go", "wait", "go"]
