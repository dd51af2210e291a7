"""Who gets in at `/admin/v1`, and how far: one kind of credential, few scopes, no strange browsers. All in the trail."""

import json
from typing import Any

import pytest

from gateway.domain.admin_tokens import AdminScope
from gateway.transports.admin_http import TABLE
from tests.interaction.admin.client import program
from tests.interaction.page.rig import HOST, ORIGIN, Rig, hello

pytestmark = pytest.mark.anyio

OTHER_DOORS: dict[str, tuple[str, dict[str, Any]]] = {
    "surface": ("/surface/v1", {"protocol": "pling.surface/0.1", "id": "r", "method": "describe", "input": {}}),
    "host_tokens": ("/v1/host-tokens", {"user": "ann", "origin": ORIGIN}),
}


async def knock(rig: Rig, credential: str | None, path: str = "/status", **headers: str) -> Any:
    given = {} if credential is None else {"Authorization": f"Bearer {credential}"}
    return await rig.http.get(f"/admin/v1{path}", headers={**given, **headers})


@pytest.mark.parametrize("credential", [None, "ost_admin_invented", "x" * 2_000, "Bearer"])
@pytest.mark.parametrize("path", ["/status", "/nothing", "/sites/todo"])
async def test_nobody_known_learns_nothing(rig: Rig, credential: str | None, path: str) -> None:
    answer = await knock(rig, credential, path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["cache-control"] == "no-store"
    (record,) = await rig.records("access.refused", door="admin")
    assert (record["code"], record["peer"]) == ("unauthenticated", HOST)
    assert credential is None or credential not in str(record)


@pytest.mark.parametrize("kind", ["agent", "site"])
async def test_other_credentials_open_other_doors(rig: Rig, kind: str) -> None:
    credential = (await rig.grant())[1] if kind == "agent" else await rig.key()
    answer = await knock(rig, credential)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "wrong_door")
    assert await rig.records("access.refused", door="admin", code="wrong_door")


@pytest.mark.parametrize("door", OTHER_DOORS)
async def test_an_admin_token_opens_no_other_door(rig: Rig, door: str) -> None:
    path, body = OTHER_DOORS[door]
    headers = {"Authorization": f"Bearer {await rig.admin_token()}"}
    answer = await rig.http.post(path, json=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "wrong_door")
    assert await rig.records("access.refused", door=door, code="wrong_door")


async def test_an_admin_token_is_no_ticket(rig: Rig) -> None:
    socket = await rig.socket()
    page = hello("document-of-the-attacker", await rig.admin_token())
    await socket.send(json.dumps(page))
    await socket.wait_closed()
    assert socket.close_code == 4401
    assert await rig.records("page.refused")


@pytest.mark.parametrize("end", ["revoked", "expired"])
async def test_a_token_that_ended_opens_nothing(rig: Rig, end: str) -> None:
    credential = await rig.admin_token()
    assert (await knock(rig, credential)).status_code == 200
    if end == "revoked":
        await rig.services.admin.tokens.revoke("pipeline", by="test")
    else:
        rig.clock.advance(90 * 86_400_000)
    answer = await knock(rig, credential)
    assert (answer.status_code, answer.json()["error"]["message"]) == (401, f"the admin token is {end}")
    assert await rig.records("access.refused", door="admin", code="unauthenticated")


@pytest.mark.parametrize("origin", ["https://evil.example.test", "null", ORIGIN])
async def test_a_browser_of_an_unlisted_origin_is_refused_whatever_it_holds(rig: Rig, origin: str) -> None:
    answer = await knock(rig, await rig.admin_token(), Origin=origin)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_refused")
    assert await rig.records("access.refused", door="admin", code="origin_refused", origin=origin)


async def test_another_host_name_is_421_also_for_the_description(rig: Rig) -> None:
    for path in ("/status", "/openapi.json"):
        answer = await knock(rig, await rig.admin_token(name=f"n{len(path)}"), path, Host="rebound.example.test")
        assert (answer.status_code, answer.json()["error"]["code"]) == (421, "host_refused")
    assert len(await rig.records("access.refused", door="admin", code="host_refused")) == 2


async def test_a_scope_opens_what_it_names_and_nothing_else(rig: Rig) -> None:
    crowd = {scope: await program(rig, scope, name=scope.value) for scope in AdminScope}
    for row in TABLE.operations:
        path = row.path.format(**dict.fromkeys(row.placeholders, "none"))
        for scope, holder in crowd.items():
            answer = await holder.ask(row.method, path, content=b"?" if row.method == "POST" else None)
            if scope in row.scopes:
                assert answer.status_code != 403, (row.name, scope)
                continue
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "scope_missing"), (row.name, scope)
            assert answer.json()["error"]["scopes"] == sorted(row.scopes)
            assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    for scope, holder in crowd.items():
        refused = [r.facts["what"] for r in await holder.news() if r.facts.get("code") == "scope_missing"]
        assert refused == [row.what for row in TABLE.operations if scope not in row.scopes]


def test_reading_changes_nothing_and_no_scope_makes_tokens() -> None:
    posts = {row.name for row in TABLE.operations if row.method != "GET" and AdminScope.READ in row.scopes}
    assert posts == {"checkConfiguration"}, "which takes a text and keeps nothing of it"
    assert not [row.name for row in TABLE.operations if row.method == "POST" and row.path == "/admin-tokens"]


async def test_the_use_of_a_token_is_noted_by_the_hour(rig: Rig) -> None:
    holder = await program(rig)
    hour = rig.clock.now() - rig.clock.now() % 3_600_000

    async def last_used() -> int | None:
        await rig.services.spine.drain()
        (token,) = await rig.services.admin.tokens.list()
        return token.last_used_at

    assert await last_used() is None
    await holder.get("/status")
    assert await last_used() == hour
    rig.clock.advance(3_600_000)
    await holder.get("/status")
    assert await last_used() == hour + 3_600_000
