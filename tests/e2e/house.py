"""A gateway, a site and visitors: what the tests in a real browser stand on.

The site is the demo's page under a strict content policy; each test has a user of its own, so that nothing of one
test reaches another. People click with a real pointer and read through the accessibility tree (`Person`).
"""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import Browser, BrowserContext, Page, WebSocket
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from capabilities.registry import HOST as HOST_PACK
from gateway.adapters.clock import SystemClock
from gateway.adapters.configuration_file import load_file
from gateway.asgi import Server, server_of
from gateway.bootstrap import Gateway, build
from gateway.demo.browser import Person
from gateway.demo.scene import HOST, free_port
from gateway.demo.site import PAGE
from surface_host import asset_root
from tests.support.toxic_proxy import ToxicProxy

PATIENCE: Final = 10.0

T = TypeVar("T")

CONFIGURATION: Final = """\
version: 1
server:
  listen: "{host}:{gateway_port}"
  public_url: "{gateway}"
limits:
  calls_per_minute: 10000
  calls_burst: 10000
  argument_bytes: 262144
  approval_ms: {approval_ms}
sites:
  todo:
    label: To-do
    address: "{site}/"
    origins: ["{site}"]
    users: any
    expose:
      - todo.overview
      - todo.add
      - {{id: todo.clear_completed, effect: destructive, confirm: always}}
      - lab.*
      - mail.*
      - files.*
      - pomodoro.start
      - board.*
      - app.open_url
      - clipboard.write
      - device.pick_file
      - artifact.save
      - notification.show
      - ui.*
    allow_automated_approval: true
  inner:
    label: Page helper
    address: "{site}/inner"
    origins: ["{site}"]
    users: any
    expose: [todo.overview, todo.add]
    in_page_agent: {{scope: [todo.overview, todo.add, context.read]}}
    allow_automated_approval: true
rules:
  - {{id: focus, agents: [alice], capabilities: [pomodoro.*], verdict: permit}}
  - {{id: board, agents: [alice], capabilities: [board.add], verdict: permit}}
agents:
  alice: {{label: Alice's agent}}
  bob: {{label: Bob's agent}}
"""

FRAMES_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Frames</title>
<link rel="stylesheet" href="/style.css"><body><main><h1>A page of the site</h1><p><label>Note <input id="note"></label></p>
__BODY__</main><script type="module" src="/frames.js"></script></body></html>"""

PANEL_SCRIPT: Final = """import { createOpenHost } from '/dist/testing.mjs';
import { mountStandard } from '/dist/surface-host-standard.mjs';
const shown = new Map();
const place = document.querySelector('main');
const getTicket = async () => (await (await fetch('/ticket/todo', { method: 'POST' })).json()).ticket;
window.refused = [];
window.host = createOpenHost({ gateway: '__GATEWAY__', site: 'todo', getTicket, badge: false }, (frame, send) => {
  const { item, op } = frame;
  if (op === 'show' && !shown.has(item)) {
    const answer = (answer) => send({ type: 'panel_answer', item, answer });
    shown.set(item, mountStandard(place, frame, answer, { mode: 'open', lang: document.documentElement.lang }));
  } else if (op === 'close') {
    shown.get(item)?.destroy();
    shown.delete(item);
  } else if (op === 'refused') {
    window.refused.push(frame.code);
    shown.get(item)?.refused(frame.code);
  }
});
"""
"""A page that shows standard components one below the other, on a real gateway."""

FRAMES_SCRIPT: Final = """import { createTestHost } from '/dist/testing.mjs';
const { host, gateway } = createTestHost({ gateway: '__GATEWAY__', site: 'todo' });
Object.assign(window, { host, gateway, connection: await gateway.connection() });
"""
"""Pages whose host speaks with a gateway in the page's own memory."""

OFFERS: Final = ("todo.*", "lab.*", "mail.*", "files.*", "pomodoro.*", "board.*", "ui.*", *HOST_PACK)
SCOPE: Final = (
    "todo.overview",
    "todo.add",
    "todo.clear_completed",
    "lab.*",
    "mail.*",
    "files.*",
    "context.read",
    "pomodoro.*",
    "board.*",
    *HOST_PACK,
)


class LeapingClock(SystemClock):
    """The wall clock, and a test may put it forward."""

    def __init__(self) -> None:
        self._ahead = 0

    def now(self) -> int:
        return super().now() + self._ahead

    def leap(self, ms: int) -> None:
        """Let `ms` pass at once. Sleepers notice within a second."""
        self._ahead += ms


