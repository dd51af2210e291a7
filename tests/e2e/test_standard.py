"""Standard components in a real browser: an agent asks over MCP, a person answers by pointer or keyboard, the agent hears."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Locator

from tests.e2e.house import Agent, House, Visit, Visitor, housed, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

ROOT: Final = Path(__file__).parents[2]
AXE: Final = ROOT / "surface_host" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES: Final = ROOT / "build" / "screenshots" / "standard"

OPTIONS: Final = [
    {"value": "fast", "label": "The fast way", "description": "Ten minutes, without the old orders."},
    {"value": "whole", "label": "The whole way", "description": "An hour, with everything."},
    {"value": "none", "label": "Leave it"},
]
ALL: Final[dict[str, dict[str, Any]]] = {
    "text": {"text": "I looked through the orders of this week.\nNothing is missing."},
    "markdown": {
        "markdown": "# What I found\n\n**Three** orders wait, one *urgent*:\n\n- `A-17` for Ada\n- [A-18](https://a.example)\n\n"
        "> Sent by hand last year.\n\n```\ntotal  = 3\n```\n<img src=x onerror=alert(1)>"
    },
    "status": {"label": "The report is being written", "state": "running", "detail": "About two minutes left."},
    "progress": {"label": "Orders read", "value": 37, "max": 120},
    "error": {"message": "The printer does not answer.", "detail": "It may be off."},
    "choice": {"question": "How shall I move the orders?", "options": OPTIONS},
    "confirm": {"question": "Shall I look at last year, too?", "detail": "It takes a while."},
    "input": {"question": "What shall the report be called?", "placeholder": "Report of the week", "required": True},
}


@pytest.fixture(scope="module")
async def house(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with housed(tmp_path_factory.mktemp("house")) as opened:
        yield opened


async def begun(visit: Visit, query: str = "", **options: Any) -> tuple[Visitor, Agent]:
    """A page, and an agent that may use all of `ui.`."""
    visitor = await Visitor.of(await (await visit.window(**options)).new_page())
    await visitor.page.goto(f"{visit.house.site_url}/panel{query}")
    await until(lambda: bool(visitor.received("caps_ack")))
    return visitor, await visit.agent(scope=["ui.*"])


async def shows(visitor: Visitor, agent: Agent, what: str, name: str = "q1", **content: Any) -> Locator:
    """Let the agent show something; where it is."""
    before = len(shown(visitor))
    answer = await agent.calls(f"ui_{what}", instance_id=name, **(content or ALL[what]))
    assert answer["status"] == "succeeded", answer
    await until(lambda: len(shown(visitor)) > before)
    return visitor.page.locator(f'[data-item="{shown(visitor)[-1]["item"]}"]')


def shown(visitor: Visitor) -> list[dict[str, Any]]:
    return [frame for frame in visitor.received("panel") if frame["op"] == "show"]


async def hears(agent: Agent) -> list[tuple[str, Any]]:
    """What the agent is told, once there is something."""
    told = await agent.calls("ui_events", cursor=0, wait_ms=5_000)
    return [(event["event"], event["data"]) for event in told["result"]["events"]]


async def faults(visitor: Visitor) -> list[str]:
    """What axe-core finds wrong, shadow roots included."""
    await visitor.page.evaluate(AXE.read_text())
    found = await visitor.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{rule['id']}: {spot['target']}" for rule in found["violations"] for spot in rule["nodes"]]


@pytest.mark.parametrize(
    ("variant", "width", "scheme", "query"),
    [
        ("light", 640, "light", ""),
        ("dark", 640, "dark", ""),
        ("narrow", 300, "light", ""),
        ("chinese", 420, "light", "?lang=zh"),
    ],
)
async def test_all_of_them_are_shown_and_pass_axe(
    visit: Visit, variant: str, width: int, scheme: str, query: str
) -> None:
    visitor, agent = await begun(
        visit, query, viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    for number, what in enumerate(ALL):
        item = await shows(visitor, agent, what, f"i{number}")
        await item.wait_for()
    page = visitor.page
    assert await page.locator("main img, main a").count() == 0, "an agent's words become no picture and no link"
    PICTURES.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=PICTURES / f"{variant}.png", full_page=True, animations="disabled")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert await faults(visitor) == []


async def test_a_choice_by_pointer_is_heard_once_and_is_gone_after_a_reload(visit: Visit) -> None:
    visitor, agent = await begun(visit)
    item = await shows(visitor, agent, "choice")
    await item.get_by_role("button", name="Answer").click()
    assert await item.get_by_role("status").inner_text() == "Pick one."
    await visitor.page.reload()
    await until(lambda: len(shown(visitor)) == 2)
    await item.get_by_label("The whole way").check()
    await item.get_by_role("button", name="Answer").click()
    assert await hears(agent) == [("answer", {"values": ["whole"]})]
    await item.wait_for(state="detached")
    await visitor.page.reload()
    await until(lambda: len(visitor.received("caps_ack")) == 3)
    await shows(visitor, agent, "text", "after")
    assert [frame["kind"] for frame in shown(visitor)] == ["choice", "choice", "text"]


async def test_several_are_picked_and_answered_by_keyboard_alone(visit: Visit) -> None:
    visitor, agent = await begun(visit)
    content: dict[str, Any] = {**ALL["choice"], "multiple": True, "min": 2, "max": 2}
    item = await shows(visitor, agent, "choice", **content)
    keyboard = visitor.page.keyboard
    await visitor.page.get_by_label("Note").focus()
    await keyboard.press("Tab")
    await keyboard.press("Space")
    await keyboard.press("Enter")
    assert await item.get_by_role("status").inner_text() == "Pick 2."
    await keyboard.press("Tab")
    await keyboard.press("Tab")
    await keyboard.press("Space")
    await keyboard.press("Tab")
    await keyboard.press("Space")
    assert await hears(agent) == [("answer", {"values": ["fast", "none"]})]


@pytest.mark.parametrize(("key", "says"), [("Yes", True), ("No", False)])
async def test_yes_and_no_are_keys_to_press(visit: Visit, key: str, says: bool) -> None:
    visitor, agent = await begun(visit)
    item = await shows(visitor, agent, "confirm")
    await item.get_by_role("button", name=key).press("Enter")
    assert await hears(agent) == [("answer", {"confirmed": says})]
    assert await visit.house.records("approval.opened", user=visit.user) == []


@pytest.mark.parametrize(
    ("content", "typed", "value"),
    [
        ({"kind": "text", "required": True}, "Ada, 你好", "Ada, 你好"),
        ({"kind": "number"}, "-2.5", -2.5),
    ],
)
async def test_an_input_is_answered_by_enter(visit: Visit, content: dict[str, Any], typed: str, value: Any) -> None:
    visitor, agent = await begun(visit)
    item = await shows(visitor, agent, "input", question="What?", **content)
    field = item.get_by_label("Your answer")
    await field.press("Enter")
    assert await item.get_by_role("status").inner_text() in ("Write something first.", "Write a number.")
    await field.press_sequentially(typed)
    await field.press("Enter")
    assert await hears(agent) == [("answer", {"value": value})]


async def test_lines_and_dates_are_inputs_too(visit: Visit) -> None:
    visitor, agent = await begun(visit)
    lines = await shows(visitor, agent, "input", "lines", question="What?", kind="multiline")
    await lines.get_by_label("Your answer").fill("one\ntwo")
    await lines.get_by_role("button", name="Answer").click()
    assert await hears(agent) == [("answer", {"value": "one\ntwo"})]
    day = await shows(visitor, agent, "input", "day", question="When?", kind="date")
    await day.get_by_label("Your answer").fill("2026-12-01")
    await day.get_by_role("button", name="Answer").click()
    assert (await hears(agent))[-1] == ("answer", {"value": "2026-12-01"})


async def test_what_a_script_presses_is_no_answer(visit: Visit) -> None:
    visitor, agent = await begun(visit)
    item = await shows(visitor, agent, "confirm")
    await item.evaluate("(host) => host.shadowRoot.querySelectorAll('button').forEach((button) => button.click())")
    typed = await shows(visitor, agent, "input", "q2", question="What?")
    await typed.evaluate("(host) => host.shadowRoot.querySelector('form').requestSubmit()")
    await item.get_by_role("button", name="No").click()
    assert await hears(agent) == [("answer", {"confirmed": False})]
    assert len(visitor.sent("panel_answer")) == 1


async def test_what_its_agent_takes_back_is_gone_from_the_page(visit: Visit) -> None:
    visitor, agent = await begun(visit)
    item = await shows(visitor, agent, "choice")
    await agent.calls("ui_surface_close", instance_id="q1")
    await item.wait_for(state="detached")
    assert await visit.house.records("item.closed", user=visit.user, reason="agent") != []


async def test_a_refused_answer_is_said_and_audited_and_may_be_given_again(visit: Visit) -> None:
    visitor, agent = await begun(visit)
    item = await shows(visitor, agent, "input", question="What?", max_length=3)
    field = item.get_by_label("Your answer")
    await field.evaluate("(field) => { field.maxLength = 9; }")
    await field.fill("long")
    await item.get_by_role("button", name="Answer").click()
    await until(lambda: any(frame["op"] == "refused" for frame in visitor.received("panel")))
    assert await item.get_by_role("status").inner_text() == "Your answer was not taken. Try again."
    page = visitor.received("welcome")[-1]["page"]
    assert await visit.house.records("frame.refused", peer=page, code="arguments_invalid") != []
    await field.fill("abc")
    await field.press("Enter")
    assert await hears(agent) == [("answer", {"value": "abc"})]
