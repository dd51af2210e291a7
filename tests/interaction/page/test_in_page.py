"""The page's own client: the same envelopes, no identity in them, ended with the page."""

import asyncio
from typing import Any

import pytest

from gateway.domain.calls import CallState
from gateway.protocol.surface import PROTOCOL
from tests.interaction.page.rig import ADD, LIST, OTHER_ORIGIN, Page, Rig, hello

pytestmark = pytest.mark.anyio


def envelope(method: str, **fields: Any) -> dict[str, Any]:
    return {"protocol": PROTOCOL, "id": "req_1", "method": method, "input": {}, **fields}


async def request(page: Page, value: Any, name: str = "s1") -> dict[str, Any]:
    await page.send({"type": "surface", "id": name, "envelope": value})
    return (await page.receive("surface_reply", id=name))["envelope"]


async def test_a_read_comes_back_in_the_envelope_of_http(rig: Rig) -> None:
    page = await rig.page(LIST)
    assert page.welcome["in_page"] is True
    await page.send({"type": "surface", "id": "s1", "envelope": envelope("invoke", capability="todo.list")})
    invoke = await page.receive("invoke")
    await page.answer(invoke, {"items": []})
    reply = (await page.receive("surface_reply", id="s1"))["envelope"]
    assert reply == {
        "protocol": PROTOCOL,
        "id": "req_1",
        "ok": True,
        "result": {"ref": invoke["ref"], "status": "succeeded", "result": {"items": []}},
    }


async def test_what_asks_the_person_asks_them_here_too(rig: Rig) -> None:
    page = await rig.page(ADD)
    asked = envelope("invoke", capability="todo.add", input={"title": "a"})
    await page.send({"type": "surface", "id": "s1", "envelope": asked})
    await page.decide(await page.receive("approve_request"), "deny")
    error = (await page.receive("surface_reply"))["envelope"]["result"]["error"]
    assert (error["code"], error["reason"]) == ("PERMISSION_DENIED", "denied")


@pytest.mark.parametrize("field", ["session", "agent", "user", "token", "sessionId", "selector", "script"])
async def test_identity_and_scripts_in_an_envelope_are_refused(rig: Rig, field: str) -> None:
    page = await rig.page(LIST)
    reply = await request(page, envelope("describe", **{field: "x"}))
    assert (reply["ok"], reply["error"]["code"]) == (False, "BAD_REQUEST")
    assert await rig.records("access.refused", door="in_page", peer=page.welcome["page"])


@pytest.mark.parametrize("value", [None, [], "describe", {}, {"id": "r", "protocol": "pling.surface/9"}])
async def test_what_is_no_envelope_gets_an_answer(rig: Rig, value: Any) -> None:
    page = await rig.page(LIST)
    reply = await request(page, value)
    assert reply["ok"] is False
    assert reply["error"]["code"] in ("BAD_REQUEST", "PROTOCOL_NOT_SUPPORTED")


async def test_its_scope_is_the_sites_and_nothing_more(rig: Rig) -> None:
    page = await rig.page(LIST, {**LIST, "id": "mail.list"})
    reply = await request(page, envelope("invoke", capability="mail.list"))
    assert (reply["ok"], reply["error"]["code"]) == (False, "CAPABILITY_NOT_EXPOSED")


async def test_a_site_without_an_in_page_client_has_none(rig: Rig) -> None:
    page = Page(await rig.socket(OTHER_ORIGIN), "A" * 16, "ann")
    ticket = await rig.ticket(site="other")
    await page.send(hello(page.document, ticket, site="other", url=f"{OTHER_ORIGIN}/"))
    assert (await page.receive("welcome"))["in_page"] is False
    reply = await request(page, envelope("describe"))
    assert (reply["ok"], reply["error"]["code"]) == (False, "unsupported")
    await page.socket.close()


async def test_the_socket_takes_its_waiters_with_it(rig: Rig) -> None:
    page = await rig.page(ADD)
    await page.send(
        {"type": "surface", "id": "s1", "envelope": envelope("invoke", capability="todo.add", input={"title": "a"})}
    )
    await page.receive("approve_request")
    ref = (await rig.store.run(lambda tx: tx.calls.open_on_page(page.welcome["page"])))[0].ref
    await page.socket.close()
    while not (await rig.call(ref)).is_orphaned:
        await rig.services.spine.store.run(lambda tx: None)
    rig.clock.advance(30_000)
    await rig.sweep()
    assert (await rig.call(ref)).state is not CallState.AWAITING_APPROVAL


async def test_its_session_ends_when_the_page_is_forgotten(rig: Rig) -> None:
    page = await rig.page(LIST)
    await request(page, envelope("describe"))
    (session,) = [s for s in await rig.store.run(lambda tx: list(tx.sessions.list())) if s.agent == "in-page:todo"]
    assert (session.page, session.user) == (page.welcome["page"], "ann")
    await page.socket.close()
    while rig.services.live.world.pages[page.welcome["page"]].is_connected:
        await rig.services.spine.store.run(lambda tx: None)
    rig.clock.advance(10_000)
    await rig.sweep()
    await rig.services.spine.drain()
    ended = await rig.store.run(lambda tx: tx.sessions.find(session.id))
    assert ended is not None
    assert ended.revoked_at is not None
    assert await rig.records("session.revoked", session=session.id)


async def test_too_many_requests_at_once_are_told_so(rig: Rig) -> None:
    page = await rig.page(ADD)
    for n in range(33):
        asked = envelope("invoke", id=f"r{n}", capability="todo.add", input={"title": str(n)})
        await page.send({"type": "surface", "id": f"s{n}", "envelope": asked})
    replies = [(await page.receive("surface_reply"))["envelope"] for _ in range(13)]
    assert {reply["error"]["code"] for reply in replies} == {"busy"}
    # Twelve found too many questions on the page, and one too many requests.
    assert len(await rig.records("call.refused", code="busy")) == 12
    assert len(await rig.records("access.refused", door="in_page", code="busy", peer=page.welcome["page"])) == 1


async def test_describe_relays_what_the_page_shows_and_stores_nothing(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    asking = asyncio.create_task(rig.services.surface.describe(session, {"limit": 1, "ids": ["7", "8"]}))
    question = await page.receive("describe")
    assert (question["limit"], question["offset"], question["ids"]) == (1, 0, ["7", "8"])
    window = {"offset": 0, "limit": 1, "total": 2, "next": 1}
    context = {"records": [{"id": "7"}], "recordIds": ["7", "9"], "recordWindow": window}
    await page.send({"type": "described", "id": question["id"], "context": context, "unavailable": ["8"]})
    assert (await asking)["context"] == {**context, "unavailable": ["8"]}
    assert await rig.records("context.described", page=page.welcome["page"])


async def test_another_page_cannot_answer_for_it(rig: Rig) -> None:
    stranger = await rig.page(LIST, user="bea")
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    asking = asyncio.create_task(rig.services.surface.describe(session, {}))
    question = await page.receive("describe")
    forged: dict[str, Any] = {"type": "described", "id": question["id"], "context": None, "unavailable": []}
    window = {"offset": 0, "limit": 20, "total": 0, "next": None}
    await stranger.send({**forged, "context": {"records": ["false"], "recordIds": [], "recordWindow": window}})
    await stranger.declare(LIST, seq=2)
    await page.send({**forged, "context": {"records": ["true"], "recordIds": [], "recordWindow": window}})
    assert (await asking)["context"]["records"] == ["true"]