# ---- the house ------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class House:
    """Where things are. `gateway` is the running one; a test of restarts puts another there."""

    gateway_url: str
    """What pages are told; `gateway_port` is where it listens."""
    gateway_port: int
    site_url: str
    config: Path
    data: Path
    clock: LeapingClock
    keys: dict[str, str] = field(default_factory=dict[str, str])
    _gateway: Gateway | None = None
    _task: "asyncio.Task[None] | None" = None
    _leave: asyncio.Event = field(default_factory=asyncio.Event)
    _users: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def running(self) -> Gateway:
        """The gateway, which runs."""
        assert self._gateway is not None
        return self._gateway

    def new_user(self) -> str:
        """Somebody no other test knows."""
        return f"user{next(self._users)}"

    async def start_gateway(self) -> None:
        """Run a gateway over the house's data, in a task of its own: a test may end it at any time."""
        is_up, self._leave = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._run_gateway(is_up, self._leave))
        await until(lambda: is_up.is_set() or self.task.done())

    async def stop_gateway(self) -> None:
        """End it as a signal would."""
        self._leave.set()
        await self.task

    async def _run_gateway(self, is_up: asyncio.Event, leave: asyncio.Event) -> None:
        async with build(load_file(self.config), self.data, clock=self.clock) as gateway:
            self._gateway = gateway
            async with serving(server_of(gateway.app, HOST, self.gateway_port, gateway.stop_streams)):
                is_up.set()
                await leave.wait()
        self._gateway = None

    @property
    def task(self) -> "asyncio.Task[None]":
        """The one the gateway runs in."""
        assert self._task is not None
        return self._task

    @asynccontextmanager
    async def open_site(self) -> AsyncGenerator[None]:
        """Run the site; its keys outlive the gateway."""
        port = int(self.site_url.rpartition(":")[2])
        app = site_app(self)
        async with serving(server_of(app, HOST, port, lambda: None)):
            yield

    async def records(self, event: str, **facts: Any) -> list[dict[str, Any]]:
        """Facts of the audit records of `event` that hold `facts`."""
        tail = await self.running.services.admin.audit_tail(limit=1000)
        return [dict(r.facts) for r in tail if r.event == event and facts.items() <= dict(r.facts).items()]


@asynccontextmanager
async def housed(
    folder: Path, *, approval_ms: int = 60_000, between: ToxicProxy | None = None
) -> AsyncGenerator[House]:
    """Run gateway and site in `folder` until the block ends, with `between` before the gateway."""
    ports = free_port(0), free_port(0)
    gateway_url, site_url = (f"http://{HOST}:{port}" for port in ports)
    if between is not None:
        between.gateway, gateway_url = ports[0], f"http://{HOST}:{between.port}"
    config, data = folder / "ostiary.yaml", folder / "data"
    config.write_text(
        CONFIGURATION.format(
            host=HOST, gateway_port=ports[0], gateway=gateway_url, site=site_url, approval_ms=approval_ms
        )
    )
    data.mkdir(mode=0o700)
    house = House(gateway_url, ports[0], site_url, config, data, LeapingClock())
    await house.start_gateway()
    for site in ("todo", "inner"):
        key = await house.running.services.admin.add_key(site, capabilities=list(OFFERS), days=1, by="test")
        house.keys[site] = key.secret
    async with house.open_site():
        yield house
        await house.stop_gateway()


@asynccontextmanager
async def serving(server: Server) -> AsyncGenerator[None]:
    """Serve until the block ends."""
    task = asyncio.create_task(server.serve())
    await until(lambda: server.started or task.done())
    try:
        yield
    finally:
        server.stop()
        await task


