"""An agent shows the canvas that comes along, and hears what the person drew: the official client, a page, a restart."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx
import mcp
from websockets.asyncio.client import ClientConnection, connect

from tests.interaction.cli.shell import Shell
from tests.interaction.page.rig import hello
from tests.support.agents import an_agent, called, names_of

ORIGIN: Final = "http://localhost:3000"
APP: Final = "dev.ostiary.svg-canvas"
TOOLS: Final = ["ui_events", "ui_surface_close", "ui_surface_open", "ui_surface_patch"]
BOARD: Final = "house.01"
STROKE: Final = {"id": "s1", "d": "M0 0L9 9", "stroke": "#000", "width": 2}


@dataclass(eq=False)
class Tab:
    """A document of `ann` with a workspace, as far as it says and hears what a surface needs."""

    socket: ClientConnection
    resume: str
    frames: list[dict[str, Any]]

    async def hears(self, op: str) -> dict[str, Any]:
        """The next `app` frame of one kind."""
        async with asyncio.timeout(10):
            while True:
                for frame in self.frames:
                    if frame["type"] == "app" and frame["op"] == op:
                        self.frames.remove(frame)
                        return frame
                self.frames.append(json.loads(await self.socket.recv()))

    async def says(self, instance: str, what: str, **fields: Any) -> None:
        frame = {"type": "app_news", "instance": instance, "what": what, **fields}
        await self.socket.send(json.dumps(frame))

    async def intends(self, instance: str, what: str) -> None:
        await self.socket.send(json.dumps({"type": "intent", "instance": instance, "what": what}))


@asynccontextmanager
async def a_tab(shell: Shell, key: str, document: str, resume: str | None = None) -> AsyncGenerator[Tab]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{shell.port}") as http:
        headers = {"Authorization": f"Bearer {key}"}
        given = await http.post("/v1/host-tokens", json={"user": "ann", "origin": ORIGIN}, headers=headers)
    async with connect(f"ws://127.0.0.1:{shell.port}/page/v1", origin=ORIGIN) as socket:  # type: ignore[arg-type] - a NewType of str
        first = hello(document, given.json()["ticket"], url=f"{ORIGIN}/", workspace=True)
        await socket.send(json.dumps(first if resume is None else {**first, "resume": resume}))
        welcome = json.loads(await socket.recv())
        assert welcome["type"] == "welcome", welcome
        yield Tab(socket, welcome["resume"], [])


async def result(client: mcp.Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await called(client, tool, arguments)
    assert answer["status"] == "succeeded", answer
    return answer["result"]


def prepared(shell: Shell) -> tuple[str, str]:
    """The canvas is enabled and exposed; the token of an agent and the key of the site."""
    shell.file.write_text(shell.file.read_text().replace("[todo.add]", '[todo.add, "ui.*"]'))
    shell.says("app", "install", "svg-canvas")
    shell.says("app", "enable", APP)
    grant = shell.json("session", "add", "claude", "--user", "ann", "--site", "todo", "--scope", "ui.*")
    return grant["token"], shell.json("site", "key", "add", "todo")["secret"]


def test_an_agent_draws_with_a_person(shell: Shell) -> None:
    token, key = prepared(shell)

    async def draw() -> tuple[str, str]:
        async with a_tab(shell, key, "A" * 16) as tab, an_agent(shell.port, token) as client:
            assert [name for name in await names_of(client) if name.startswith(("ui_surface", "ui_events"))] == TOOLS
            opening = {"app": APP, "version": "1.0.0", "surface": "canvas", "instance_id": BOARD}
            opened = await result(client, "ui_surface_open", **opening, state={"shapes": []}, title="House")
            assert opened == {"instance_id": BOARD, "replaced": False}
            frame = await tab.hears("open")
            assert (frame["title"], frame["events"], frame["handlers"]) == (
                "Canvas: House",
                ["draw", "resize", "snapshot"],
                False,
            )
            instance = frame["instance"]
            await tab.says(instance, "opened")
            assert (await tab.hears("foreground"))["agent"] == "Claude Code"
            await result(client, "ui_surface_patch", instance_id=BOARD, state={"shapes": [{"type": "rect"}]})
            assert (await tab.hears("state"))["state"] == {"shapes": [{"type": "rect"}]}
            waiting = asyncio.create_task(result(client, "ui_events", wait_ms=20_000))
            await tab.says(instance, "event", event="draw", data=STROKE)
            heard = await waiting
            assert [(event["event"], event["data"], event["instance_id"]) for event in heard["events"]] == [
                ("draw", STROKE, BOARD)
            ]
            return tab.resume, instance

    async def go_on(resume: str, instance: str) -> None:
        async with a_tab(shell, key, "B" * 16, resume) as tab, an_agent(shell.port, token) as client:
            frame = await tab.hears("open")
            assert (frame["instance"], frame["state"]) == (instance, {"shapes": [{"type": "rect"}]})
            await tab.says(instance, "opened")
            await tab.intends(instance, "closed")
            await tab.hears("close")
            heard = await result(client, "ui_events", cursor=1, wait_ms=20_000)
            assert [(event["event"], event["data"]) for event in heard["events"]] == [("close", {"reason": "person"})]
            assert await result(client, "ui_surface_close", instance_id=BOARD) == {"closed": False}

    with shell.serving():
        resume, instance = asyncio.run(draw())
    with shell.serving():
        asyncio.run(go_on(resume, instance))
        events = [record["event"] for record in shell.trail("agent_tool")]
        assert events.count("surface.opened") == events.count("surface.closed") == 1
        assert [r["facts"]["intent"] for r in shell.trail("host_intent") if r["event"] == "intent.reported"] == [
            "closed"
        ]
        shell.says("audit", "verify")
