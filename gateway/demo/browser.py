"""The person of the scripted story: a headless Chromium, and eyes and hands on the approval dialog.

The dialog lives in a closed shadow root, so it is found through the accessibility tree, as a screen reader would.
"""

import os
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from playwright.async_api import Browser, CDPSession, Page, async_playwright

FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NoBrowser(RuntimeError):
    """No Chromium was found."""


def chromium() -> str:
    """The system's Chromium.

    Raises:
        NoBrowser: with what to install.
    """
    found = os.environ.get("OSTIARY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise NoBrowser("no Chromium found: install the package `chromium` or set OSTIARY_CHROMIUM to its path")
    return found


@asynccontextmanager
async def browser() -> AsyncGenerator[Browser]:
    """A headless Chromium for the length of the block."""
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            yield launched
        finally:
            await launched.close()


class Person:
    """Reads the dialog and presses its buttons with a real pointer."""

    def __init__(self, page: Page, devtools: CDPSession) -> None:
        self.page = page
        self._devtools = devtools

    @classmethod
    async def at(cls, page: Page) -> "Person":
        """The person in front of `page`."""
        return cls(page, await page.context.new_cdp_session(page))

    async def nodes(self) -> list[dict[str, Any]]:
        """The accessibility tree, closed shadow roots included."""
        return (await self._asks("Accessibility.getFullAXTree"))["nodes"]

    async def _asks(self, method: str, **parameters: Any) -> dict[str, Any]:
        # Playwright types an answer as a bare dict.
        send = cast("Callable[..., Awaitable[dict[str, Any]]]", self._devtools.send)  # pyright: ignore[reportUnknownMemberType]
        return await send(method, parameters)

    async def sees(self, role: str, name: str = "") -> dict[str, Any] | None:
        """The first node of `role` whose name contains `name`."""
        for node in await self.nodes():
            if node.get("ignored") or node["role"]["value"] != role:
                continue
            if name in node.get("name", {}).get("value", ""):
                return node
        return None

    async def waits_for(self, role: str, name: str = "", *, enabled: bool = False) -> dict[str, Any]:
        """Wait until such a node is there (and enabled)."""
        for _ in range(400):
            node = await self.sees(role, name)
            if node is not None and not (enabled and _is_disabled(node)):
                return node
            await self.page.wait_for_timeout(25)
        raise TimeoutError(f"no {role} named {name!r} appeared")

    async def waits_until_gone(self, role: str, name: str = "") -> None:
        """Wait until no such node is left."""
        for _ in range(400):
            if await self.sees(role, name) is None:
                return
            await self.page.wait_for_timeout(25)
        raise TimeoutError(f"{role} named {name!r} did not go away")

    async def dialog_text(self) -> str:
        """Everything the open dialog says, in reading order."""
        dialog = await self.waits_for("alertdialog")
        nodes = {node["nodeId"]: node for node in await self.nodes()}
        words: list[str] = []
        pending = [dialog["nodeId"]]
        while pending:
            node = nodes.get(pending.pop(0))
            if node is None:
                continue
            if node.get("role", {}).get("value") == "StaticText":
                words.append(node["name"]["value"])
            pending = list(node.get("childIds", [])) + pending
        return " ".join(words)

    async def presses(self, name: str) -> None:
        """Click the button called `name` once it may be clicked."""
        node = await self.waits_for("button", name, enabled=True)
        box = await self._asks("DOM.getBoxModel", backendNodeId=node["backendDOMNodeId"])
        corners: list[float] = box["model"]["content"]
        await self.page.mouse.click((corners[0] + corners[2]) / 2, (corners[1] + corners[5]) / 2)


def _is_disabled(node: dict[str, Any]) -> bool:
    return any(p["name"] == "disabled" and p["value"].get("value") for p in node.get("properties", []))
