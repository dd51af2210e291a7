"""A page gets no more than key ∩ ticket ∩ site, and nothing once one of them is gone (design §2, §4)."""

from dataclasses import replace
from typing import Any

import pytest

from tests.interaction.page.rig import ADD, LIST, ORIGIN, Page, Rig, hello
from tests.interaction.surface.client import envelope, invoke, post

pytestmark = pytest.mark.anyio


async def mint(rig: Rig, key: str, **changes: Any) -> Any:
    return await rig.http.post(
        "/v1/host-tokens",
        json={"user": "ann", "origin": ORIGIN, **changes},
        headers={"Authorization": f"Bearer {key}"},
    )


def speak_for(rig: Rig, *users: str) -> None:
    """The site may speak for `users` only, from now on."""
    configuration = rig.services.live.world.configuration
    sites = {**configuration.sites, "todo": replace(configuration.sites["todo"], users=users)}
    rig.services.live.configure(replace(configuration, sites=sites), {})


async def refused(rig: Rig, ticket: str) -> None:
    page = Page(await rig.socket(), "A" * 16, "ann")
    await page.send(hello(page.document, ticket))
    assert await page.closed() == 4401
    assert len(await rig.records("page.refused", code="unauthenticated")) == 1


async def test_the_name_of_a_key_is_not_the_key(rig: Rig) -> None:
    key = await rig.key()
    answer = await mint(rig, key[:-4] + "AAAA")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthenticated")
    assert len(await rig.records("access.refused", door="host_tokens", code="unauthenticated")) == 1


async def test_a_site_speaks_for_its_own_users_only(rig: Rig) -> None:
    key = await rig.key()
    speak_for(rig, "ann", "staff-*")
    assert [(await mint(rig, key, user=user)).status_code for user in ("ann", "staff-1")] == [200, 200]
    answer = await mint(rig, key, user="eve")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert len(await rig.records("ticket.refused", code="forbidden")) == 1


async def test_a_ticket_of_a_user_the_site_lost_is_nothing(rig: Rig) -> None:
    ticket = await rig.ticket()
    speak_for(rig, "bea")
    await refused(rig, ticket)


async def test_a_ticket_of_a_revoked_key_is_nothing(rig: Rig) -> None:
    key = await rig.key()
    ticket = (await mint(rig, key)).json()["ticket"]
    (known,) = await rig.services.admin.keys("todo")
    await rig.services.admin.revoke_key(known.id, by="test")
    await refused(rig, ticket)


async def test_a_ticket_is_no_wider_than_its_key_whatever_is_asked_for(rig: Rig) -> None:
    narrow = (await rig.services.admin.add_key("todo", capabilities=["todo.list"], by="test")).secret
    ticket = (await mint(rig, narrow, capabilities=["todo.*", "mail.*"])).json()["ticket"]
    page = await rig.page(ADD, LIST, ticket=ticket)
    _, token = await rig.grant(scope=["todo.*"])
    for which in ({}, {"page": page.welcome["page"]}):
        listed = (await post(rig, token, envelope("describe", **which))).json()["result"]["capabilities"]
        assert [capability["id"] for capability in listed] == ["todo.list"]
    answer = await post(rig, token, invoke("todo.add", title="milk"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "CAPABILITY_NOT_EXPOSED")
    assert len(await rig.records("call.refused", capability="todo.add", code="unknown_capability")) == 1


async def test_the_name_of_a_page_does_not_continue_it(rig: Rig) -> None:
    page = await rig.page(ADD)
    again = await rig.page(ADD, resume=f"{page.welcome['page']}.{'A' * 43}")
    assert again.welcome["page"] != page.welcome["page"]
    assert rig.services.live.world.pages[page.welcome["page"]].is_connected