def site_app(house: House) -> Starlette:
    """The demo's page, for whoever the cookie names; `/inner` is a page of the site with an in-page client."""
    origin, gateway = house.site_url, house.gateway_url
    policy = (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; "
        f"script-src 'self' {gateway}; connect-src 'self' {gateway} {gateway.replace('http', 'ws', 1)}; "
        f"frame-src {gateway}/sandbox/; "
        "base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
    )

    def page(name: str, site: str, lang: str) -> str:
        text = (PAGE / name).read_text().replace("__GATEWAY__", gateway)
        return text.replace('data-site="todo"', f'data-site="{site}"').replace('lang="en"', f'lang="{lang}"')

    def asset(name: str, kind: str, site: str = "todo") -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            text = page(name, site, request.query_params.get("lang", "en"))
            return Response(text.replace("/ostiary/ticket", f"/ticket/{site}"), media_type=kind, headers=headers)

        return answer

    async def ticket(request: Request) -> Response:
        async with httpx.AsyncClient() as client:
            answer = await client.post(
                f"{gateway}/v1/host-tokens",
                headers={"Authorization": f"Bearer {house.keys[request.path_params['site']]}"},
                json={"user": request.cookies["user"], "origin": origin},
            )
        return JSONResponse(answer.json(), status_code=answer.status_code)

    async def frames(request: Request) -> Response:
        refused = "unframed" in request.query_params
        own = policy.replace(f"frame-src {gateway}/sandbox/", "frame-src 'none'") if refused else policy
        text = FRAMES_PAGE.replace("__BODY__", request.query_params.get("body", ""))
        return Response(text, media_type="text/html", headers={"Content-Security-Policy": own})

    async def frames_script(_: Request) -> Response:
        return Response(FRAMES_SCRIPT.replace("__GATEWAY__", gateway), media_type="text/javascript", headers=headers)

    async def built(request: Request) -> Response:
        body = (asset_root() / request.path_params["name"]).read_bytes()
        return Response(body, media_type="text/javascript", headers=headers)

    async def elsewhere(_: Request) -> Response:
        return Response("<!doctype html><title>Elsewhere</title>", media_type="text/html")

    async def nothing(_: Request) -> Response:
        return Response(status_code=204)

    async def unavailable(_: Request, __: Exception) -> Response:
        return JSONResponse({"error": "the gateway is away"}, status_code=502)

    headers = {"Content-Security-Policy": policy}
    return Starlette(
        routes=[
            Route("/", asset("index.html", "text/html")),
            Route("/inner", asset("index.html", "text/html", "inner")),
            Route("/style.css", asset("style.css", "text/css")),
            Route("/app.js", asset("app.js", "text/javascript")),
            Route("/elsewhere", elsewhere),
            Route("/frames", frames),
            Route("/frames.js", frames_script),
            *panel_routes(gateway, headers),
            Route("/dist/{name}", built),
            Route("/ticket/{site}", ticket, methods=["POST"]),
            Route("/favicon.ico", nothing),
        ],
        exception_handlers={httpx.TransportError: unavailable},
    )


def panel_routes(gateway: str, headers: Mapping[str, str]) -> list[Route]:
    """The page that shows standard components, in the language its query names."""

    async def page(request: Request) -> Response:
        text = FRAMES_PAGE.replace("__BODY__", "").replace("/frames.js", "/panel.js").replace(">Frames<", ">Panel<")
        text = text.replace('lang="en"', f'lang="{request.query_params.get("lang", "en")}"')
        return Response(text, media_type="text/html", headers=headers)

    async def script(_: Request) -> Response:
        return Response(PANEL_SCRIPT.replace("__GATEWAY__", gateway), media_type="text/javascript", headers=headers)

    return [Route("/panel", page), Route("/panel.js", script)]


# ---- who comes to it ------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Socket:
    """What went over one connection of a page."""

    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    received: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def watch(self, socket: WebSocket) -> None:
        """Note every frame from now on."""
        socket.on("framesent", lambda text: self.sent.append(json.loads(text)))
        socket.on("framereceived", lambda text: self.received.append(json.loads(text)))


class Visitor(Person):
    """A person in front of one tab, with the wire in view."""

    sockets: list[Socket]
    _barriers = 0

    @classmethod
    async def of(cls, page: Page) -> "Visitor":
        """Begin before the page is loaded."""
        visitor = cls(page, await page.context.new_cdp_session(page))
        visitor.sockets = []
        page.on("websocket", visitor._note)
        return visitor

    def _note(self, socket: WebSocket) -> None:
        noted = Socket()
        noted.watch(socket)
        self.sockets.append(noted)

    def sent(self, kind: str) -> list[dict[str, Any]]:
        """Frames of `kind` the tab sent."""
        return [frame for socket in self.sockets for frame in socket.sent if frame["type"] == kind]

    def received(self, kind: str) -> list[dict[str, Any]]:
        """Frames of `kind` the tab got."""
        return [frame for socket in self.sockets for frame in socket.received if frame["type"] == kind]

    def accepted(self) -> set[str]:
        """What the gateway took of the newest connection's offers."""
        acks = [f for socket in self.sockets[-1:] for f in socket.received if f["type"] == "caps_ack"]
        return set(acks[-1]["accepted"]) if acks else set()

    async def offers(self, action: str) -> None:
        """Let the page register `action`, an object in JavaScript, and wait until the gateway has it."""
        before = len(self.received("caps_ack"))
        await self.page.evaluate(f"window.Ostiary.queue.push((host) => {{ host.register({action}); }})")
        await until(lambda: len(self.received("caps_ack")) > before)

    async def decisions(self) -> list[str]:
        """What the page told the gateway of this person's answers so far.

        Frames keep their order on the wire: what was said before a new offer is known when that is acknowledged.
        """
        self._barriers += 1
        await self.offers(
            f"{{ id: 'lab.barrier', description: '{self._barriers}', inputSchema: {{ type: 'object' }}, handler: () => 0 }}"
        )
        return [frame["decision"] for frame in self.sent("decision")]

    async def rows(self) -> list[str]:
        """The tasks on the page."""
        return await self.page.locator("#list li span").all_inner_texts()

    async def asked(self, count: int = 1) -> dict[str, Any]:
        """The newest approval payload, once there were `count`."""
        await until(lambda: len(self.received("approve_request")) >= count)
        return json.loads(self.received("approve_request")[-1]["payload"])

    async def focused(self) -> str:
        """The name of what has the focus."""
        for node in await self.nodes():
            flags = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
            if flags.get("focused") and node["role"]["value"] not in ("RootWebArea", "alertdialog"):
                return node.get("name", {}).get("value", "")
        return ""

    async def tabs_to(self, name: str) -> None:
        """Move the focus there by keyboard."""
        for _ in range(30):
            if await self.focused() == name:
                return
            await self.page.keyboard.press("Tab")
        raise TimeoutError(f"no way to {name!r} by keyboard")

    async def middle_of(self, node: dict[str, Any]) -> tuple[float, float]:
        """Where to point at it."""
        devtools: Any = self._devtools  # its types are open
        box = await devtools.send("DOM.getBoxModel", {"backendNodeId": node["backendDOMNodeId"]})
        corners = box["model"]["content"]
        return (corners[0] + corners[2]) / 2, (corners[1] + corners[5]) / 2

    async def may_decide(self) -> None:
        """Wait until the dialog takes answers."""
        await self.waits_for("button", "Approve", enabled=True)

    async def dialog_is_gone(self) -> None:
        """Wait until nothing is asked on the screen."""
        await self.waits_until_gone("alertdialog")


