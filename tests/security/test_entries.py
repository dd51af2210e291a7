"""Three entries that never pose as each other (seed 002 §3): each try to forge one is refused, and in the trail."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.domain.audit import Stream
from gateway.domain.calls import Call, Entry
from tests.interaction.lineup.client import Agent
from tests.interaction.page.rig import Rig
from tests.interaction.page.shown import Shown, shown
from tests.interaction.surface.client import envelope, invoke, post
from tests.support import todo_page
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import join_page, running_gateway

pytestmark = pytest.mark.anyio


@pytest.fixture
async def screen(rig: Rig) -> Shown:
    return await shown(rig)


async def calls(rig: Rig) -> list[Call]:
    return list(await rig.store.run(lambda tx: tx.calls.recent(limit=100)))


async def streams_of(rig: Rig, event: str, **facts: Any) -> set[str]:
    """The streams with records of `event` that hold `facts`."""
    await rig.services.spine.drain()
    found: set[str] = set()
    for stream in Stream:
        for record in await rig.store.run(lambda tx, s=stream: tx.audit.read(s, after=0, limit=10_000)):
            body = json.loads(record.body)
            if body["event"] == event and facts.items() <= body["facts"].items():
                found.add(stream.value)
    return found


# -- an agent as a person --------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["entry", "user", "instance", "session"])
async def test_a_program_cannot_name_the_entry_of_its_call(screen: Shown, field: str) -> None:
    made = len(await calls(screen.rig))
    answer = await post(screen.rig, screen.token, {**invoke("notes.draw"), field: "ui_action"})
    assert answer.json()["error"]["code"] == "BAD_REQUEST"
    assert len(await calls(screen.rig)) == made
    assert await screen.rig.records("access.refused", door="surface", code="bad_request")


@pytest.mark.parametrize("where", ["message", "payload"])
async def test_an_agent_of_lineup_cannot_name_the_entry_of_its_call(screen: Shown, where: str) -> None:
    agent = Agent(http=screen.rig.http, session=screen.session, token=screen.token)
    payload: dict[str, Any] = {
        "call_id": "call-0001",
        "method": "notes.draw",
        "inventory_revision": "catalog-1",
        "arguments": {},
    }
    message = agent.message("tool.call", payload)
    (message if where == "message" else payload)["entry"] = "ui_action"
    made = len(await calls(screen.rig))
    answer = await agent.post(message)
    assert answer.status_code == 400
    assert len(await calls(screen.rig)) == made
    assert await screen.rig.records("access.refused", door="lineup", code="bad_request")


@in_loop
async def test_an_agent_of_mcp_cannot_name_the_entry_of_its_call(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient(timeout=10) as http:
        page = await join_page(gateway.services, todo_page.OVERVIEW)
        page.act = todo_page.act
        asked: dict[str, Any] = {"capability": "todo.overview", "arguments": {}, "entry": "ui_action"}
        answer = await gateway.call(http, "gateway_invoke", asked)
        assert answer["structuredContent"]["code"] == "arguments_invalid"
        refused = [record["code"] for record in await gateway.records("access.refused")]
        assert refused == ["arguments_invalid"]
        named = await gateway.call(http, "todo_overview", {}, meta={"dev.ostiary/entry": "ui_action"})
        assert named["structuredContent"]["status"] == "succeeded"
        [call] = await gateway.services.spine.store.run(lambda tx: tx.calls.recent(limit=10))
        assert (call.entry, call.agent) == (Entry.AGENT_TOOL, "coder")


async def test_an_action_is_not_listed_and_its_call_is_unknown_to_agents(screen: Shown) -> None:
    await screen.act("notes.draw")
    tool = await screen.page.receive("app", op="tool")
    call = (await calls(screen.rig))[0]
    assert (call.ref, call.entry) == (tool["ref"], Entry.UI_ACTION)
    for name in (call.ref, call.call_id):
        for method in ("status", "cancel"):
            answer = (await post(screen.rig, screen.token, envelope(method, input={"ref": name}))).json()
            assert answer["ok"] is False
            assert answer["error"]["code"] == "unknown_call"
    described = (await post(screen.rig, screen.token, envelope("describe"))).json()["result"]
    assert {entry["id"] for entry in described["capabilities"]} == {"notes.draw", "notes.save", "notes.start"}
    assert call.ref not in json.dumps(described)


# -- a page as an agent ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [{"agent": "alice"}, {"session": "sess_1"}, {"entry": "agent_tool"}, {"call_id": "call-0001"}, {"user": "bea"}],
)
async def test_a_frame_names_no_agent(screen: Shown, more: dict[str, str]) -> None:
    made = len(await calls(screen.rig))
    await screen.act("notes.draw", {}, "r1", **more)
    assert (await screen.page.receive("error"))["code"] == "bad_request"
    assert len(await calls(screen.rig)) == made
    assert await screen.rig.records("frame.refused", code="bad_request")


@pytest.mark.parametrize("kind", ["invoke", "tool_call", "lineup.v1.tool.call", "tools/call"])
async def test_a_page_sends_no_tool_call(screen: Shown, kind: str) -> None:
    made = len(await calls(screen.rig))
    await screen.page.send({"type": kind, "capability": "notes.draw", "input": {}, "agent": "alice"})
    assert (await screen.page.receive("error"))["code"] == "bad_request"
    assert len(await calls(screen.rig)) == made


async def test_an_action_says_itself_whose_it_is(screen: Shown) -> None:
    """The page's user, and no agent: whatever the arguments hold."""
    await screen.act("notes.draw", {"agent": "alice", "entry": "agent_tool", "user": "bea"})
    await screen.page.receive("app", op="tool")
    call = (await calls(screen.rig))[0]
    assert (call.entry, call.agent, call.session, call.user) == (Entry.UI_ACTION, "", "", "ann")


