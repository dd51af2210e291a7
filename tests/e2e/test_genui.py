"""GenUI in a real browser, under the strictest policy: drawn, themed, fallen back and heard; nothing of it runs."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.house import House, Visit, Visitor, housed

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

ROOT: Final = Path(__file__).parents[2]
AXE: Final = ROOT / "surface_host" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES: Final = ROOT / "build" / "screenshots" / "genui"

WEATHER: Final[dict[str, Any]] = {
    "type": "weather-card",
    "props": {"city": "Beijing", "temperatureC": "22", "description": "Sunny"},
}
PLANS: Final[dict[str, Any]] = {
    "type": "action-group",
    "props": {
        "plans": [
            {"id": "plan-1", "title": "The fast way", "summary": "Ten minutes, without the old orders."},
            {
                "id": "plan-2",
                "title": "<img src=x onerror='window.ran = true'>",
                "summary": "An hour, with everything.",
            },
        ]
    },
}
CALLS: Final[list[dict[str, Any]]] = [
    {"id": "1", "name": "weather.today", "status": "completed", "result": {"city": "Beijing", "ui": WEATHER}},
    {"id": "2", "name": "plans.find", "status": "completed", "result": {"ui": PLANS}},
    {
        "id": "3",
        "name": "sales.chart",
        "status": "completed",
        "result": {"n": 1, "ui": {"type": "chart", "props": {}}},
    },
    {"id": "4", "name": "sales.broken", "status": "completed", "result": {"ui": {"type": "chart"}}},
    {"id": "5", "name": "orders.read", "status": "calling"},
]
DRAW: Final = """async (calls) => {
  const genui = await import('/dist/surface-host-genui.mjs');
  genui.registerGenuiComponent('weather-card', genui.WeatherCard);
  genui.registerGenuiComponent('action-group', genui.ActionGroup);
  window.heard = [];
  const message = document.createElement('ostiary-message');
  message.content = 'It is sunny, and there are two ways.';
  message.toolCalls = calls;
  for (const name of ['detail', 'adopt']) message.addEventListener(name, ({ detail }) => window.heard.push([name, detail]));
  document.querySelector('main').append(message);
}"""


@pytest.fixture(scope="module")
async def house(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with housed(tmp_path_factory.mktemp("house")) as opened:
        yield opened


async def drawn(visit: Visit, query: str = "", **options: Any) -> Visitor:
    visitor = await Visitor.of(await (await visit.window(reduced_motion="reduce", **options)).new_page())
    await visitor.page.goto(f"{visit.house.site_url}/panel{query}")
    await visitor.page.evaluate(DRAW, CALLS)
    return visitor


@pytest.mark.parametrize(
    ("variant", "width", "scheme", "query"),
    [("light", 640, "light", ""), ("dark", 640, "dark", ""), ("narrow", 280, "light", "?lang=zh")],
)
async def test_a_message_is_drawn_and_passes_axe(
    visit: Visit, variant: str, width: int, scheme: str, query: str
) -> None:
    page = (await drawn(visit, query, viewport={"width": width, "height": 900}, color_scheme=scheme)).page
    PICTURES.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=PICTURES / f"{variant}.png", full_page=True, animations="disabled")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.evaluate(AXE.read_text())
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [(r["id"], s["target"]) for r in found["violations"] for s in r["nodes"]] == []


async def test_a_page_hears_what_is_pressed_and_nothing_of_it_runs(visit: Visit) -> None:
    page = (await drawn(visit)).page
    await page.get_by_role("button", name="Beijing").press("Enter")
    await page.get_by_role("button", name="Adopt: The fast way").click()
    assert await page.evaluate("window.heard") == [["detail", "Beijing"], ["adopt", "plan-1"]]
    assert await page.evaluate("window.ran") is None
    assert await page.locator("details p", has_text="no component `chart`").count() == 1
