"""Documents over the wires: shown from every door, told again to a page that reloads, and acted in (rules A1, A5, B1)."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from gateway.domain.configuration import Documents
from gateway.runtime.calls import TAKEN_MS
from tests.interaction.lineup.client import an_agent
from tests.interaction.page.rig import ADD, PATTERNS, Page, Rig, running
from tests.interaction.surface.client import envelope, invoke, post
from tests.unit.runtime.papers import INVOKE, intelligent, sized, structured

pytestmark = pytest.mark.anyio

Door = Callable[[Rig, Page, dict[str, Any]], Awaitable[str | None]]


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    documents = Documents(invoke=INVOKE)
    async with running(patterns=(*PATTERNS, "ui.*"), in_page_scope=("ui.*",), documents=documents) as running_rig:
        yield running_rig


async def over_surface(rig: Rig, page: Page, document: dict[str, Any]) -> str | None:
    _, token = await rig.grant(scope=["ui.*"])
    answer = (await post(rig, token, invoke("ui.structured_ui", document=document))).json()
    return answer["result"].get("error", {}).get("code")


async def over_lineup(rig: Rig, page: Page, document: dict[str, Any]) -> str | None:
    agent = await an_agent(rig, scope=["ui.*"])
    await agent.inventory()
    answer = await agent.tool("ui.structured_ui", {"document": document})
    return answer.json()["payload"].get("error", {}).get("code")


async def over_the_page(rig: Rig, page: Page, document: dict[str, Any]) -> str | None:
    asked = envelope("invoke", capability="ui.structured_ui", input={"document": document})
    await page.send({"type": "surface", "id": "s1", "envelope": asked})
    answer = (await page.receive("surface_reply", id="s1"))["envelope"]
    return answer["result"].get("error", {}).get("code")


DOORS = pytest.mark.parametrize("door", [over_surface, over_lineup, over_the_page])


@DOORS
async def test_a_document_of_exactly_the_limit_is_legal_through_every_door(rig: Rig, door: Door) -> None:
    page = await rig.page(workspace=True)
    assert await door(rig, page, sized(262_144)) is None
    shown = await page.receive("document", op="open")
    assert shown["ui"] == {"protocol": "ostiary.ui/1", "version": "1.0", "document": sized(262_144)}


@DOORS
async def test_one_byte_more_is_refused_and_audited(rig: Rig, door: Door) -> None:
    page = await rig.page(workspace=True)
    assert await door(rig, page, sized(262_145)) == "document.too_large"
    assert await rig.records("call.refused", code="document.too_large")


async def test_a_refusal_tells_its_author_where_and_never_what(rig: Rig) -> None:
    await rig.page(workspace=True)
    _, token = await rig.grant(scope=["ui.*"])
    document = {**structured(), "colour": "very-secret"}
    text = (await post(rig, token, invoke("ui.structured_ui", document=document))).text
    assert '"document.unknown_key"' in text
    assert '"/colour"' in text
    assert "very-secret" not in text


async def test_lineup_streams_by_the_same_calls(rig: Rig) -> None:
    page = await rig.page(workspace=True)
    agent = await an_agent(rig, scope=["ui.*"])
    await agent.inventory()
    opened = (await agent.tool("ui.stream_open", {"document": intelligent()})).json()["payload"]["result"]
    frame = {"generation": opened["documentRef"]["generation"], "epoch": opened["epoch"], "seq": 1, "baseRevision": 1}
    ended = (await agent.tool("ui.stream_complete", frame)).json()["payload"]
    assert ended["result"]["state"] == "complete"
    assert (await page.receive("document", op="end"))["state"] == "complete"


async def test_a_person_acts_in_a_document_and_a_reload_finds_it_again(rig: Rig) -> None:
    page = await rig.page(ADD, workspace=True)
    _, token = await rig.grant(scope=["ui.*"])
    answer = (await post(rig, token, invoke("ui.intelligent_ui", document=intelligent()))).json()
    ref = answer["result"]["result"]["documentRef"]
    act = {
        "type": "action",
        "documentRef": ref,
        "requestId": "request-1",
        "actionId": "save",
        "values": {"title": "tea"},
    }
    await page.send(act)
    assert (await page.receive("receipt", id="request-1"))["status"] == "accepted"
    await page.decide(await page.receive("approve_request"), "approve")
    called = await page.receive("invoke")
    assert called["input"] == '{"title":"tea"}'
    await page.answer(called, {"id": "t1", "list": []})
    reply = await page.receive("action_reply", id="request-1")
    assert (reply["ok"], reply["output"]) == (True, {"id": "t1"})
    await page.send({**act, "values": {"title": "rum"}})
    assert (await page.receive("action_reply", id="request-1"))["code"] == "call_id_conflict"

    back = await rig.page(ADD, workspace=True)
    [listed] = (await back.receive("document", op="list"))["documents"]
    assert listed == {"documentRef": ref, "state": "complete"}
    await back.send({"type": "document_news", "generation": ref["generation"], "what": "wanted"})
    opened = await back.receive("document", op="open")
    assert opened["actions"] == [{"requestId": "request-1", "actionId": "save", "state": "done"}]
    await back.send({"type": "document_news", "generation": ref["generation"], "what": "closed"})
    assert (await back.receive("document", op="close"))["reason"] == "person"
    await back.send(act)
    assert (await back.receive("action_reply", id="request-1"))["code"] == "document.not_current"
    # What was taken is noted a moment later.
    rig.clock.advance(TAKEN_MS)
    assert await rig.records("call.refused", code="document.not_current", user="ann")


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "document_news", "generation": "gen_1", "what": "wanted"},
        {"type": "document_news", "generation": "gen_" + "a" * 26, "what": "painted"},
        {"type": "action", "documentRef": {}, "requestId": "request-1", "actionId": "save", "values": {}},
        {"type": "action", "documentRef": None, "instance": "i", "requestId": "request-1"},
    ],
)
async def test_a_bad_frame_is_answered_and_the_socket_stays_open(rig: Rig, frame: dict[str, Any]) -> None:
    page = await rig.page(workspace=True)
    await page.send(frame)
    assert (await page.receive("error"))["code"] == "bad_request"
    await page.send({"type": "document_news", "generation": "gen_" + "a" * 26, "what": "wanted"})
    assert (await page.receive("document", op="close"))["reason"] == "unknown"
