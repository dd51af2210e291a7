"""`ui.open`, `ui.patch`, `ui.close` and `ui.event` with a page that shows what it is told (rules G)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.bundles import BundlePolicy, BundleTerms
from gateway.domain.calls import CallState
from gateway.runtime.calls import TAKEN_MS
from tests.interaction.lineup.apps import CANVAS, with_apps
from tests.interaction.lineup.client import Agent, an_agent, records
from tests.interaction.page.rig import PATTERNS, Page, Rig, running

pytestmark = pytest.mark.anyio

OPEN: dict[str, Any] = {
    "instance_id": "board.01",
    "app": {"id": CANVAS.id, "version": "1.0.0", "surface": "canvas"},
    "state": {"n": 1},
}


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running(patterns=(*PATTERNS, "ui.*")) as running_rig:
        with_apps(running_rig, CANVAS)
        yield running_rig


@pytest.fixture
async def agent(rig: Rig) -> Agent:
    return await an_agent(rig, scope=["ui.*"])


async def told(agent: Agent, kind: str, payload: dict[str, Any]) -> tuple[int, str | None]:
    """The status of a message, and the code where it was refused."""
    answer = await agent.post(agent.message(kind, payload))
    return answer.status_code, answer.json()["error"]["code"] if answer.content else None


async def says(page: Page, instance: str, what: str, **fields: Any) -> None:
    await page.send({"type": "app_news", "instance": instance, "what": what, **fields})


async def test_a_surface_goes_through_its_life(rig: Rig, agent: Agent) -> None:
    page = await rig.page(workspace=True)
    async with agent.stream() as stream:
        assert await told(agent, "ui.open", OPEN) == (204, None)
        opening = await page.receive("app", op="open")
        assert (opening["app"], opening["state"], opening["handlers"]) == (CANVAS.id, {"n": 1}, False)
        await says(page, opening["instance"], "opened")
        assert (await page.receive("app", op="foreground"))["agent"] == "Alice"
        assert await told(agent, "ui.patch", {"instance_id": "board.01", "state": {"n": 2}}) == (204, None)
        assert (await page.receive("app", op="state"))["state"] == {"n": 2}
        await says(page, opening["instance"], "event", event="draw", data={"x": 1})
        event = await stream.receive("ui.event")
        assert event.payload == {"instance_id": "board.01", "event": "draw", "data": {"x": 1}}
        assert await told(agent, "ui.close", {"instance_id": "board.01", "reason": "completed"}) == (204, None)
        assert (await page.receive("app", op="close"))["reason"] == "completed"
        assert "ui.event" not in {passed.kind for passed in stream.passed}


async def test_a_surface_its_agent_sends_goes_through_the_same(rig: Rig, agent: Agent) -> None:
    page = await rig.page(workspace=True)
    html = "<button id='refresh'>refresh</button>"
    app = {"id": "com.example.weather", "name": "Weather", "version": "1.0.0", "html": html}
    sending = {"instance_id": "weather.01", "app": app, "state": {"city": "Berlin"}}
    assert await told(agent, "ui.open", sending) == (403, "surface.not_allowed")
    takes(rig, BundleTerms(policy=BundlePolicy.ANY))
    assert await told(agent, "ui.open", {**sending, "app": {**app, "html": "<base>"}}) == (422, "surface.element")
    async with agent.stream() as stream:
        assert await told(agent, "ui.open", sending) == (204, None)
        opening = await page.receive("app", op="open")
        assert opening["sent"] == {"agent": "Alice", "html": html, "css": "", "js": ""}
        await says(page, opening["instance"], "opened")
        await says(page, opening["instance"], "event", event="refresh", data={"unit": "c"})
        event = await stream.receive("ui.event")
        assert event.payload == {"instance_id": "weather.01", "event": "refresh", "data": {"unit": "c"}}


def takes(rig: Rig, terms: BundleTerms) -> None:
    """Let every site of the rig take bundles on these terms."""
    live = rig.services.live
    sites = {name: replace(site, bundles=terms) for name, site in live.world.configuration.sites.items()}
    live.configure(replace(live.world.configuration, sites=sites), live.world.builtins)


async def test_a_person_who_closes_it_is_heard(rig: Rig, agent: Agent) -> None:
    page = await rig.page(workspace=True)
    async with agent.stream() as stream:
        await told(agent, "ui.open", OPEN)
        instance = (await page.receive("app", op="open"))["instance"]
        await page.send({"type": "intent", "instance": instance, "what": "closed"})
        event = await stream.receive("ui.event")
        assert event.payload == {"instance_id": "board.01", "event": "close", "data": {"reason": "person"}}


async def test_who_was_away_reads_on(rig: Rig, agent: Agent) -> None:
    page = await rig.page(workspace=True)
    async with agent.stream() as stream:
        await stream.receive("app.list")
    await told(agent, "ui.open", OPEN)
    instance = (await page.receive("app", op="open"))["instance"]
    await says(page, instance, "event", event="resize", data={})
    await says(page, instance, "event", event="nonsense", data={})
    assert (await page.receive("error"))["code"] == "bad_request"
    async with agent.stream(after=0) as stream:
        assert (await stream.receive("ui.event")).payload["event"] == "resize"
    assert await records(rig, "frame.refused", code="bad_request")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"app": {**OPEN["app"], "id": "com.example.other"}}, "unsupported"),
        ({"app": {**OPEN["app"], "version": "2.0.0"}}, "unsupported"),
    ],
)
async def test_what_is_not_installed_is_not_opened(rig: Rig, agent: Agent, changes: Any, code: str) -> None:
    page = await rig.page(workspace=True)
    assert await told(agent, "ui.open", {**OPEN, **changes}) == (400, code)
    assert not page.has("app")
    ended = await records(rig, "call.ended", code=code)
    assert ended or await records(rig, "access.refused", door="lineup", code=code)


async def test_what_is_not_open_is_not_patched(rig: Rig, agent: Agent) -> None:
    await rig.page(workspace=True)
    status, code = await told(agent, "ui.patch", {"instance_id": "board.01", "state": {}})
    assert (status, code) == (422, "arguments_invalid")


async def test_without_a_page_nothing_is_opened(rig: Rig, agent: Agent) -> None:
    assert await told(agent, "ui.open", OPEN) == (400, "unsupported")


async def test_what_has_to_wait_is_not_left_waiting(rig: Rig, agent: Agent) -> None:
    """A message is answered at once: what asks the person, or needs a page that is away, is ended again."""
    page = await rig.page(workspace=True)
    await told(agent, "ui.open", OPEN)
    await page.receive("app", op="open")
    await page.close()
    rig.clock.advance(TAKEN_MS)
    await rig.services.spine.drain()
    status, code = await told(agent, "ui.open", {**OPEN, "instance_id": "board.02"})
    assert (status, code) == (403, "approval_unavailable")
    [call] = await rig.store.run(lambda tx: tx.calls.recent(limit=1))
    assert call.state is CallState.CANCELLED
    assert not await rig.store.run(lambda tx: tx.calls.open_calls())


async def test_another_conversation_does_not_reach_it(rig: Rig, agent: Agent) -> None:
    page = await rig.page(workspace=True)
    await told(agent, "ui.open", OPEN)
    await page.receive("app", op="open")
    other = await an_agent(rig, "bob", scope=["ui.*"])
    assert (await told(other, "ui.patch", {"instance_id": "board.01", "state": {}}))[1] == "arguments_invalid"
    assert await told(other, "ui.close", {"instance_id": "board.01"}) == (204, None)
    assert not page.has("close")
    assert len(await rig.store.run(lambda tx: tx.surfaces.all_live())) == 1
