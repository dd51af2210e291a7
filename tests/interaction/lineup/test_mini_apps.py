"""A mini app's calls over `lineup.v1`: its receipts in order, one result, and no name of the runtime's own."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from capabilities.package import write_package
from gateway.bootstrap import Gateway
from gateway.runtime.workspaces import Foregrounded, News, Opened, Place, Refused
from policy.model import Rule
from policy.vocabulary import Verdict
from tests.interaction.lineup.client import Agent, Event, Stream
from tests.interaction.lineup.test_inventory import fits
from tests.support.in_loop import until
from tests.support.mcp_gateway import FakePage, join_page
from tests.support.mini_apps import a_start, a_stop, a_surface_package
from tests.support.whole_gateway import serving

pytestmark = pytest.mark.anyio

APP = "com.example.focus"
RULE = Rule(id="focus", agents=("coder",), capabilities=("focus.*",), verdict=Verdict.PERMIT)
TOOLS = [a_start(), a_start(method="focus.strict", not_started=None), a_stop()]
OWN_NAMES = ("inst_", "apps_", "actv_", "oper_", "call_2")
"""How the runtime's names begin: instances, app sessions, activations, operations and refs."""


@dataclass
class Scene:
    """A gateway with an app, an agent on its stream, and a page with a workspace that does what the test says."""

    gateway: Gateway
    agent: Agent
    page: FakePage
    stream: Stream
    revision: int

    async def says(self, *news: News) -> None:
        """The page tells of the app's frame."""
        services = self.gateway.services
        await until(lambda: any(frame["op"] == "open" for frame in self.page.of_type("app")))
        opened = [frame for frame in self.page.of_type("app") if frame["op"] == "open"][-1]
        live = services.live.world.pages[self.page.joined.page.id]
        for one in news:
            await services.workspaces.hear(Place(page=live, instance=opened["instance"]), one)

    async def calls(self, method: str, call_id: str, **arguments: Any) -> httpx.Response:
        """The agent calls a tool of the app."""
        return await self.agent.tool(method, arguments, call_id=call_id, revision=self.revision)

    async def told(self, count: int) -> list[Event]:
        """The next messages of the conversation, each as the published schema has it and without names of ours."""
        events = [await self.stream.next() for _ in range(count)]
        for event in events:
            assert fits(event.message), event.message
            assert not any(name in json.dumps(event.message) for name in OWN_NAMES)
        return events


def words(events: list[Event]) -> list[tuple[str, str, str]]:
    """Call, type and status of each."""
    return [(event.payload["call_id"], event.kind, event.payload["status"]) for event in events]


@asynccontextmanager
async def scene(tmp_path: Path) -> AsyncGenerator[Scene]:
    package = a_surface_package(tools=TOOLS)
    file = tmp_path / package.filename
    file.write_bytes(write_package(package))
    async with serving(tmp_path / "data", expose=("focus.*",), rules=(RULE,)) as whole:
        services = whole.gateway.services
        await services.mini_apps.install(file, by="test")
        await services.mini_apps.enable(APP, by="test")
        page = await join_page(services, patterns=("todo.*", "focus.*"))
        async with httpx.AsyncClient(base_url=whole.origin, timeout=10) as http:
            agent = Agent(http=http, session=whole.session, token=whole.token)
            async with agent.stream() as stream:
                inventory = await stream.receive("client.inventory")
                await stream.receive("app.list")
                revision = int(inventory.payload["revision"].removeprefix("catalog-"))
                yield Scene(whole.gateway, agent, page, stream, revision)


@pytest.fixture
async def on(tmp_path: Path) -> AsyncGenerator[Scene]:
    (tmp_path / "data").mkdir()
    async with scene(tmp_path) as running:
        yield running


async def test_a_start_is_told_as_it_happens_and_ends_with_one_result(on: Scene) -> None:
    answer = await on.calls("focus.start", "start-001", minutes=5)
    assert (answer.status_code, answer.json()["payload"]["status"]) == (202, "starting")
    assert words(await on.told(2)) == [
        ("start-001", "tool.receipt", "accepted"),
        ("start-001", "tool.receipt", "starting"),
    ]
    await on.says(Opened(), Foregrounded())
    (started,) = await on.told(1)
    # It says that the app is ready, too: no `activation_ready` beside it (rules F1).
    assert (started.payload["status"], started.payload["seq"], started.payload["app_scope"]) == ("started", 3, APP)
    stopped = await on.calls("focus.stop", "stop-0001")
    assert stopped.json()["payload"]["result"] == {"status": "interrupted"}
    rest = await on.told(3)
    assert sorted(words(rest)) == [
        ("start-001", "tool.result", "completed"),
        ("stop-0001", "tool.receipt", "accepted"),
        ("stop-0001", "tool.result", "completed"),
    ]
    (end,) = [event for event in rest if event.payload["call_id"] == "start-001"]
    assert (end.payload["app_scope"], end.payload["result"]) == (APP, {"status": "interrupted"})
    again = await on.calls("focus.start", "start-001", minutes=5)
    assert (again.status_code, again.json()["payload"]) == (200, end.payload)


