"""A tab that nobody looks at still answers, at once and with nothing but its socket."""

import time
from collections.abc import AsyncIterator

import pytest

from tests.e2e.house import Visit, until
from tests.e2e.plain_browser import PlainBrowser, plain_browser

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]


@pytest.fixture
async def plain(visit: Visit, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PlainBrowser]:
    async with plain_browser(tmp_path_factory.mktemp("profile")) as browser:
        await browser.signs_in(visit.user, visit.house.site_url)
        yield browser


async def test_a_hidden_tab_answers_fast(visit: Visit, plain: PlainBrowser) -> None:
    agent = await visit.agent()
    tab = await plain.opens(f"{visit.house.site_url}/")
    other = await plain.opens(f"{visit.house.site_url}/elsewhere")
    await other.comes_to_front()
    await tab.becomes("hidden")

    def page() -> list[bool]:
        pages = visit.house.running.services.live.world.pages_of(visit.user)
        return [page.visible for page in pages if page.capabilities]

    await until(lambda: page() == [False])
    # No frame is drawn for it, and its timers come once a second.
    await tab.evaluates("window.frames_drawn = 0; requestAnimationFrame(() => { window.frames_drawn += 1; }); 0")
    took: list[float] = []
    for _ in range(5):
        began = time.perf_counter()
        assert (await agent.calls("todo_overview"))["status"] == "succeeded"
        took.append(time.perf_counter() - began)
    assert await tab.evaluates("window.frames_drawn") == 0
    assert sorted(took)[2] < 0.4, f"a hidden tab took {took}"
    await tab.comes_to_front()
    await tab.becomes("visible")
    await until(lambda: page() == [True])