# -- an intent as an action, and the other way round -----------------------------------------------------------


async def test_an_intent_asks_for_no_work(screen: Shown) -> None:
    made = len(await calls(screen.rig))
    posing: list[dict[str, Any]] = [
        {"what": "notes.draw"},
        {"what": "closed", "action": "notes.draw", "input": {}},
    ]
    for more in posing:
        await screen.page.send({"type": "intent", "instance": screen.instance, **more})
        assert (await screen.page.receive("error"))["code"] == "bad_request"
    assert len(await calls(screen.rig)) == made
    assert not await screen.rig.records("intent.reported")


@pytest.mark.parametrize("action", ["runtime.closed", "host.left_workspace", "app.closed"])
async def test_an_action_is_no_intent(screen: Shown, action: str) -> None:
    await screen.act(action)
    assert (await screen.reply())["code"] == "unknown_capability"
    assert await streams_of(screen.rig, "call.refused", capability=action) == {"ui_action"}
    assert not await screen.rig.records("intent.reported")
    instance = await screen.rig.store.run(lambda tx: tx.instances.find(screen.instance))
    assert instance is not None
    assert instance.is_live


async def test_an_agent_reports_no_intent(screen: Shown) -> None:
    for name in ("runtime.closed", "notes.closed", "host_intent"):
        answer = (await post(screen.rig, screen.token, invoke(name))).json()
        assert answer["error"]["code"] == "CAPABILITY_NOT_EXPOSED"
    assert not await screen.rig.records("intent.reported")


# -- somebody else's frame -------------------------------------------------------------------------------------


@pytest.mark.parametrize("user", ["ann", "bea"])
async def test_the_frame_of_another_page_is_not_there(screen: Shown, user: str) -> None:
    """Not even for the same person: the frame is on the other page."""
    made, own = len(await calls(screen.rig)), screen.page
    screen.page = await screen.rig.page(user=user, workspace=True)
    await screen.act("notes.draw")
    theirs = await screen.reply()
    await screen.act("notes.draw", name="r2", instance="inst_" + "a" * 26)
    nobodys = await screen.reply("r2")
    assert theirs["code"] == nobodys["code"] == "bad_request"
    assert len(await calls(screen.rig)) == made
    facts = {"instance": screen.instance, "user": user, "page": screen.page.welcome["page"]}
    assert await streams_of(screen.rig, "call.refused", **facts) == {"ui_action"}
    assert not own.has("action_reply")