async def test_a_start_the_person_refuses_has_its_business_answer(on: Scene) -> None:
    await on.calls("focus.start", "start-001", minutes=5)
    await on.told(2)
    await on.says(Opened(), Refused())
    receipt, end = await on.told(2)
    assert (receipt.payload["status"], receipt.payload["reason"]) == ("activation_failed", "foreground_refused")
    assert (end.payload["status"], end.payload["result"]) == ("completed", {"status": "not_started"})


async def test_a_start_without_a_business_answer_fails_with_its_reason(on: Scene) -> None:
    await on.calls("focus.strict", "start-001", minutes=5)
    await on.told(2)
    await on.says(Opened(), Refused())
    receipt, end = await on.told(2)
    assert (receipt.payload["status"], receipt.payload["reason"]) == ("activation_failed", "foreground_refused")
    assert (end.payload["status"], end.payload["reason"]) == ("failed", "foreground_refused")
    assert end.payload["error"]["code"] == "app_activation_failed"
    again = await on.calls("focus.strict", "start-001", minutes=5)
    assert again.json()["payload"] == end.payload


async def test_an_interruption_while_it_starts_answers_everybody_once(on: Scene) -> None:
    await on.calls("focus.start", "start-001", minutes=5)
    await on.calls("focus.strict", "strict-01", minutes=5)
    await on.told(4)
    stopped = await on.calls("focus.stop", "stop-0001")
    assert stopped.json()["payload"]["result"] == {"status": "not_started"}
    rest = await on.told(6)
    assert sorted(words(rest)) == [
        ("start-001", "tool.receipt", "activation_cancelled"),
        ("start-001", "tool.result", "completed"),
        ("stop-0001", "tool.receipt", "accepted"),
        ("stop-0001", "tool.result", "completed"),
        ("strict-01", "tool.receipt", "activation_cancelled"),
        ("strict-01", "tool.result", "cancelled"),
    ]
    (strict,) = [e for e in rest if (e.payload["call_id"], e.kind) == ("strict-01", "tool.result")]
    assert (strict.payload["error"]["code"], strict.payload["reason"]) == ("app_activation_cancelled", "interrupted")


async def test_an_app_call_of_a_tool_is_told_in_its_own_words(on: Scene) -> None:
    answer = await on.agent.app("focus.start", {"minutes": 5}, call_id="start-001")
    assert answer.status_code == 202
    await on.told(2)
    await on.says(Opened(), Foregrounded())
    await on.told(1)
    await on.calls("focus.stop", "stop-0001")
    (end,) = [event for event in await on.told(3) if event.payload["call_id"] == "start-001"]
    assert (end.kind, end.payload) == (
        "app.result",
        {"call_id": "start-001", "status": "completed", "result": {"status": "interrupted"}},
    )


async def test_a_withdrawn_app_is_revoked_to_whom_it_was_shown_and_never_run(on: Scene) -> None:
    await on.gateway.services.mini_apps.disable(APP, by="test")
    changed = await on.stream.receive("client.inventory")
    assert (changed.payload["applications"], changed.payload["tools"]) == ([], [])
    told = (await on.calls("focus.start", "start-001", minutes=5)).json()["payload"]
    assert (told["status"], told["reason"], told["error"]["code"]) == ("unsupported", "revoked", "revoked")
    assert not on.page.of_type("app")


async def test_no_name_of_the_runtime_is_taken_from_an_agent(on: Scene) -> None:
    await on.calls("focus.start", "start-001", minutes=5)
    await until(lambda: on.page.of_type("app"))
    instance = on.page.of_type("app")[0]["instance"]
    for name in ("instance", "instance_id", "operation", "operation_id", "app_session_id"):
        refused = await on.calls("focus.stop", "stop-0001", **{name: instance})
        assert refused.json()["payload"]["error"]["code"] == "arguments_invalid"
