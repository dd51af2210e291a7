"""C13, back-button variant: a page that comes out of the back/forward cache is at work again at once."""

from collections.abc import AsyncIterator

import pytest

from gateway.runtime.world import LivePage
from tests.e2e.house import Visit, until
from tests.e2e.plain_browser import PlainBrowser, Tab, plain_browser

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

SLOW = """window.Ostiary.queue.push((host) => { host.register({
  id: 'lab.slow', title: 'Slow', description: 'Ends when the test says so.', effect: 'read', confirm: 'never',
  inputSchema: { type: 'object' },
  handler: () => new Promise((resolve) => { window.finish = () => resolve({ done: true }); }),
}); }); 0"""


@pytest.fixture
async def plain(visit: Visit, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PlainBrowser]:
    async with plain_browser(tmp_path_factory.mktemp("profile")) as browser:
        await browser.signs_in(visit.user, visit.house.site_url)
        yield browser


async def opened(visit: Visit, plain: PlainBrowser) -> Tab:
    """A tab with the page, at work, which notes how it is shown."""
    tab = await plain.opens(f"{visit.house.site_url}/")
    await until(lambda: connected(visit))
    await tab.evaluates("window.shown = []; addEventListener('pageshow', (e) => shown.push(e.persisted)); 0")
    return tab


def connected(visit: Visit) -> list[tuple[str, int]]:
    """Page sessions that are connected with their actions, and their epochs."""
    return [(page.id, page.session.epoch) for page in pages(visit) if page.is_connected and page.capabilities]


def pages(visit: Visit) -> list[LivePage]:
    """What the gateway knows of this user's tabs."""
    return visit.house.running.services.live.world.pages_of(visit.user)


async def leave(visit: Visit, tab: Tab) -> None:
    """Follow a link to another page of the site."""
    await tab.goes_to(f"{visit.house.site_url}/elsewhere")
    await until(lambda: not connected(visit))

    async def is_there() -> bool:
        return await tab.evaluates("location.pathname") == "/elsewhere"

    await until(is_there)


async def is_back(tab: Tab) -> bool:
    """Whether the same document is on the screen again."""
    return await tab.evaluates("location.pathname === '/' && window.shown?.at(-1) === true")


async def test_after_the_back_button_the_page_works_at_once(visit: Visit, plain: PlainBrowser) -> None:
    agent, tab = await visit.agent(), await opened(visit, plain)
    before = connected(visit)
    tools = {tool.name for tool in (await agent.client.list_tools()).tools}
    await leave(visit, tab)
    await tab.goes_back()
    await until(lambda: is_back(tab), 2)
    await until(lambda: connected(visit) == before, 2)
    assert (await agent.calls("todo_overview"))["status"] == "succeeded"
    assert {tool.name for tool in (await agent.client.list_tools()).tools} == tools


async def test_what_ran_when_the_page_was_left_ends_once_after_the_back_button(
    visit: Visit, plain: PlainBrowser
) -> None:
    agent, tab = await visit.agent(), await opened(visit, plain)
    await tab.evaluates(SLOW)
    await until(lambda: any("lab.slow" in page.capabilities for page in pages(visit)))
    call = visit.begins(agent.calls("gateway_invoke", capability="lab.slow"))

    async def runs() -> bool:
        return await tab.evaluates("typeof window.finish === 'function'")

    await until(runs)
    await leave(visit, tab)
    await tab.goes_back()
    await until(lambda: is_back(tab), 2)
    await until(lambda: connected(visit))
    assert not call.done()
    await tab.evaluates("window.finish(); 0")
    answer = await call
    assert (answer["status"], answer["result"]) == ("succeeded", {"done": True})
    assert len(await visit.house.records("call.ended", ref=answer["ref"])) == 1
