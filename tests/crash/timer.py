"""A mini app with a frame under load: operations that last for moments, a stop, and a handler in the frame.

The page has no frame. It says what one would say, remembers what it did like any action of its own, and now and then
refuses to have it in front, leaves it, closes it, or says nothing at all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any, Final

from capabilities.package import write_package
from gateway.bootstrap import Gateway
from tests.support.mini_apps import a_start, a_stop, a_surface_package, a_tool

APP: Final = "com.example.timer"
START: Final = "timer.start"
STOP: Final = "timer.stop"
DRAW: Final = "timer.draw"

UNIT_MS: Final = 100
"""What the app calls a minute."""

_TITLED: Final = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
_DONE: Final = {"type": "object", "properties": {"done": {"type": "string"}}, "required": ["done"]}


def _tools() -> list[dict[str, Any]]:
    start = a_start(method=START)
    start["handler"]["duration"]["unit_ms"] = UNIT_MS
    draw = a_tool(
        DRAW,
        input_schema=_TITLED,
        output_schema=_DONE,
        readiness="app_ready",
        call_model="command",
        timeout_ms=1_000,
        handler={"kind": "miniapp_sdk"},
    )
    return [start, a_stop(method=STOP), draw]


async def install(gateway: Gateway, data: Path) -> None:
    """Install the app and enable it, once in a lineage."""
    app = {"id": APP, "name": "Timer", "version": "1.0.0", "description": "Short times."}
    file = data.parent / "timer.ostiary-app"
    file.write_bytes(write_package(a_surface_package(app=app, tools=_tools())))
    await gateway.services.mini_apps.install(file, by="rig")
    await gateway.services.mini_apps.enable(APP, by="rig")


class Workspace:
    """What a page says of the frames it is asked to show."""

    def __init__(
        self,
        say: Callable[[dict[str, Any]], Awaitable[None]],
        run: Callable[[dict[str, Any]], Awaitable[None]],
        dice: Random,
    ) -> None:
        self._say = say
        self._run = run
        self._dice = dice
        self._shown: set[str] = set()

    def forget(self) -> None:
        """Another document shows nothing yet."""
        self._shown.clear()

    async def take(self, frame: dict[str, Any]) -> None:
        """Do what one `app` frame asks for."""
        instance = frame["instance"]
        match frame["op"]:
            case "open":
                self._shown.add(instance)
                if self._dice.random() < 0.95:
                    await self._news(instance, "opened")
                    await self._keep(instance, frame["revision"])
                else:
                    await self._news(instance, "failed", code="not_loaded")
            case "foreground":
                await self._ask_person(instance)
            case "tool":
                await self._run(frame)
            case "close":
                self._shown.discard(instance)
            case _:
                pass

    async def _ask_person(self, instance: str) -> None:
        await asyncio.sleep(self._dice.choice((0, 0, 0.02)))
        whim = self._dice.random()
        if whim < 0.15:
            await self._news(instance, "refused")
        elif whim < 0.95:
            await self._news(instance, "foregrounded")

    async def wander(self) -> None:
        """The person does something to one of the frames."""
        if self._shown:
            what = self._dice.choice(("backgrounded", "foregrounded", "left_workspace", "closed", "locked"))
            await self._say({"type": "intent", "instance": self._dice.choice(sorted(self._shown)), "what": what})

    async def _keep(self, instance: str, revision: int) -> None:
        data = {"opened": self._dice.randrange(1_000)}
        await self._news(instance, "data", id=f"d{self._dice.randrange(10**9)}", revision=revision, data=data)

    async def _news(self, instance: str, what: str, **more: Any) -> None:
        await self._say({"type": "app_news", "instance": instance, "what": what, **more})
