"""`POST /v1/host-tokens`: what a site's backend may ask for, and what it gets."""

from typing import Any

import pytest

from tests.interaction.page.rig import LIST, ORIGIN, OTHER_ORIGIN, Rig

pytestmark = pytest.mark.anyio

GOOD: dict[str, Any] = {"user": "ann", "origin": ORIGIN}


async def ask(rig: Rig, body: Any, key: str | None = None) -> Any:
    headers = {"Authorization": f"Bearer {key or await rig.key()}"}
    return await rig.http.post("/v1/host-tokens", json=body, headers=headers)


async def test_a_ticket_lets_a_document_in_once(rig: Rig) -> None:
    answer = await ask(rig, GOOD)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert set(answer.json()) == {"ticket", "expires_in"}
    assert answer.json()["expires_in"] == 120
    page = await rig.page(LIST, ticket=answer.json()["ticket"])
    assert rig.services.live.world.pages[page.welcome["page"]].session.user == "ann"


async def test_sub_is_another_word_for_user(rig: Rig) -> None:
    page = await rig.page(ticket=(await ask(rig, {"sub": "bea", "origin": ORIGIN})).json()["ticket"])
    assert rig.services.live.world.pages[page.welcome["page"]].session.user == "bea"


async def test_capabilities_and_life_can_only_be_narrowed(rig: Rig) -> None:
    answer = await ask(rig, {**GOOD, "capabilities": ["todo.list", "secret.read"], "ttl": 5})
    assert answer.json()["expires_in"] == 5
    page = await rig.page(ticket=answer.json()["ticket"])
    session = rig.services.live.world.pages[page.welcome["page"]].session
    assert session.capabilities == ("todo.list",)


@pytest.mark.parametrize(
    "body",
    [
        {**GOOD, "admin": True},
        {**GOOD, "sub": "bea"},
        {"user": "ann"},
        {"origin": ORIGIN},
        {**GOOD, "user": ""},
        {**GOOD, "user": 7},
        {**GOOD, "ttl": 121},
        {**GOOD, "ttl": 0},
        {**GOOD, "ttl": "60"},
        {**GOOD, "capabilities": "todo.*"},
        {**GOOD, "capabilities": ["*"]},
        [],
    ],
)
async def test_a_wrong_body_is_refused_and_noted(rig: Rig, body: Any) -> None:
    answer = await ask(rig, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    refused = await rig.records("access.refused", door="host_tokens", code="bad_request")
    assert refused or await rig.records("ticket.refused", code="bad_request")


async def test_a_key_speaks_for_its_site_only(rig: Rig) -> None:
    answer = await ask(rig, {**GOOD, "origin": OTHER_ORIGIN})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_refused")
    assert await rig.records("ticket.refused", code="origin_refused", site="todo")
    assert not await rig.records("access.refused", door="host_tokens")


async def test_repeated_keys_are_refused(rig: Rig) -> None:
    body = b'{"user":"ann","user":"root","origin":"https://app.example.test"}'
    headers = {"Authorization": f"Bearer {await rig.key()}"}
    answer = await rig.http.post("/v1/host-tokens", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_json")
    assert await rig.records("access.refused", door="host_tokens", code="bad_json")