@dataclass(eq=False)
class Agent:
    """A real MCP client with a session of its own."""

    client: Client
    token: str
    session: str

    async def calls(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; its structured answer."""
        result = await self.client.call_tool(tool, arguments)
        answer: dict[str, Any] = result.structured_content or json.loads(result.content[0].text)  # type: ignore[union-attr]
        return {"is_error": bool(result.is_error), **answer}


@dataclass(eq=False)
class Visit:
    """One test's user: their tabs, the agents of theirs, and everything to close afterwards."""

    house: House
    browser: Browser
    user: str
    stack: AsyncExitStack
    _tasks: list["asyncio.Task[Any]"] = field(default_factory=list["asyncio.Task[Any]"])

    async def window(self, **options: Any) -> BrowserContext:
        """A browser profile in which this user is signed in."""
        context = await self.browser.new_context(**options)
        self.stack.push_async_callback(context.close)
        await context.add_cookies([{"name": "user", "value": self.user, "url": self.house.site_url}])
        return context

    async def opens(self, path: str = "/", *, init: str | None = None, **options: Any) -> Visitor:
        """Open the page in a window of its own, connected and with its actions known."""
        context = await self.window(**options)
        if init is not None:
            await context.add_init_script(init)
        visitor = await Visitor.of(await context.new_page())
        await visitor.page.goto(f"{self.house.site_url}{path}")
        await until(lambda: bool(visitor.sockets and visitor.accepted()))
        return visitor

    async def agent(self, name: str = "alice", *, site: str = "todo", scope: Sequence[str] = SCOPE) -> Agent:
        """An agent of this user, connected."""
        granted = await self.house.running.services.admin.add_session(
            name, user=self.user, sites=[site], scope=list(scope), days=1, by="test"
        )
        return await self.connects(granted.token, granted.session.id)

    async def connects(self, token: str, session: str) -> Agent:
        """A client with that token."""
        connected: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        is_over = asyncio.Event()

        async def keep() -> None:
            async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
                url = f"http://{HOST}:{self.house.gateway_port}/mcp"
                async with Client(streamable_http_client(url, http_client=http)) as client:
                    connected.set_result(client)
                    await is_over.wait()

        # A task of its own: when its line breaks the SDK's client cancels the task that opened it, not the test.
        keeping = asyncio.create_task(keep())

        async def leave() -> None:
            is_over.set()
            await asyncio.gather(keeping, return_exceptions=True)

        self.stack.push_async_callback(leave)
        await asyncio.wait({keeping, connected}, return_when=asyncio.FIRST_COMPLETED)
        if not connected.done():
            await keeping
        return Agent(connected.result(), token, session)

    def begins(self, call: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Let a call wait in the background."""
        task = asyncio.create_task(call)
        self._tasks.append(task)
        return task

    async def close(self) -> None:
        """End what still waits, then everything else."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.stack.aclose()


async def until(holds: Callable[[], Any] | Callable[[], Awaitable[Any]], seconds: float = PATIENCE) -> None:
    """Wait until `holds` does."""
    async with asyncio.timeout(seconds):
        while True:
            found = holds()
            if (await found) if isinstance(found, Awaitable) else found:
                return
            await asyncio.sleep(0.01)
