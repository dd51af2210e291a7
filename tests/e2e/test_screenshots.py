"""Pictures of what a person sees, for the README and for eyes: `build/screenshots/`.

Each is taken of a state the test has checked, so a picture cannot show what is not there.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.house import House, Visit, Visitor, housed

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

FOLDER: Final = Path(__file__).parents[2] / "build" / "screenshots"
SHARP: Final[dict[str, Any]] = {
    "device_scale_factor": 2,
    "viewport": {"width": 760, "height": 760},
    "reduced_motion": "reduce",
}

REPORT = """{
  id: 'files.save', title: 'Save a report', effect: 'write', confirm: 'always',
  description: 'Writes the report to the team folder and tells everyone who follows it.',
  inputSchema: { type: 'object' }, handler: () => null,
}"""

LONG: Final = {
    "path": "reports/2026/quarter-3/summary.md",
    "text": "# Summary of the third quarter\n\n"
    + "Orders grew in every region, most of all in the north. " * 40
    + "\nEnd.",
    "followers": ["ito@example.test", "maria@example.test", "admin\u200b@example.test"],
    "options": {"overwrite": True, "notify": {"by": "mail", "delay_minutes": 15}},
}

CHINESE: Final = """{
  id: 'mail.send', title: '发送邮件', effect: 'write', confirm: 'always',
  description: '以您的名义发送一封邮件，收件人会立即收到。',
  inputSchema: { type: 'object' }, handler: () => null,
}"""


@pytest.fixture(scope="module")
async def house(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """One with the default time to decide, so that the pictures show what people see."""
    async with housed(tmp_path_factory.mktemp("house"), approval_ms=120_000) as opened:
        yield opened


async def saves(person: Visitor, name: str) -> None:
    """One picture, with nothing moving in it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    await person.page.mouse.move(1, 1)
    await person.page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_dialog(visit: Visit, scheme: str) -> None:
    person = await visit.opens(color_scheme=scheme, **SHARP)
    agent = await visit.agent()
    visit.begins(agent.calls("todo_add", text="Water the plants before Ms. Ito is back on Friday"))
    await person.may_decide()
    assert "Water the plants" in await person.dialog_text()
    assert "About 2 min left" in await person.dialog_text()
    await saves(person, f"approval-{scheme}")


async def test_the_dialog_with_long_arguments(visit: Visit) -> None:
    person, agent = await visit.opens(**SHARP), await visit.agent()
    await person.offers(REPORT)
    visit.begins(agent.calls("gateway_invoke", capability="files.save", arguments=LONG))
    await person.may_decide()
    assert "Show all" in await person.dialog_text()
    await saves(person, "approval-long-arguments")


async def test_the_dialog_in_chinese(visit: Visit) -> None:
    person, agent = await visit.opens("/?lang=zh", **SHARP), await visit.agent()
    await person.offers(CHINESE)
    arguments = {"收件人": "伊藤女士", "主题": "周五的会议室", "正文": "会议室已预订在三楼，请于上午十点前到达。"}
    visit.begins(agent.calls("gateway_invoke", capability="mail.send", arguments=arguments))
    await person.waits_for("button", "批准", enabled=True)
    told = await person.dialog_text()
    assert "智能体请求进行更改" in told
    assert all(name in told and value in told for name, value in arguments.items())
    await saves(person, "approval-chinese")


async def test_the_badge_with_its_panel_open(visit: Visit) -> None:
    person, agent = await visit.opens(**SHARP), await visit.agent()
    assert (await agent.calls("todo_overview"))["status"] == "succeeded"
    call = visit.begins(agent.calls("todo_add", text="Water the plants"))
    await person.presses("Approve")
    await call
    call = visit.begins(agent.calls("todo_clear_completed"))
    await person.presses("Deny")
    await call
    visit.begins(agent.calls("todo_add", text="Call the plumber"))
    await person.may_decide()
    await person.page.keyboard.press("Escape")
    await person.presses("Ostiary")
    await person.presses("Agents work in this tab")
    for role, name in (("button", "Review"), ("button", "Allow asking again"), ("button", "Disconnect")):
        await person.waits_for(role, name)
    # The words about prompts that ended go by themselves.
    await person.waits_until_gone("StaticText", "Denied:")
    await saves(person, "badge")


async def test_the_demo_page(visit: Visit) -> None:
    person, agent = await visit.opens(viewport={"width": 1280, "height": 800}), await visit.agent()
    await agent.calls("todo_overview")
    await person.waits_for("button", "Alice's agent")
    await saves(person, "demo-page")
