"""The surfaces that ship, in their frames: what they show, what they tell, and pictures for eyes."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.frames import Surfaces
from tests.e2e.house import Visit, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

FOLDER: Final = Path(__file__).parents[2] / "build" / "screenshots"
SHARP: Final[dict[str, Any]] = {
    "device_scale_factor": 2,
    "viewport": {"width": 900, "height": 760},
    "reduced_motion": "reduce",
}
MINUTE: Final = 60_000


async def saves(tab: Surfaces, name: str) -> None:
    """One picture, with nothing moving in it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    await tab.page.mouse.move(1, 1)
    await tab.page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")


def state(phase: str, remaining_ms: int = 0, total_ms: int = 0) -> dict[str, Any]:
    return {"phase": phase, "remaining_ms": remaining_ms, "total_ms": total_ms}


async def shows(tab: Surfaces, **projection: Any) -> None:
    await tab.says({"type": "app", "op": "state", "instance": "i.1", "state": projection})


async def reads(tab: Surfaces, selector: str) -> str:
    return await tab.tells(f"document.querySelector('{selector}').textContent")


# ---- Pomodoro


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_pomodoro_shows_the_time_that_is_left(visit: Visit, scheme: str) -> None:
    tab = await Surfaces.opened(visit, color_scheme=scheme, **SHARP)
    await tab.opens_shipped("pomodoro", state("starting"))
    await until(lambda: _reads(tab, ".phase", "Getting ready"))
    await shows(tab, **state("running", 17 * MINUTE + 42_000, 25 * MINUTE))
    await until(lambda: _reads(tab, ".phase", "Focus"))
    assert await reads(tab, ".time") in ("17:42", "17:41")
    assert (await reads(tab, ".until")).startswith("until ")
    await saves(tab, f"pomodoro-{scheme}")


async def _reads(tab: Surfaces, selector: str, text: str) -> bool:
    return await reads(tab, selector) == text


