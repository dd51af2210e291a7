"""C37: behind a proxy the right host is served, and an address somebody made up is not believed.

A connection from 127.0.0.1 is the proxy's; one from 127.0.0.2 is the case's untrusted peer 198.51.100.7.
"""

import ipaddress
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from gateway.testing import FakeClock
from tests.support.whole_gateway import DOORS, Whole, serving

pytestmark = pytest.mark.anyio

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "input.json").read_text())
REQUESTS: dict[str, dict[str, Any]] = {request["id"]: request for request in CASE["requests"]}
PUBLIC, TRUSTED = CASE["config"]["public_url"], tuple(CASE["config"]["trusted_proxies"])
STRANGER = "127.0.0.2"
SETTINGS: dict[str, Any] = {"public_url": PUBLIC, "trusted_proxies": TRUSTED}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def whole(tmp_path: Path) -> AsyncIterator[Whole]:
    async with serving(tmp_path, server=SETTINGS) as running:
        yield running


def from_peer(address: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(local_address=address), timeout=10)


async def send(whole: Whole, case: str, door: str, **more: str) -> httpx.Response:
    """One request of the case, from the peer it names."""
    request = REQUESTS[case]
    headers = {name: value for name, value in request.items() if name not in ("id", "peer", "repeat")}
    async with from_peer("127.0.0.1" if request["peer"] == "127.0.0.1" else STRANGER) as client:
        return await client.request(**whole.knock(door, **{"host": "gw.example.test", **_lower({**headers, **more})}))


