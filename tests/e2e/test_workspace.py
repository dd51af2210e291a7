"""The workspace: a person lets mini apps come, looks at them, leaves and closes them; with a pointer or without."""

from typing import Any, Final

import pytest
from playwright.async_api import Locator

from tests.e2e.frames import Surfaces
from tests.e2e.house import Visit, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

BOX: Final = "/frames?body=<ostiary-workspace></ostiary-workspace>"
PLAIN: Final[dict[str, Any]] = {"html": "<p>Hello from the app</p><input aria-label=inside>", "js": "1"}


def foreground(instance: str = "i.1", agent: str = "Alice's agent", remaining: int = 60_000) -> dict[str, Any]:
    return {"type": "app", "op": "foreground", "instance": instance, "agent": agent, "remaining": remaining}


async def shown(tab: Surfaces, instance: str = "i.1", **parts: Any) -> None:
    """One in front, confirmed."""
    before = len(await tab.news("foregrounded"))
    await tab.opens(instance, **{**PLAIN, **parts})
    await tab.fronts(instance)
    await tab.hears("foregrounded", before + 1)


async def focused(tab: Surfaces) -> str:
    """The name of what has the focus, through open roots."""
    return (
        await tab.page.evaluate(
            """() => {
          let at = document.activeElement;
          while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
          return at?.getAttribute('aria-label') || at?.title || at?.textContent;
        }"""
        )
        or ""
    )


def question(tab: Surfaces) -> Locator:
    return tab.page.get_by_role("alertdialog")


# ---- coming to the foreground


