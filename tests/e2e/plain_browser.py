"""A Chromium over nothing but its own protocol.

Playwright keeps every tab visible and its timers quick, and it turns the back/forward cache off. What tabs do in
people's browsers is seen only without it.
"""

import asyncio
import itertools
import json
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from gateway.demo.browser import FLAGS, chromium
from tests.e2e.house import PATIENCE, until


@dataclass(eq=False)
class PlainBrowser:
    """The browser's own connection."""

    socket: ClientConnection
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    _answers: dict[int, "asyncio.Future[dict[str, Any]]"] = field(default_factory=dict[int, Any])

    async def sends(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """One command and its answer."""
        number = next(self._numbers)
        answering = self._answers[number] = asyncio.get_running_loop().create_future()
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        await self.socket.send(json.dumps(message))
        async with asyncio.timeout(PATIENCE):
            answer = await answering
        assert "error" not in answer, answer
        return answer["result"]

    async def listen(self) -> None:
        """Hand answers to who waits for them."""
        with suppress(ConnectionClosed):
            async for text in self.socket:
                message = json.loads(text)
                if "id" in message:
                    self._answers.pop(message["id"]).set_result(message)

    async def signs_in(self, user: str, url: str) -> None:
        """Give the profile its cookie."""
        await self.sends("Storage.setCookies", cookies=[{"name": "user", "value": user, "url": url}])

    async def opens(self, url: str) -> "Tab":
        """A new tab, in front."""
        target = (await self.sends("Target.createTarget", url=url))["targetId"]
        session = (await self.sends("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        return Tab(self, target, session)


@dataclass(eq=False)
class Tab:
    """One tab."""

    browser: PlainBrowser
    target: str
    session: str

    async def evaluates(self, expression: str) -> Any:
        """The value of `expression` on the page."""
        answer = await self.browser.sends(
            "Runtime.evaluate", self.session, expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def comes_to_front(self) -> None:
        """As if the person had picked it; the others are hidden."""
        await self.browser.sends("Target.activateTarget", targetId=self.target)

    async def becomes(self, visibility: str) -> None:
        """Wait until the page knows that it is `visible` or `hidden`."""

        async def is_so() -> bool:
            return await self.evaluates("document.visibilityState") == visibility

        await until(is_so)

    async def presses(self, name: str) -> None:
        """Click the button called `name`, in closed roots too, once it is there."""
        found: list[int] = []

        async def is_there() -> bool:
            tree = await self.browser.sends("Accessibility.getFullAXTree", self.session)
            found[:] = [
                node["backendDOMNodeId"]
                for node in tree["nodes"]
                if node.get("role", {}).get("value") == "button" and node.get("name", {}).get("value") == name
            ]
            return bool(found)

        await until(is_there)
        box = await self.browser.sends("DOM.getBoxModel", self.session, backendNodeId=found[0])
        corners: list[float] = box["model"]["content"]
        where = {"x": (corners[0] + corners[2]) / 2, "y": (corners[1] + corners[5]) / 2}
        # The question takes no click that was begun before it could be read.
        await asyncio.sleep(1)
        for kind in ("mousePressed", "mouseReleased"):
            await self.browser.sends(
                "Input.dispatchMouseEvent", self.session, type=kind, button="left", clickCount=1, **where
            )

    async def goes_to(self, url: str) -> None:
        """Follow an address."""
        await self.browser.sends("Page.navigate", self.session, url=url)

    async def goes_back(self) -> None:
        """Press Back."""
        await self.evaluates("history.back()")


PORT_FILE: Final = "DevToolsActivePort"


@asynccontextmanager
async def plain_browser(profile: Path) -> AsyncGenerator[PlainBrowser]:
    """Run one with a profile of its own."""
    command = [chromium(), "--headless=new", *FLAGS, "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    process = await asyncio.create_subprocess_exec(*command, "about:blank", stdout=DEVNULL, stderr=DEVNULL)
    try:
        port_file = profile / PORT_FILE
        await until(lambda: port_file.exists() and len(port_file.read_text().splitlines()) == 2)
        port, path = port_file.read_text().splitlines()
        async with connect(f"ws://127.0.0.1:{port}{path}", max_size=None, compression=None) as socket:
            browser = PlainBrowser(socket)
            listening = asyncio.create_task(browser.listen())
            yield browser
            await browser.sends("Browser.close")
            await listening
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
