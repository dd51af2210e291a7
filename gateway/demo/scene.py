"""Sets the demo's stage in a scratch folder: configuration, gateway, site, one grant and one key."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from capabilities.building import build as build_package
from capabilities.package import write_package
from capabilities.project import read_project
from capabilities.shipped import shipped
from gateway.adapters.configuration_file import load_file
from gateway.adapters.process_lock import hold_lock
from gateway.asgi import Bounds, Server, server_of
from gateway.bootstrap import Gateway, build
from gateway.demo.site import USER, site_app
from gateway.transports.control import serve_control

HOST: Final = "127.0.0.1"

CONFIGURATION: Final = """\
version: 1
server:
  listen: "{host}:{gateway_port}"
  public_url: "{gateway}"
limits: {{{limits}}}
sites:
  todo:
    label: To-do
    address: "{site}/"
    origins: ["{site}"]
    users: [{user}]
    # Exact ids: with `todo.*` any script on the page could add actions.
    expose:
      - todo.overview
      - todo.add
      - {{id: todo.clear_completed, effect: destructive, confirm: always}}
      - pomodoro.start
      - ui.surface_open
      - ui.surface_patch
      - ui.surface_close
      - ui.events
    # Only a demo shows what nobody has looked at; elsewhere list the hashes of bundles, or sign them.
    surfaces: {{bundles: any}}
    record_limit: 20
    # Only a demo may do this: the scripted story clicks in an automated browser.
    allow_automated_approval: {automated}
# Bringing Pomodoro to the front is the person's yes; asking before that would be asking twice.
rules:
  - {{id: focus, agents: [demo-agent], capabilities: [pomodoro.*], verdict: permit}}
agents:
  demo-agent:
    label: Demo agent
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A running demo: where things are, and the agent's token."""

    gateway: Gateway
    gateway_url: str
    site_url: str
    token: str
    session: str
    folder: Path


def free_port(wanted: int) -> int:
    """`wanted` if it is free (0: any), else another free port."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError("no free port on the loopback interface")


@asynccontextmanager
async def stage(
    folder: Path, *, gateway_port: int = 0, site_port: int = 0, automated: bool, limits: str = ""
) -> AsyncGenerator[Scene]:
    """Run gateway and site until the block ends. `limits` is the inside of the file's `limits:` in flow style."""
    ports = free_port(gateway_port), free_port(site_port)
    gateway_url, site_url = (f"http://{HOST}:{port}" for port in ports)
    config = folder / "ostiary.yaml"
    config.write_text(
        CONFIGURATION.format(
            host=HOST,
            gateway_port=ports[0],
            gateway=gateway_url,
            site=site_url,
            user=USER,
            automated=str(automated).lower(),
            limits=limits,
        )
    )
    configuration = load_file(config)
    data = folder / "data"
    data.mkdir(mode=0o700, exist_ok=True)
    with hold_lock(data):
        async with build(configuration, data, file=config) as gateway:
            admin = gateway.services.admin
            grant = await admin.add_session(
                "demo-agent",
                user=USER,
                sites=["todo"],
                scope=["todo.overview", "todo.add", "todo.clear_completed", "context.read", "pomodoro.*"],
                days=1,
                by="demo",
            )
            key = await admin.add_key("todo", capabilities=["todo.*", "pomodoro.*"], days=1, by="demo")
            await _install(gateway, folder, "pomodoro")
            servers = (
                server_of(gateway.app, HOST, ports[0], gateway.stop_streams, bounds=Bounds.of(gateway.services)),
                server_of(
                    site_app(origin=site_url, gateway=gateway_url, key=key.secret), HOST, ports[1], lambda: None
                ),
            )
            async with serve_control(admin, gateway.reloader, data), _serving(*servers):
                yield Scene(
                    gateway=gateway,
                    gateway_url=gateway_url,
                    site_url=site_url,
                    token=grant.token,
                    session=grant.session.id,
                    folder=folder,
                )


async def _install(gateway: Gateway, folder: Path, name: str) -> None:
    """Offer an app that comes along, packed as its author would."""
    package = build_package(read_project(shipped()[name]))
    file = folder / package.filename
    file.write_bytes(write_package(package))
    installed = await gateway.services.mini_apps.install(file, by="demo")
    await gateway.services.mini_apps.enable(installed.app.id, by="demo")


@asynccontextmanager
async def _serving(*servers: Server) -> AsyncGenerator[None]:
    tasks = [asyncio.create_task(server.serve()) for server in servers]
    while not all(server.started for server in servers):  # noqa: ASYNC110 - uvicorn tells nobody
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        for server in servers:
            server.stop()
        await asyncio.gather(*tasks)
