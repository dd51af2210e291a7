"""A mini app on a page, over the socket the page really has: what its frame says, and what it hears."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from capabilities.package import Package, write_package
from gateway.domain.agent_sessions import AgentSession
from gateway.runtime.calls import TAKEN_MS
from tests.interaction.page.rig import Page, Rig
from tests.support.mini_apps import a_start, a_surface_package, a_tool

NOTES: Final = "com.example.notes"
OPEN: Final = {"type": "object"}


@dataclass(eq=False)
class Shown:
    """The app on one page, opened for an agent's call that it has answered."""

    rig: Rig
    page: Page
    instance: str
    session: AgentSession
    token: str

    async def act(self, action: str, given: dict[str, Any] | None = None, name: str = "r1", **changes: Any) -> None:
        frame = {"type": "action", "id": name, "instance": self.instance, "action": action, "input": given or {}}
        await self.page.send({**frame, **changes})

    async def reply(self, name: str = "r1") -> dict[str, Any]:
        return await self.page.receive("action_reply", id=name)

    async def say(self, what: str, **fields: Any) -> None:
        await self.page.send({"type": "app_news", "instance": self.instance, "what": what, **fields})

    async def records(self, event: str, **facts: Any) -> list[dict[str, Any]]:
        """Records that hold `facts`, once what was handed out is noted."""
        self.rig.clock.advance(TAKEN_MS)
        return await self.rig.records(event, **facts)

    async def run(self, output: Any) -> str:
        """Answer the next call of a handler in the frame."""
        tool = await self.page.receive("app", op="tool")
        await self.say("result", ref=tool["ref"], ok=True, output=output)
        await self.page.receive("ack", ref=tool["ref"])
        return tool["ref"]


def package() -> Package:
    """An app with a handler in its frame, one that writes, and a start the runtime carries."""
    draw = a_tool(
        "notes.draw", handler={"kind": "miniapp_sdk"}, readiness="app_ready", input_schema=OPEN, output_schema=OPEN
    )
    save = {**draw, "method": "notes.save", "effect": "write", "call_model": "command"}
    app = {"id": NOTES, "name": "Notes", "version": "1.0.0", "description": "Keeps notes."}
    return a_surface_package(app=app, tools=[draw, save, a_start(method="notes.start")])


async def shown(rig: Rig, **how: Any) -> Shown:
    """Install the app, and let an agent's call open it."""
    rig.files.sources[Path("/package")] = write_package(package())
    await rig.services.mini_apps.install(Path("/package"), by="test")
    await rig.services.mini_apps.enable(NOTES, by="test")
    page = await rig.page(workspace=True, **how)
    session, token = await rig.grant()
    submitted = await rig.submit(session, "notes.draw", {})
    opening = await page.receive("app", op="open")
    screen = Shown(rig, page, opening["instance"], session, token)
    await screen.say("opened")
    await screen.run({})
    await rig.outcome(submitted)
    return screen
