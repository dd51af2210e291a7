"""Pomodoro in a real page, as seed 002 §7 tells it: an agent asks, the person looks, the gateway keeps the time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Frame

from capabilities.building import build
from capabilities.package import write_package
from capabilities.project import read_project
from capabilities.shipped import shipped
from tests.e2e.house import Agent, House, Visit, Visitor, until
from tests.e2e.plain_browser import plain_browser

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

APP: Final = "dev.ostiary.pomodoro"
SCREENSHOTS: Final = Path("build") / "screenshots"


async def install(house: House) -> None:
    """Have the app that comes along, once in a house."""
    apps = house.running.services.mini_apps
    if not any(view.app.id == APP for view in await apps.list()):
        package = house.data / "pomodoro.ostiary-app"
        package.write_bytes(write_package(build(read_project(shipped()["pomodoro"]))))
        await apps.install(package, by="test")
        await apps.enable(APP, by="test")


@dataclass
class Focus:
    """A start under way: what the agent hears of it, and its one answer."""

    call: "asyncio.Task[dict[str, Any]]"
    heard: list[str] = field(default_factory=list[str])

    async def hears(self, word: str) -> None:
        """Until the agent was told so."""
        await until(lambda: word in self.heard)

    async def status(self) -> str:
        """The one answer."""
        async with asyncio.timeout(20):
            answer = await self.call
        status: str = answer["result"]["status"]
        return status


def begin(visit: Visit, agent: Agent, minutes: int) -> Focus:
    """The agent asks for a focus."""
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async def call() -> dict[str, Any]:
        result = await agent.client.call_tool("pomodoro_start", {"minutes": minutes}, progress_callback=hear)
        assert result.structured_content is not None
        return result.structured_content

    return Focus(visit.begins(call()), heard)


@dataclass
class Scene:
    """A person, their page, and their agent."""

    visit: Visit
    tab: Visitor
    agent: Agent

    def start(self, minutes: int = 25) -> Focus:
        """The agent asks for a focus."""
        return begin(self.visit, self.agent, minutes)

    async def interrupt(self) -> str:
        """The agent interrupts."""
        answer = await self.agent.calls("pomodoro_interrupt")
        status: str = answer["result"]["status"]
        return status

    async def focusing(self, minutes: int = 25) -> Focus:
        """A focus that runs, in front."""
        focus = self.start(minutes)
        await self.tab.presses("Show")
        await focus.hears("started")
        return focus

    def faces(self) -> list[Frame]:
        """What mini apps show on the page."""
        return [frame for frame in self.tab.page.frames if frame.url == "about:srcdoc"]

    async def shows(self, word: str) -> None:
        """Until the app shows that word."""

        async def is_shown() -> bool:
            return any([await face.locator(".phase").inner_text() == word for face in self.faces()])

        await until(is_shown)

    async def records(self, event: str, **facts: Any) -> list[dict[str, Any]]:
        """Audit records of this person."""
        return await self.visit.house.records(event, user=self.visit.user, **facts)


@pytest.fixture
async def scene(visit: Visit) -> Scene:
    await install(visit.house)
    tab = await visit.opens()
    return Scene(visit, tab, await visit.agent())


async def test_it_begins_when_the_person_has_it_in_front(scene: Scene) -> None:
    focus = scene.start()
    await focus.hears("starting")
    question = await scene.tab.dialog_text()
    assert "Alice's agent wants to show you" in question
    assert "Pomodoro" in question
    assert "started" not in focus.heard
    assert await scene.records("operation.started") == []
    await scene.tab.presses("Show")
    await focus.hears("started")
    await scene.shows("Focus")
    left = (await scene.faces()[0].locator(".time").inner_text()).replace("\n", "")
    assert left in ("25:00", "24:59", "24:58")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    await scene.tab.page.screenshot(path=SCREENSHOTS / "pomodoro-focus.png")
    assert [word for word in dict.fromkeys(focus.heard) if word in ("starting", "started")] == ["starting", "started"]


async def test_it_is_complete_when_its_time_is_over(scene: Scene) -> None:
    focus = await scene.focusing(minutes=5)
    scene.visit.house.clock.leap(5 * 60_000)
    assert await focus.status() == "completed"
    await scene.shows("Well done")
    await scene.tab.page.screenshot(path=SCREENSHOTS / "pomodoro-completed.png")
    assert len(await scene.records("operation.ended", state="completed")) == 1


async def test_the_person_may_refuse(scene: Scene) -> None:
    focus = scene.start()
    await scene.tab.presses("Not now")
    assert await focus.status() == "not_started"
    assert await scene.records("operation.started") == []
    await until(lambda: scene.faces() == [])


async def test_an_agent_may_give_up_the_start(scene: Scene) -> None:
    focus = scene.start()
    await scene.tab.waits_for("alertdialog")
    assert await scene.interrupt() == "start_cancelled"
    assert await focus.status() == "not_started"
    await scene.tab.waits_until_gone("alertdialog")


async def test_an_agent_may_interrupt_the_focus(scene: Scene) -> None:
    focus = await scene.focusing()
    assert await scene.interrupt() == "interrupted"
    assert await focus.status() == "interrupted"
    await until(lambda: scene.faces() == [])
    assert await scene.interrupt() == "nothing_to_interrupt"


Leave = Callable[[Scene], Awaitable[None]]


async def _goes_back(scene: Scene) -> None:
    await scene.tab.presses("Back")


async def _closes(scene: Scene) -> None:
    await scene.tab.presses("Close Pomodoro")


@pytest.mark.parametrize(("leave", "intent"), [(_goes_back, "left_workspace"), (_closes, "closed")])
async def test_leaving_interrupts_and_is_no_call_of_an_agent(scene: Scene, leave: Leave, intent: str) -> None:
    focus = await scene.focusing()
    await leave(scene)
    assert await focus.status() == "interrupted"
    assert len(await scene.records("operation.ended", state="interrupted", cause=intent)) == 1
    assert len(await scene.records("intent.reported", intent=intent)) == 1
    assert await scene.records("call.admitted", capability="pomodoro.interrupt") == []


async def test_a_reload_goes_on_where_it_was(scene: Scene) -> None:
    focus = await scene.focusing()
    await scene.tab.page.reload()
    await scene.shows("Focus")
    assert await scene.tab.sees("alertdialog") is None
    assert not focus.call.done()
    scene.visit.house.clock.leap(25 * 60_000)
    assert await focus.status() == "completed"


async def test_a_locked_screen_goes_on(scene: Scene) -> None:
    page = scene.tab.page
    devtools: Any = await page.context.new_cdp_session(page)
    window = (await devtools.send("Target.getTargetInfo"))["targetInfo"]["browserContextId"]
    granted = {
        "permission": {"name": "idle-detection"},
        "setting": "granted",
        "origin": scene.visit.house.site_url,
        "browserContextId": window,
    }
    await devtools.send("Browser.setPermission", granted)
    await page.reload()
    await devtools.send("Emulation.setIdleOverride", {"isUserActive": True, "isScreenUnlocked": True})
    focus = await scene.focusing()
    await devtools.send("Emulation.setIdleOverride", {"isUserActive": False, "isScreenUnlocked": False})

    async def is_told() -> bool:
        return bool(await scene.records("intent.reported", intent="locked"))

    await until(is_told)
    assert not focus.call.done()
    assert await scene.records("operation.ended") == []
    assert await scene.interrupt() == "interrupted"


async def test_in_a_hidden_tab_it_is_starting_and_no_more(visit: Visit, tmp_path: Path) -> None:
    await install(visit.house)
    async with plain_browser(tmp_path) as browser:
        await browser.signs_in(visit.user, visit.house.site_url)
        tab = await browser.opens(f"{visit.house.site_url}/")
        other = await browser.opens(f"{visit.house.site_url}/elsewhere")
        await other.comes_to_front()
        await tab.becomes("hidden")

        def is_there() -> bool:
            pages = visit.house.running.services.live.world.pages_of(visit.user)
            return any(page.capabilities for page in pages)

        await until(is_there)
        focus = begin(visit, await visit.agent(), minutes=25)
        await focus.hears("starting")
        records = visit.house.records
        assert await records("operation.started", user=visit.user) == []
        await tab.comes_to_front()
        await tab.becomes("visible")
        assert "started" not in focus.heard
        await tab.presses("Show")
        await focus.hears("started")
        await other.comes_to_front()
        await tab.becomes("hidden")

        async def is_told() -> bool:
            return bool(await records("intent.reported", user=visit.user, intent="backgrounded"))

        await until(is_told)
        assert not focus.call.done()
        assert await records("operation.ended", user=visit.user) == []