def _lower(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def code_of(answer: httpx.Response) -> str:
    error = answer.json()["error"]
    return error.get("data", {}).get("code") or error["code"]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", ["M1", "M2", "M3"])
async def test_the_public_name_is_served_in_every_form_a_proxy_gives_it(whole: Whole, case: str, door: str) -> None:
    answer = await send(whole, case, door)
    assert answer.status_code == 200
    assert not await whole.records("access.refused")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", ["M4", "M5"])
async def test_another_name_is_refused_and_the_log_names_it_and_the_setting(
    whole: Whole, case: str, door: str
) -> None:
    with capture_logs() as lines:
        answer = await send(whole, case, door)
    assert (answer.status_code, code_of(answer)) == (421, "host_refused")
    assert "evil.test" not in answer.text
    (line,) = [line for line in lines if line["event"] == "host_refused"]
    setting = "server.trusted_proxies" if case == "M5" else "server.hosts"
    assert (line["host"], line["setting"], line["peer"]) == ("evil.test", setting, STRANGER)
    assert await whole.records("access.refused", door=door, code="host_refused", peer=STRANGER)


@pytest.mark.parametrize("door", DOORS)
async def test_a_name_that_stands_further_left_is_not_believed(whole: Whole, door: str) -> None:
    answer = await send(whole, "M3", door, **{"X-Forwarded-Host": "gw.example.test, evil.test"})
    assert (answer.status_code, code_of(answer)) == (421, "host_refused")
    assert await whole.records("access.refused", door=door, code="host_refused", peer="127.0.0.1")


@pytest.mark.parametrize("door", DOORS)
async def test_a_foreign_page_is_refused_though_the_host_is_right(whole: Whole, door: str) -> None:
    answer = await send(whole, "M6", door)
    assert (answer.status_code, code_of(answer)) == (403, "origin_refused")
    assert await whole.records("access.refused", door=door, code="origin_refused", origin="https://evil.test")


@pytest.mark.parametrize("door", DOORS)
async def test_made_up_addresses_neither_avoid_the_limit_nor_reach_the_trail(tmp_path: Path, door: str) -> None:
    async with serving(tmp_path, server=SETTINGS, clock=FakeClock(), requests_burst=30) as whole:
        knock = whole.knock(door, host="gw.example.test", authorization="Bearer ost_agent_invented")
        answers: list[httpx.Response] = []
        async with from_peer(STRANGER) as client:
            for number in range(200):
                knock["headers"]["x-forwarded-for"] = str(ipaddress.IPv4Address(0xCB007100 + number))
                answers.append(await client.request(**knock))
        assert [answer.status_code for answer in answers] == [401] * 30 + [429] * 170
        answer = answers[-1]
        assert code_of(answer) == "rate_limited"
        assert int(answer.headers["retry-after"]) >= 1
        assert ("jsonrpc" in answer.json()) == (door == "mcp")
        records = await whole.records("access.refused", door=door)
        assert {record["peer"] for record in records} == {STRANGER}
        # Counted after the first twenty, not listed.
        assert len([record for record in records if record["code"] == "rate_limited"]) == 20
        # Somebody else is not held to what the flood used up.
        assert (await whole.post(door, host="gw.example.test")).status_code == 200


async def test_the_right_most_hop_nobody_vouches_for_is_the_peer(whole: Whole) -> None:
    await send(whole, "M8", "surface", Authorization="Bearer ost_agent_invented")
    (record,) = await whole.records("access.refused", door="surface")
    assert record["peer"] == "198.51.100.7"


@pytest.mark.parametrize("forwarded", ["not an address", "198.51.100.7, <script>", "fe80::1%zone", ",,"])
async def test_what_is_no_address_never_stands_where_an_address_belongs(whole: Whole, forwarded: str) -> None:
    await send(whole, "M8", "surface", Authorization="Bearer invented", **{"X-Forwarded-For": forwarded})
    (record,) = await whole.records("access.refused", door="surface")
    assert record["peer"] == "127.0.0.1"


@pytest.mark.parametrize(("address", "peer"), [("127.0.0.1", "198.51.100.7"), (STRANGER, STRANGER)])
async def test_a_page_comes_from_where_its_proxy_says_and_from_nowhere_it_says_itself(
    whole: Whole, address: str, peer: str
) -> None:
    forwarded = {"X-Forwarded-For": "198.51.100.7"}
    with pytest.raises(InvalidStatus) as refused:
        # It has no origin, and is refused for that.
        await connect(f"ws://{whole.host}/page/v1", local_addr=(address, 0), additional_headers=forwarded)
    assert refused.value.response.status_code == 403
    (record,) = await whole.records("access.refused", door="page", code="origin_refused")
    assert record["peer"] == peer


async def test_the_limit_of_an_agent_follows_it_over_addresses_and_sessions(tmp_path: Path) -> None:
    async with serving(tmp_path, server=SETTINGS, calls_per_minute=60, calls_burst=2) as whole:
        admin = whole.gateway.services.admin
        second = await admin.add_session("coder", user="bob", sites=["todo"], scope=["runtime.*"], by="test")
        other = await admin.add_session("other", user="ada", sites=["todo"], scope=["runtime.*"], by="test")
        seen = [
            await echo(whole, token, peer)  # M9
            for token, peer in (
                (whole.token, "203.0.113.1"),
                (second.token, "203.0.113.2"),
                (whole.token, "203.0.113.3"),
                (second.token, "203.0.113.4"),
                (other.token, "203.0.113.4"),
            )
        ]
        assert seen == [None, None, "rate_limited", "rate_limited", None]
        assert await whole.records("call.refused", code="rate_limited", agent="coder")


async def echo(whole: Whole, token: str, peer: str) -> str | None:
    """The code `runtime.echo` is refused with, called through the proxy on behalf of `peer`."""
    now = whole.gateway.services.clock.now()
    knock = whole.knock(
        "surface",
        authorization=f"Bearer {token}",
        host="gw.example.test",
        **{"x-forwarded-for": peer, "ostiary-nonce": f"nonce-{peer:-<20}", "ostiary-timestamp": str(now)},
    )
    envelope = {"protocol": "pling.surface/0.1", "id": "r", "method": "invoke", "capability": "runtime.echo"}
    knock["content"] = json.dumps({**envelope, "input": {"text": peer}}).encode()
    answer = (await whole.client.request(**knock)).json()
    return answer["error"]["code"] if "error" in answer else None


async def test_readiness_does_not_stay_green_while_every_request_is_refused(whole: Whole) -> None:
    healthy = await whole.client.get(f"{whole.origin}/readyz", headers={"host": "10.0.0.7:8460"})
    assert (healthy.status_code, healthy.json()["warnings"]) == (200, [])
    for _ in range(20):
        await send(whole, "M4", "mcp")
    (warning,) = (await whole.client.get(f"{whole.origin}/readyz")).json()["warnings"]
    assert "server.hosts" in warning
    assert "server.trusted_proxies" in warning
    await send(whole, "M1", "mcp")
    assert (await whole.client.get(f"{whole.origin}/readyz")).json()["warnings"] == []
