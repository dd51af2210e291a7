"""Who may open a page socket, and what a ticket and a resume secret are worth. Each refusal is in the trail."""

from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from gateway.domain.calls import CallState
from tests.interaction.page.rig import ADD, LIST, ORIGIN, OTHER_ORIGIN, Page, Rig, hello

pytestmark = pytest.mark.anyio


async def knock(rig: Rig, ticket: str, origin: str = ORIGIN, **changes: Any) -> Page:
    """A socket that has said `hello`."""
    page = Page(await rig.socket(origin), "A" * 16, "ann")
    await page.send(hello(page.document, ticket, **changes))
    return page


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "https://evil.example.test",
        "https://app.example.test.evil.test",
        "http://app.example.test",
        "https://app.example.test:8443",
        "https://APP.example.test",
        "https://app.example.test/",
    ],
)
async def test_another_origin_is_refused_before_the_upgrade(rig: Rig, origin: str | None) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await rig.socket(origin)
    assert refused.value.response.status_code == 403
    (record,) = await rig.records("access.refused", door="page", code="origin_refused")
    assert record.get("origin") == origin


async def test_another_host_name_is_refused_before_the_upgrade(rig: Rig) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await rig.socket(Host="rebound.example.test")
    assert refused.value.response.status_code == 421
    assert await rig.records("access.refused", door="page", code="host_refused")


async def test_a_ticket_is_good_once(rig: Rig) -> None:
    ticket = await rig.ticket()
    first = await rig.page(LIST, ticket=ticket)
    second = await knock(rig, ticket)
    assert await second.closed() == 4401
    assert await rig.records("page.refused", code="ticket_used")
    assert rig.services.live.world.pages[first.welcome["page"]].is_connected


async def test_a_ticket_expires(rig: Rig) -> None:
    ticket = await rig.ticket()
    rig.clock.advance(120_000)
    assert await (await knock(rig, ticket)).closed() == 4401
    assert await rig.records("page.refused", code="unauthenticated")


async def test_an_invented_ticket_is_nothing(rig: Rig) -> None:
    assert await (await knock(rig, "x" * 43)).closed() == 4401
    assert await rig.records("page.refused", code="unauthenticated")


async def test_a_ticket_of_another_site_stays_unused_there(rig: Rig) -> None:
    ticket = await rig.ticket(site="other")
    assert await (await knock(rig, ticket)).closed() == 4403
    assert await rig.records("page.refused", code="origin_refused")
    page = await knock(rig, ticket, OTHER_ORIGIN, site="other", url=f"{OTHER_ORIGIN}/")
    assert await page.receive("welcome")
    await page.socket.close()


@pytest.mark.parametrize("site", ["other", "nowhere"])
async def test_the_named_site_must_list_the_origin_of_the_handshake(rig: Rig, site: str) -> None:
    ticket = await rig.ticket()
    assert await (await knock(rig, ticket, site=site)).closed() == 4403
    assert await rig.records("access.refused", door="page", code="origin_refused", origin=ORIGIN)
    # It was not consumed by the refusal.
    assert (await rig.page(ticket=ticket)).welcome


async def test_an_agent_token_or_a_service_key_is_no_ticket(rig: Rig) -> None:
    _, token = await rig.grant()
    for credential in (token, await rig.key()):
        assert await (await knock(rig, credential)).closed() == 4401


async def test_a_stolen_resume_secret_gives_another_user_nothing(rig: Rig) -> None:
    page = await rig.page(ADD, LIST)
    session, _ = await rig.grant()
    running = await rig.submit(session, "todo.list", {})
    asked = await rig.submit(session, "todo.add", {"title": "private"})
    invoke, request = await page.receive("invoke"), await page.receive("approve_request")

    thief = await rig.page(ADD, LIST, user="eve", resume=page.welcome["resume"], seen=[invoke["ref"]])
    assert thief.welcome["page"] != page.welcome["page"]
    assert thief.welcome["epoch"] == 1
    await thief.decide(request, "approve")
    assert (await thief.receive("approve_update"))["code"] == "unknown_call"
    await thief.answer(invoke, {"forged": True})
    await thief.receive("ack")
    assert not any(thief.has(kind) for kind in ("invoke", "approve_request"))
    assert (await rig.call(running[0].call.ref)).state is CallState.DISPATCHED
    assert (await rig.call(asked[0].call.ref)).state is CallState.AWAITING_APPROVAL
    # The one it was stolen from never noticed.
    assert rig.services.live.world.pages[page.welcome["page"]].is_connected
    await page.answer(invoke, {})
    assert (await rig.outcome(running)).call.state is CallState.SUCCEEDED
    assert await rig.records("approval.refused", page=thief.welcome["page"])
    assert await rig.records("frame.refused", peer=thief.welcome["page"], code="unknown_call")


async def test_a_resume_secret_is_nothing_at_another_site_of_the_same_user(rig: Rig) -> None:
    page = await rig.page(LIST)
    ticket = await rig.ticket(site="other")
    other = await knock(
        rig, ticket, OTHER_ORIGIN, site="other", url=f"{OTHER_ORIGIN}/", resume=page.welcome["resume"]
    )
    assert (await other.receive("welcome"))["page"] != page.welcome["page"]
    await other.socket.close()


async def test_a_fresh_ticket_of_somebody_else_ends_the_socket(rig: Rig) -> None:
    page = await rig.page(LIST)
    await page.send({"type": "ticket", "ticket": await rig.ticket("eve")})
    assert await page.closed() == 4401
    assert await rig.records("page.refused", peer=page.welcome["page"], code="unauthenticated")


async def test_what_a_replaced_socket_still_says_is_ignored(rig: Rig) -> None:
    page = await rig.page(ADD)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.add", {"title": "a"})
    request = await page.receive("approve_request")
    # It has not heard yet that it was replaced.
    page.socket.transport.pause_reading()
    again = await rig.page(ADD, document=page.document, resume=page.welcome["resume"])
    await page.send({"type": "caps", "seq": 9, "part": 1, "parts": 1, "capabilities": []})
    await page.decide(request, "approve")
    page.socket.transport.resume_reading()
    assert await page.closed() == 4409
    await again.receive("approve_request")
    assert set(rig.services.live.world.pages[again.welcome["page"]].capabilities) == {"todo.add"}
    assert (await rig.call(submitted[0].call.ref)).state is CallState.AWAITING_APPROVAL


async def test_no_data_goes_out_before_the_ticket_was_checked(rig: Rig) -> None:
    page = Page(await rig.socket(), "A" * 16, "ann")
    await page.send({"type": "surface", "id": "1", "envelope": {}})
    assert (await page.receive("error"))["code"] == "bad_request"
    assert not page.has("surface_reply")
    assert not page.has("activity")
    await page.socket.close()
