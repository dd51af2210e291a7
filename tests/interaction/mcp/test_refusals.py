"""What the agents' door refuses before any method runs, and that each refusal is in the audit trail."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.settings import Limits
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import McpGateway, running_gateway


async def _refused(gateway: McpGateway, code: str) -> list[dict[str, Any]]:
    return [record for record in await gateway.records("access.refused") if record["code"] == code]


@in_loop
async def test_a_foreign_host_is_421(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient() as client:
        answer = await gateway.modern(client, "tools/list", headers={"host": "evil.example.com"})
        assert answer.status_code == 421
        assert answer.json()["error"]["data"] == {"code": "host_refused"}
        assert len(await _refused(gateway, "host_refused")) == 1


@in_loop
async def test_a_foreign_origin_is_403_and_none_is_welcome(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient() as client:
        answer = await gateway.modern(client, "tools/list", headers={"origin": "https://evil.example.com"})
        assert answer.status_code == 403
        assert answer.json()["error"]["data"] == {"code": "origin_refused"}
        assert len(await _refused(gateway, "origin_refused")) == 1
        allowed = await gateway.modern(client, "tools/list", headers={"origin": f"http://127.0.0.1:{gateway.port}"})
        assert allowed.status_code == 200


@pytest.mark.parametrize(
    ("token", "code"),
    [("ost_agent_unknown", "unauthenticated"), ("ost_site_x_y", "wrong_door"), ("anything", "unauthenticated")],
)
@in_loop
async def test_a_bad_token_is_401_without_an_authorization_server(tmp_path: Path, token: str, code: str) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient() as client:
        answer = await gateway.modern(client, "tools/list", token=token)
        assert answer.status_code == 401
        challenge = answer.headers["www-authenticate"]
        assert challenge.startswith("Bearer ")
        assert "resource_metadata" not in challenge
        assert len(await _refused(gateway, code)) == 1


@in_loop
async def test_a_body_over_the_limit_is_413_however_it_is_sent(tmp_path: Path) -> None:
    limits = Limits(body_bytes=2_000, calls_per_minute=1000)
    async with running_gateway(tmp_path, limits=limits) as gateway, httpx.AsyncClient() as client:
        message, head = gateway.modern_parts("tools/list")
        message["params"]["pad"] = "x" * 3_000
        body = json.dumps(message).encode()

        async def pieces() -> AsyncIterator[bytes]:
            for start in range(0, len(body), 500):
                yield body[start : start + 500]

        for content in (body, pieces()):
            answer = await client.post(gateway.url, content=content, headers=head)
            assert answer.status_code == 413
            assert answer.json()["error"]["code"] == -32600
        assert len(await _refused(gateway, "body_too_large")) == 2


@pytest.mark.parametrize(
    ("body", "rpc", "code"),
    [
        (b"{", -32700, "bad_json"),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":NaN}}', -32700, "bad_json"),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}', -32600, "bad_json"),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600, "bad_request"),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 80 + b"]" * 80 + b"}", -32600, "too_deep"),
        (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600, "bad_request"),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32600, "bad_request"),
    ],
)
@pytest.mark.parametrize("era", ["modern", "legacy"])
@in_loop
async def test_bodies_are_judged_before_the_sdk_sees_them(
    tmp_path: Path, body: bytes, rpc: int, code: str, era: str
) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient() as client:
        head = gateway.post_headers()
        if era == "modern":
            head |= {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
        answer = await client.post(gateway.url, content=body, headers=head)
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == rpc
        assert answer.json().get("id") is None
        assert len(await _refused(gateway, code)) == 1


@in_loop
async def test_headers_that_contradict_the_body_are_audited(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient() as client:
        answer = await gateway.modern(client, "tools/list", headers={"mcp-method": "tools/call"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)
        assert [record["session"] for record in await _refused(gateway, "bad_request")] == [gateway.session.id]


@in_loop
async def test_a_revoked_token_is_refused_at_once(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway, httpx.AsyncClient() as client:
        assert (await gateway.modern(client, "tools/list")).status_code == 200
        await gateway.services.identity.revoke_session(gateway.session.id, by="test")
        assert (await gateway.modern(client, "tools/list")).status_code == 401
        refused = await gateway.records("access.refused")
        assert len(refused) == 1
