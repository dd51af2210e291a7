"""A page with a host whose gateway is a script of the test: what frames do when they are told what a test wants.

The sandbox and the bundles come from a real gateway, over the network and across origins.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playwright.async_api import ConsoleMessage, Frame, Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from capabilities.building import build
from capabilities.project import read_project
from gateway.adapters.app_files import FolderAppFiles
from gateway.asgi import server_of
from gateway.demo.scene import HOST, free_port
from gateway.domain.sandbox import bundle_address, frame_address
from surface_host.bundles import Parts, integrity_of
from tests.e2e.house import House, Visit, serving, until
from tests.support.surface_packages import surface_package

SITE: Final = "todo"
APPS: Final = Path(__file__).parents[2] / "capabilities" / "apps"


@dataclass(eq=False)
class Surfaces:
    """One tab with a host of its own, and the wire in a test's hands."""

    page: Page
    house: House
    complaints: list[str] = field(default_factory=list[str])

    @classmethod
    async def opened(cls, visit: Visit, path: str = "/frames", **options: Any) -> "Surfaces":
        """A fresh one."""
        context = await visit.window(**options)
        surfaces = cls(await context.new_page(), visit.house)
        surfaces.page.on("console", surfaces._note)
        await surfaces.goto(path)
        return surfaces

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    async def goto(self, path: str = "/frames") -> None:
        """Load the page."""
        await self.page.goto(f"{self.house.site_url}{path}")
        await self.page.wait_for_function("window.connection !== undefined")

    async def says(self, frame: dict[str, Any]) -> None:
        """Let the gateway say something."""
        await self.page.evaluate("(frame) => connection.send(frame)", frame)

    async def heard(self, kind: str = "app_news") -> list[dict[str, Any]]:
        """What the gateway heard of one kind."""
        return await self.page.evaluate("(kind) => connection.received.filter((frame) => frame.type === kind)", kind)

    async def news(self, what: str) -> list[dict[str, Any]]:
        """What it heard of frames."""
        return [frame for frame in await self.heard() if frame["what"] == what]

    async def intents(self, instance: str = "i.1") -> list[str]:
        """What the person did to one, in order."""
        return [frame["what"] for frame in await self.heard("intent") if frame["instance"] == instance]

    async def hears(self, what: str, count: int = 1) -> dict[str, Any]:
        """Wait for the last of so many."""

        async def came() -> bool:
            return len(await self.news(what)) >= count

        try:
            await until(came, seconds=20)
        except TimeoutError:
            raise TimeoutError(f"no {what}; heard {await self.heard()}; {self.complaints}") from None
        return (await self.news(what))[count - 1]

    def opening(self, instance: str = "i.1", **parts: Any) -> dict[str, Any]:
        """The frame that opens a bundle which is installed for it."""
        own = {key: parts.pop(key) for key in ("html", "css", "js") if key in parts}
        events = parts.pop("events", [])
        digest, files = surface_package(**own, events=events)
        FolderAppFiles(self.house.data).put(digest, files)
        return {
            "type": "app",
            "op": "open",
            "instance": instance,
            "app": "dev.example.probe",
            "version": "1.0.0",
            "title": "Probe",
            "surface": "main",
            "sandbox": frame_address(SITE),
            "bundle": bundle_address(digest, "main"),
            "integrity": integrity(own),
            "events": events,
            "handlers": False,
            "profile": "strict",
            "state": {},
            "revision": 0,
            "data": {},
            **parts,
        }

    async def opens_shipped(self, name: str, state: dict[str, Any], instance: str = "i.1") -> None:
        """Open the first surface of an app that ships, and bring it to the front."""
        package = build(read_project(APPS / name))
        FolderAppFiles(self.house.data).put(package.digest, package.entries())
        surface = package.manifest.surfaces[0]
        parts = {
            part: package.files[path].decode()
            for part, path in (("html", surface.html), ("css", surface.css), ("js", surface.js))
            if path is not None
        }
        named = {"app": package.manifest.app.id, "title": package.manifest.app.name, "surface": surface.id}
        before = len(await self.news("opened"))
        await self.says(
            {
                **self.opening(instance, state=state, events=surface.events),
                **named,
                "bundle": bundle_address(package.digest, surface.id),
                "integrity": integrity(parts),
            }
        )
        await self.hears("opened", before + 1)
        await self.fronts(instance)

    async def opens(self, instance: str = "i.1", **parts: Any) -> None:
        """Open one and wait until it runs."""
        before = len(await self.news("opened"))
        await self.says(self.opening(instance, **parts))
        await self.hears("opened", before + 1)

    async def fronts(self, instance: str = "i.1", agent: str = "Alice's agent") -> None:
        """Let an agent ask for the foreground and the person say yes."""
        await self.says(
            {"type": "app", "op": "foreground", "instance": instance, "agent": agent, "remaining": 60_000}
        )
        await self.page.get_by_role("button", name="Show").click()

    def inner(self, number: int = 0) -> Frame:
        """The inner document of a frame."""
        return [frame for frame in self.page.frames if frame.url == "about:srcdoc"][number]

    @property
    def outer_count(self) -> int:
        """How many outer frames the page has."""
        return len([frame for frame in self.page.frames if frame.parent_frame == self.page.main_frame])

    async def tells(self, script: str, number: int = 0) -> Any:
        """Run something in the inner document as the bundle could."""
        return await self.inner(number).evaluate(script)


def integrity(parts: dict[str, str]) -> str:
    """What the gateway would name."""
    return integrity_of(
        Parts(html=parts.get("html", "<p>hello</p>"), css=parts.get("css") or "", js=parts.get("js") or "")
    )


@dataclass(eq=False)
class Attacker:
    """Somebody else's server: it notes who comes."""

    port: int
    visits: list[str] = field(default_factory=list[str])

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.port}"

    async def waits_for_visit(self, path: str) -> bool:
        """Whether somebody came within a moment."""
        try:
            await until(lambda: any(visit.startswith(path) for visit in self.visits), seconds=1.2)
        except TimeoutError:
            return False
        return True


@asynccontextmanager
async def attacker() -> AsyncGenerator[Attacker]:
    """Run one until the block ends."""
    lurking = Attacker(free_port(0))

    async def answer(request: Request) -> Response:
        lurking.visits.append(request.url.path)
        body = "<script>parent.postMessage('mine now', '*'); parent.parent.postMessage('mine now', '*')</script>"
        return Response(body, media_type="text/html", headers={"Access-Control-Allow-Origin": "*"})

    async def socket(websocket: WebSocket) -> None:
        lurking.visits.append(websocket.url.path)
        await websocket.close()

    app = Starlette(
        routes=[WebSocketRoute("/{rest:path}", socket), Route("/{rest:path}", answer, methods=["GET", "POST"])]
    )
    async with serving(server_of(app, HOST, lurking.port, lambda: None)):
        yield lurking