async def test_pomodoro_counts_by_itself_and_ends_only_when_it_is_told(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens_shipped("pomodoro", state("running", 1_500, 25 * MINUTE))
    await until(lambda: _reads(tab, ".time", "00:00"))
    assert await reads(tab, ".phase") == "Focus"
    await shows(tab, **state("completed", 0, 25 * MINUTE))
    await until(lambda: _reads(tab, ".phase", "Well done"))
    assert await reads(tab, ".until") == "25 min of focus"


async def test_pomodoro_shows_what_was_left_of_a_focus_that_was_stopped(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, **SHARP)
    await tab.opens_shipped("pomodoro", state("interrupted", 4 * MINUTE, 25 * MINUTE))
    await until(lambda: _reads(tab, ".phase", "Stopped early"))
    assert await reads(tab, ".time") == "04:00"
    await saves(tab, "pomodoro-interrupted")


@pytest.mark.parametrize("phase", ["expired", "failed", "cancelled", "unknown", "of another version"])
async def test_pomodoro_takes_every_end_for_one(visit: Visit, phase: str) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens_shipped("pomodoro", state(phase))
    await until(lambda: _reads(tab, ".phase", "Over"))


async def test_pomodoro_has_nothing_to_press_and_fits_its_frame(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, viewport={"width": 380, "height": 760})
    await tab.opens_shipped("pomodoro", state("running", 5 * MINUTE, 25 * MINUTE))
    assert await tab.tells("document.querySelectorAll('button, a, input, [tabindex]').length") == 0
    await until(lambda: _fits(tab))
    tree = await tab.inner().locator("main").aria_snapshot()
    assert "timer" in tree
    assert "status: Focus" in tree


async def _fits(tab: Surfaces) -> bool:
    return await tab.tells(
        "document.documentElement.scrollHeight <= innerHeight && document.documentElement.scrollWidth <= innerWidth"
    )


# ---- the canvas

PICTURE: Final = {
    "title": "Release plan",
    "shapes": [
        {
            "type": "rect",
            "x": 90,
            "y": 120,
            "width": 240,
            "height": 130,
            "rx": 16,
            "fill": "#dbe7ff",
            "stroke": "#3e63dd",
            "stroke-width": 4,
        },
        {
            "type": "text",
            "x": 210,
            "y": 198,
            "text": "Build",
            "font-size": 44,
            "text-anchor": "middle",
            "fill": "#1f2d5c",
        },
        {"type": "line", "x1": 330, "y1": 185, "x2": 610, "y2": 185, "stroke": "#8b8d98", "stroke-width": 5},
        {"type": "circle", "cx": 740, "cy": 185, "r": 120, "fill": "#ddf3e4", "stroke": "#30a46c", "stroke-width": 4},
        {
            "type": "text",
            "x": 740,
            "y": 200,
            "text": "Ship",
            "font-size": 44,
            "text-anchor": "middle",
            "fill": "#18402c",
        },
    ],
}


async def draws(tab: Surfaces, *points: tuple[float, float]) -> None:
    """One stroke with the pointer; points in parts of the canvas."""
    box = await tab.inner().locator(".canvas").bounding_box()
    assert box is not None
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
    await tab.page.mouse.move(*at[0])
    await tab.page.mouse.down()
    for point in at[1:]:
        await tab.page.mouse.move(*point, steps=6)
    await tab.page.mouse.up()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_canvas_shows_the_agent_s_shapes_and_tells_the_person_s_strokes(visit: Visit, scheme: str) -> None:
    tab = await Surfaces.opened(
        visit, "/frames?body=<ostiary-workspace></ostiary-workspace>", color_scheme=scheme, **SHARP
    )
    await tab.opens_shipped("svg-canvas", PICTURE)
    await until(lambda: _count(tab, ".theirs > *", 5))
    assert (await tab.hears("event"))["event"] == "resize"
    await tab.inner().get_by_role("button", name="Red").click()
    await draws(tab, (0.3, 0.7), (0.45, 0.85), (0.7, 0.6))
    drawn = await tab.hears("event", 2)
    assert drawn["event"] == "draw"
    assert drawn["data"]["id"] == "stroke-1"
    assert drawn["data"]["stroke"] == "#e5484d"
    assert drawn["data"]["d"].startswith("M300 5")
    await saves(tab, f"svg-canvas-{scheme}")
    await tab.inner().get_by_role("button", name="Send picture").click()
    snapshot = await tab.hears("event", 3)
    assert snapshot["event"] == "snapshot"
    assert snapshot["data"]["svg"].count("<path") == 1
    assert "Build" in snapshot["data"]["svg"]


async def _count(tab: Surfaces, selector: str, count: int) -> bool:
    return await tab.tells(f"document.querySelectorAll('{selector}').length") == count


async def test_a_stroke_the_agent_took_up_is_drawn_once(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens_shipped("svg-canvas", {"shapes": []})
    await draws(tab, (0.2, 0.2), (0.5, 0.5))
    await until(lambda: _count(tab, ".mine > path", 1))
    await shows(tab, shapes=[{"type": "path", "id": "stroke-1", "d": "M0 0L9 9", "stroke": "red"}])
    await until(lambda: _count(tab, ".mine > path", 0))
    assert await _count(tab, ".theirs > path", 1)


async def test_a_shape_is_only_ever_a_shape(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    hostile = [
        {"type": "script", "text": "1"},
        {"type": "image", "href": "https://example.test/"},
        {"type": "__proto__"},
        {"type": "constructor"},
        {
            "type": "rect",
            "onclick": "1",
            "fill": "url(https://example.test/)",
            "width": "1e9",
            "x": 5,
            "style": "fill:red",
        },
        {"type": "path", "d": "M0 0 url(x)"},
        None,
        7,
    ]
    await tab.opens_shipped("svg-canvas", {"shapes": hostile, "title": 7})
    await until(lambda: _count(tab, ".theirs > *", 2))
    found = await tab.tells(
        "[...document.querySelectorAll('.theirs > *')].map((node) => node.outerHTML.replace(/ xmlns=\"[^\"]*\"/, ''))"
    )
    assert found == ['<rect x="5"></rect>', "<path></path>"]


async def test_the_canvas_is_drawn_on_by_keyboard(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens_shipped("svg-canvas", {"shapes": []})
    canvas = tab.inner().get_by_role("application", name="Canvas")
    await canvas.focus()
    for key in ("Space", "ArrowRight", "ArrowRight", "Shift+ArrowDown", "Space"):
        await tab.page.keyboard.press(key)

    async def drawn() -> bool:
        return any(frame["event"] == "draw" for frame in await tab.news("event"))

    await until(drawn)
    stroke = next(frame["data"] for frame in await tab.news("event") if frame["event"] == "draw")
    assert stroke["d"] == "M500 375L510 375L520 375L520 425"
    assert await reads(tab, ".said") == "Pen up"


async def test_a_long_stroke_comes_in_pieces_that_fit(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens_shipped("svg-canvas", {"shapes": []})
    await tab.tells(
        """() => {
          const canvas = document.querySelector('.canvas');
          canvas.setPointerCapture = () => {};
          const at = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, button: 0, pointerId: 1 }));
          at('pointerdown', 0, 0);
          for (let n = 0; n < 3000; n += 1) at('pointermove', (n * 37) % 300, (n * 53) % 200);
          at('pointerup', 0, 0);
        }"""
    )

    async def pieces() -> list[dict[str, Any]]:
        return [frame["data"] for frame in await tab.news("event") if frame["event"] == "draw"]

    async def came() -> bool:
        return len(await pieces()) == 2

    await until(came)
    found = await pieces()
    assert all(5_000 < len(piece["d"]) < 16_000 for piece in found)
    assert [piece["id"] for piece in found] == [f"stroke-{n}" for n in range(1, len(found) + 1)]


# ---- the workspace around them


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_pictures_of_the_question_and_the_workspace(visit: Visit, scheme: str) -> None:
    tab = await Surfaces.opened(visit, color_scheme=scheme, **SHARP)
    await tab.opens_shipped("pomodoro", state("running", 9 * MINUTE, 25 * MINUTE))
    await tab.hears("foregrounded")
    await tab.opens("i.2", html="<p>x</p>", js="1", title="Canvas")
    await tab.says(
        {"type": "app", "op": "foreground", "instance": "i.2", "agent": "Alice's agent", "remaining": MINUTE}
    )
    show = tab.page.get_by_role("button", name="Show")
    await show.wait_for()
    await until(show.is_enabled)
    await saves(tab, f"workspace-{scheme}")