async def test_the_person_sees_who_wants_what_and_lets_it_come(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(**PLAIN, title="Pomodoro")
    await tab.says(foreground(agent="Eve\u202e's agent"))
    # Who asks is shown as it is, hidden characters included.
    assert "Eve\\u202e's agent wants to show you" in await question(tab).inner_text()
    assert "Pomodoro" in await question(tab).inner_text()
    assert await tab.news("foregrounded") == []
    await tab.page.get_by_role("button", name="Show").click()
    await tab.hears("foregrounded")
    assert await question(tab).count() == 0
    assert await tab.page.get_by_role("heading", name="Pomodoro").is_visible()
    assert await tab.page.locator("iframe").is_visible()


async def test_the_person_does_not_want_it(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(**PLAIN)
    await tab.says(foreground())
    await tab.page.get_by_role("button", name="Not now").click()
    await tab.hears("refused")
    assert await tab.news("foregrounded") == []
    assert not await tab.page.locator("iframe").is_visible()


async def test_a_script_of_the_page_cannot_answer(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(**PLAIN)
    await tab.says(foreground())
    for name in ("Show", "Not now"):
        button = tab.page.get_by_role("button", name=name)
        await until(lambda button=button: button.is_enabled())
        await button.evaluate("(button) => button.click()")
        await button.evaluate("(button) => button.dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    assert await tab.news("foregrounded") + await tab.news("refused") == []
    assert await question(tab).is_visible()


async def test_a_click_meant_for_the_page_does_not_land_on_the_question(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.page.clock.install()
    await tab.goto()
    await tab.opens(**PLAIN)
    await tab.page.clock.pause_at(await tab.page.evaluate("Date.now() + 1000"))
    await tab.says(foreground())
    await question(tab).wait_for()
    assert await tab.page.get_by_role("button", name="Show").is_disabled()
    await tab.page.clock.run_for(700)
    assert await tab.page.get_by_role("button", name="Show").is_enabled()


async def test_the_question_goes_with_its_time_and_with_what_it_is_about(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(**PLAIN)
    await tab.says(foreground(remaining=200))
    await question(tab).wait_for()
    await question(tab).wait_for(state="hidden")
    await tab.says(foreground())
    await question(tab).wait_for()
    await tab.says({"type": "app", "op": "close", "instance": "i.1", "reason": "cancelled"})
    await question(tab).wait_for(state="hidden")
    assert tab.outer_count == 0
    assert [frame["what"] for frame in await tab.heard()] == ["opened"]


async def test_nothing_is_confirmed_while_the_frame_cannot_be_seen(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, BOX)
    await tab.opens(**PLAIN)
    # A place that is there and has no size yet, as in a view that is still closed.
    await tab.page.add_style_tag(url=f"{visit.house.site_url}/style.css")
    await tab.page.evaluate("document.querySelector('ostiary-workspace').hidden = true")
    await tab.fronts()
    await tab.page.wait_for_timeout(300)
    assert await tab.news("foregrounded") == []
    await tab.page.evaluate("document.querySelector('ostiary-workspace').hidden = false")
    await tab.hears("foregrounded")


async def test_another_one_takes_the_place_and_the_person_is_told_so_before(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab, "i.1", title="Pomodoro")
    await tab.opens("i.2", html="<p>Second</p>", js="2", title="Canvas")
    await tab.says(foreground("i.2"))
    assert "Pomodoro is left for it." in await question(tab).inner_text()
    await tab.page.get_by_role("button", name="Show").click()
    await tab.hears("foregrounded", 2)
    assert await tab.intents("i.1") == ["left_workspace"]
    assert await tab.page.locator("iframe[title=Canvas]").is_visible()
    assert not await tab.page.locator("iframe[title=Pomodoro]").is_visible()


# ---- leaving, closing, coming back


async def test_back_leaves_it_open_in_the_background(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab, title="Pomodoro")
    await tab.page.get_by_role("button", name="Back: leave Pomodoro").click()
    await until(lambda: _intents(tab, ["left_workspace"]))
    assert tab.outer_count == 1
    await tab.page.get_by_role("button", name="Mini apps").click()
    await tab.page.get_by_role("button", name="Pomodoro", exact=True).click()
    await until(lambda: _intents(tab, ["left_workspace", "foregrounded"]))


async def test_closing_takes_the_frame_away(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab, title="Pomodoro")
    await tab.page.get_by_role("button", name="Close Pomodoro").click()
    await until(lambda: _intents(tab, ["closed"]))
    assert tab.outer_count == 0
    assert await tab.page.get_by_role("status").filter(has_text="Pomodoro was closed").count() == 1


async def test_a_loaded_document_has_in_front_what_was_in_front(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab, title="Pomodoro")
    await tab.goto()
    await tab.opens(**PLAIN, title="Pomodoro")
    await until(lambda: _intents(tab, ["restored", "foregrounded"]))
    assert await question(tab).count() == 0
    assert await tab.page.locator("iframe").is_visible()


async def test_a_locked_screen_is_told_where_the_person_allowed_it(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    devtools: Any = await tab.page.context.new_cdp_session(tab.page)
    window = (await devtools.send("Target.getTargetInfo"))["targetInfo"]["browserContextId"]
    granted = {
        "permission": {"name": "idle-detection"},
        "setting": "granted",
        "origin": visit.house.site_url,
        "browserContextId": window,
    }
    await devtools.send("Browser.setPermission", granted)
    await tab.goto()
    await devtools.send("Emulation.setIdleOverride", {"isUserActive": True, "isScreenUnlocked": True})
    await shown(tab)
    await devtools.send("Emulation.setIdleOverride", {"isUserActive": False, "isScreenUnlocked": False})
    await until(lambda: _intents(tab, ["locked"]))
    await devtools.send("Emulation.setIdleOverride", {"isUserActive": True, "isScreenUnlocked": True})
    await until(lambda: _intents(tab, ["locked", "foregrounded"]))


async def _intents(tab: Surfaces, wanted: list[str], instance: str = "i.1") -> bool:
    return await tab.intents(instance) == wanted


# ---- the page's own place


async def test_the_page_s_own_element_holds_the_frames(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, BOX)
    await shown(tab)
    box = tab.page.locator("ostiary-workspace")
    assert await box.locator("iframe").count() == 1
    assert await tab.page.evaluate("!!document.querySelector('ostiary-workspace').shadowRoot")


async def test_the_page_that_takes_its_place_away_has_left(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, BOX)
    await shown(tab)
    await tab.page.evaluate("document.querySelector('ostiary-workspace').remove()")
    await until(lambda: _intents(tab, ["left_workspace"]))
    # It is not lost: it goes on in the background, in the host's own place.
    await tab.hears("opened", 2)
    await tab.page.get_by_role("button", name="Mini apps").click()
    await tab.page.get_by_role("button", name="Probe", exact=True).click()
    await until(lambda: _intents(tab, ["left_workspace", "foregrounded"]))


async def test_the_page_that_hides_its_place_has_left(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, BOX)
    await shown(tab)
    await tab.page.evaluate("document.querySelector('ostiary-workspace').hidden = true")
    await until(lambda: _intents(tab, ["left_workspace"]))


async def test_scrolling_away_is_no_leaving(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, f"{BOX}<div id=far></div>")
    await shown(tab)
    await tab.page.evaluate(
        "document.querySelector('#far').append(...Array.from({ length: 400 }, () => document.createElement('br')))"
    )
    await tab.page.mouse.wheel(0, 5_000)
    await tab.page.wait_for_timeout(300)
    assert await tab.intents() == []


async def test_an_element_that_comes_later_is_moved_into(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab)
    await tab.page.evaluate("document.querySelector('main').append(document.createElement('ostiary-workspace'))")
    await tab.hears("opened", 2)
    assert await tab.page.locator("ostiary-workspace iframe").count() == 1
    assert "left_workspace" not in await tab.intents()


async def test_the_site_may_route_to_its_view_when_one_comes(visit: Visit) -> None:
    tab = await Surfaces.opened(visit, BOX)
    await tab.page.evaluate(
        """() => {
          const box = document.querySelector('ostiary-workspace');
          box.hidden = true;
          document.addEventListener('ostiary-foreground', () => { box.hidden = false; });
        }"""
    )
    await shown(tab)


# ---- hands and ears


async def test_everything_can_be_done_by_keyboard(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(**PLAIN, title="Pomodoro")
    await tab.says(foreground())
    await question(tab).wait_for()
    # Nobody was anywhere: the safe answer is where the keyboard begins.
    assert await focused(tab) == "Not now"
    await until(lambda: tab.page.get_by_role("button", name="Show").is_enabled())
    await tab.page.keyboard.press("Tab")
    assert await focused(tab) == "Show"
    await tab.page.keyboard.press("Space")
    await tab.hears("foregrounded")
    assert await focused(tab) == "Pomodoro"
    await tab.page.keyboard.press("Tab")
    assert await focused(tab) == "Close Pomodoro"
    await tab.page.keyboard.press("Tab")
    await until(lambda: _is_focused(tab, "inside"))
    for _ in range(2):
        await tab.page.keyboard.press("Shift+Tab")
    assert await focused(tab) == "Back: leave Pomodoro"
    await tab.page.keyboard.press("Enter")
    await until(lambda: _intents(tab, ["left_workspace"]))
    assert "Mini apps" in await focused(tab)
    await tab.page.keyboard.press("Enter")
    assert await focused(tab) == "Pomodoro"
    await tab.page.keyboard.press("Enter")
    await until(lambda: _intents(tab, ["left_workspace", "foregrounded"]))


async def _is_focused(tab: Surfaces, name: str) -> bool:
    return await tab.tells(f"document.hasFocus() && document.activeElement.ariaLabel === '{name}'")


async def test_who_writes_on_the_page_goes_on_writing(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(**PLAIN)
    await tab.page.locator("#note").click()
    await tab.page.keyboard.type("half a ")
    await tab.says(foreground())
    await question(tab).wait_for()
    await tab.page.keyboard.type("sentence")
    assert await tab.page.locator("#note").input_value() == "half a sentence"
    assert await tab.page.get_by_role("alert").filter(has_text="Alice's agent wants to show you: Probe").count() == 1


async def test_a_frame_cannot_take_the_focus_by_itself(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab)
    await tab.page.locator("#note").click()
    await tab.page.mouse.move(1, 1)
    await tab.page.wait_for_timeout(1_100)
    await tab.page.keyboard.type("my ")
    await tab.tells("document.querySelector('input').focus()")
    await until(lambda: _on_note(tab))
    await tab.page.keyboard.type("words")
    assert await tab.page.locator("#note").input_value() == "my words"


async def _on_note(tab: Surfaces) -> bool:
    is_here = await tab.page.evaluate("document.activeElement.id === 'note' && document.hasFocus()")
    return is_here and not await tab.tells("document.hasFocus()")


async def test_a_click_into_a_frame_stays_there(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab)
    await tab.page.locator("#note").click()
    await tab.page.wait_for_timeout(1_100)
    await tab.inner().locator("input").click()
    await tab.page.wait_for_timeout(300)
    await tab.page.keyboard.type("in the app")
    assert await tab.inner().locator("input").input_value() == "in the app"


async def test_a_frame_in_the_background_is_out_of_reach(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.opens(**PLAIN)
    await tab.tells("document.querySelector('input').focus()")
    for _ in range(6):
        await tab.page.keyboard.press("Tab")
        assert not await tab.tells("document.hasFocus()")


async def test_a_screen_reader_finds_names_and_states(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab, title="Pomodoro")
    await tab.opens("i.2", html="<p>Second</p>", js="2", title="Canvas")
    region = tab.page.get_by_role("region", name="Mini apps")
    assert await region.get_by_role("heading", name="Pomodoro").count() == 1
    assert (
        await region.get_by_role("navigation", name="Open mini apps")
        .get_by_role("button", name="Canvas", exact=True)
        .count()
        == 1
    )
    assert await tab.page.locator("iframe[title=Pomodoro]").count() == 1
    assert await tab.page.locator("iframe[title=Canvas]").get_attribute("inert") == ""


# ---- the line to the gateway


async def test_what_was_done_without_a_connection_is_told_with_the_next(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab, title="Pomodoro")
    await tab.page.evaluate("connection.end(1006)")
    await tab.page.get_by_role("button", name="Back: leave Pomodoro").click()
    await tab.page.evaluate("(async () => { window.connection = await gateway.connection(1); })()")
    await until(lambda: _intents(tab, ["left_workspace"]))
    assert tab.outer_count == 1


async def test_another_page_session_begins_empty(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await shown(tab)
    said = len(await tab.heard("intent"))
    await tab.says(
        {"type": "welcome", "page": "page-2", "epoch": 1, "resume": "r", "ping": 0, "reauth": 0, "in_page": False}
    )
    await until(lambda: tab.outer_count == 0)
    assert len(await tab.heard("intent")) == said
