"""One kind of credential opens one door; a browser of a strange origin opens none. Each refusal is in the trail."""

from typing import Any

import pytest

from tests.interaction.page.rig import LIST, ORIGIN, Rig, running
from tests.interaction.surface.client import envelope, invoke, post

pytestmark = pytest.mark.anyio

DOORS = {
    "surface": "/surface/v1",
    "lineup": "/lineup/v1/conversations/conv_1/messages",
    "host_tokens": "/v1/host-tokens",
}
BODIES: dict[str, Any] = {
    "surface": envelope("describe"),
    "lineup": {
        "v": 1,
        "id": "m1",
        "type": "lineup.v1.app.call",
        "conversation_id": "conv_1",
        "sender": {"kind": "agent", "id": "alice"},
        "payload": {
            "call_id": "call-0001",
            "capability": "todo.nothing",
            "reason": "to knock",
            "expires_at": "2099-01-01T00:00:00Z",
            "arguments": {},
        },
    },
    "host_tokens": {"user": "ann", "origin": ORIGIN},
}


async def knock(rig: Rig, door: str, credential: str | None, **headers: str) -> Any:
    given = {} if credential is None else {"Authorization": f"Bearer {credential}"}
    return await rig.http.post(DOORS[door], json=BODIES[door], headers={**given, **headers})


async def right_credential(rig: Rig, door: str) -> str:
    return await rig.key() if door == "host_tokens" else (await rig.grant(conversation="conv_1"))[1]


@pytest.mark.parametrize("door", DOORS)
async def test_the_right_credential_opens_it(rig: Rig, door: str) -> None:
    assert (await knock(rig, door, await right_credential(rig, door))).status_code == 200
    assert not await rig.records("access.refused")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("credential", [None, "ost_agent_invented", "ost_site_invented_secret", "x" * 2_000])
async def test_no_credential_or_an_invented_one_is_401(rig: Rig, door: str, credential: str | None) -> None:
    answer = await knock(rig, door, credential)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    (record,) = await rig.records("access.refused", door=door)
    assert record["code"] in ("unauthenticated", "wrong_door")
    assert credential is None or credential not in str(record)


@pytest.mark.parametrize("door", DOORS)
async def test_a_good_credential_at_the_wrong_door_is_401(rig: Rig, door: str) -> None:
    wrong = (await rig.grant())[1] if door == "host_tokens" else await rig.key()
    answer = await knock(rig, door, wrong)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "wrong_door")
    assert await rig.records("access.refused", door=door, code="wrong_door")


@pytest.mark.parametrize("door", DOORS)
async def test_basic_credentials_are_no_bearer(rig: Rig, door: str) -> None:
    credential = await right_credential(rig, door)
    answer = await rig.http.post(DOORS[door], json=BODIES[door], headers={"Authorization": f"Basic {credential}"})
    assert answer.status_code == 401
    assert await rig.records("access.refused", door=door, code="unauthenticated")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("origin", ["https://evil.example.test", "null", ORIGIN])
async def test_a_browser_of_an_unlisted_origin_is_403_whatever_it_holds(rig: Rig, door: str, origin: str) -> None:
    answer = await knock(rig, door, await right_credential(rig, door), Origin=origin)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_refused")
    assert await rig.records("access.refused", door=door, code="origin_refused", origin=origin)


@pytest.mark.parametrize("door", DOORS)
async def test_a_listed_origin_passes(door: str) -> None:
    async with running(server={"origins": ("https://console.example.test",)}) as rig:
        credential = await right_credential(rig, door)
        assert (await knock(rig, door, credential, Origin="https://console.example.test")).status_code == 200


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("host", ["rebound.example.test", "127.0.0.1", "127.0.0.1:1", "evil.test:8460"])
async def test_another_host_name_is_421(rig: Rig, door: str, host: str) -> None:
    answer = await knock(rig, door, await right_credential(rig, door), Host=host)
    assert (answer.status_code, answer.json()["error"]["code"]) == (421, "host_refused")
    assert await rig.records("access.refused", door=door, code="host_refused")


async def test_assets_answer_to_the_gateways_names_only(rig: Rig) -> None:
    assert (await rig.http.get("/surface-host.js", headers={"Host": "rebound.example.test"})).status_code == 421
    assert await rig.records("access.refused", door="assets", code="host_refused")


async def test_configured_names_and_loopback_names_are_answered() -> None:
    async with running(server={"hosts": ("Gateway.example.test",)}) as rig:
        for host in ("gateway.example.test", f"localhost:{rig.port}", f"127.0.0.1:{rig.port}", f"[::1]:{rig.port}"):
            assert (await rig.http.get("/surface-host.js", headers={"Host": host})).status_code == 200


async def test_a_revoked_session_is_out_at_once(rig: Rig) -> None:
    await rig.page(LIST)
    session, token = await rig.grant()
    assert (await post(rig, token, invoke("todo.list"), headers={"Prefer": "wait=0"})).status_code == 200
    await rig.services.identity.revoke_session(session.id, by="test")
    answer = await post(rig, token, invoke("todo.list"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "session_revoked")
    assert len(await rig.records("access.refused", door="surface", code="session_revoked")) == 1


async def test_an_expired_session_is_out(rig: Rig) -> None:
    _, token = await rig.grant(days=1)
    rig.clock.advance(86_400_000)
    answer = await post(rig, token, envelope("describe"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "session_expired")
    assert await rig.records("access.refused", door="surface", code="session_expired")


async def test_an_expired_key_mints_nothing(rig: Rig) -> None:
    key = await rig.key()
    rig.clock.advance(400 * 86_400_000)
    answer = await rig.http.post(
        "/v1/host-tokens", json=BODIES["host_tokens"], headers={"Authorization": f"Bearer {key}"}
    )
    assert answer.status_code == 401
    assert await rig.records("access.refused", door="host_tokens", code="unauthenticated")


async def test_a_call_of_another_agent_is_like_one_that_is_not_there(rig: Rig) -> None:
    await rig.page(LIST)
    _, alice = await rig.grant()
    _, bob = await rig.grant("bob")
    body = (await post(rig, alice, invoke("todo.list"), headers={"Prefer": "wait=0"})).json()
    for name in (body["result"]["ref"], "call_aaaaaaaaaaaaaaaaaaaaaaaaaa"):
        for method in ("status", "cancel"):
            answer = await post(rig, bob, envelope(method, input={"ref": name}))
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_call")


@pytest.mark.parametrize("door", DOORS)
async def test_a_refusal_stays_one_though_it_cannot_be_noted(rig: Rig, door: str) -> None:
    heal = rig.fail_commits()
    answer = await knock(rig, door, "nonsense")
    heal()
    assert answer.status_code == 401
