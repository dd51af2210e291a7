"""A gateway with an app centre and the machine below it, for tests of installed apps."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from capabilities.contract import AgentTools, CallModel, Effect, agent_tools, python_tool
from capabilities.package import Package, write_package
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.mini_apps import MiniApp
from gateway.runtime.app_shelf import AppView
from gateway.runtime.mini_apps import MiniApps
from gateway.runtime.ports import Clock, Workers
from gateway.testing import FakeAppProbe, FakeClock, FakeWorkers, MemoryAppFiles, MemoryStore
from tests.support.mini_apps import TEXT, a_package, a_python_app, a_tool
from tests.unit.runtime.rig import Rig, running

APP: Final = "com.example.notes"


@dataclass(eq=False)
class Centre:
    """A gateway with an app centre, and the machine below it, which outlives a restart."""

    store: MemoryStore = field(default_factory=MemoryStore)
    clock: FakeClock = field(default_factory=FakeClock)
    files: MemoryAppFiles = field(default_factory=MemoryAppFiles)
    probe: FakeAppProbe = field(default_factory=FakeAppProbe)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    rig: Rig = field(init=False)
    workers: FakeWorkers = field(init=False)

    @asynccontextmanager
    async def open(self, **changes: Any) -> AsyncGenerator["Centre"]:
        """Run it until the block ends."""
        self.workers = FakeWorkers(self.clock, {APP: self._tools()})
        async with running(
            self.store, self.clock, files=self.files, workers=self._hire, probe=self.probe, **changes
        ) as self.rig:
            yield self

    def _hire(self, _: Clock) -> Workers:
        return self.workers

    def _tools(self) -> AgentTools:
        async def echo(arguments: dict[str, Any], _: Any) -> dict[str, Any]:
            if arguments["text"] == "wait":
                await self.release.wait()
            return {"text": arguments["text"]}

        tool = python_tool(
            "notes.echo",
            echo,
            title="Echo",
            description="Echoes.",
            input=TEXT,
            output=TEXT,
            effect=Effect.READ,
            call_model=CallModel.QUERY,
        )
        return agent_tools(app=APP, name="Notes", version="1.0.0", description="Notes.", tools=[tool])

    @property
    def apps(self) -> MiniApps:
        """The use cases under test."""
        return self.rig.services.mini_apps

    def lay(self, package: Package) -> Path:
        """Put the file of a package where somebody can name it."""
        path = Path("/packages") / package.filename
        self.files.sources[path] = write_package(package)
        return path

    async def install(self, package: Package | None = None, *, enable: bool = True, **how: Any) -> Package:
        package = package or a_version()
        await self.apps.install(self.lay(package), by="test")
        if enable:
            await self.apps.enable(package.manifest.app.id, by="test", **how)
        return package

    async def upgrade(self, package: Package) -> AppView:
        return await self.apps.upgrade(self.lay(package), by="test")

    async def listed(self, session: AgentSession) -> list[str]:
        return list(self.rig.services.inventories.snapshot(session).entries)

    async def grant(self) -> AgentSession:
        return await self.rig.grant(scope=["notes.*", "todo.*"])

    async def refused(self, doing: Any) -> ErrorCode:
        with pytest.raises(GatewayError) as caught:
            await doing
        return caught.value.code

    async def row(self) -> MiniApp:
        found = await self.store.run(lambda tx: tx.mini_apps.find(APP))
        assert found is not None
        return found


def a_version(version: str = "1.0.0", *, app: str = APP, **tool: Any) -> Package:
    about = {"id": app, "name": "Notes", "version": version, "description": "Keeps notes."}
    return a_package(a_python_app(app=about, tools=[a_tool(**tool)]))
