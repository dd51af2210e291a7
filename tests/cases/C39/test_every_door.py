"""C39 at the doors of agents: what a list opens is what is listed is what can be called, and nothing else exists.

What the file says of lists that are missing, null or mistyped is in tests/unit/adapters/test_configuration_cases.py:
design §4 makes them errors, so no gateway runs with them. `a.*` is one segment (rules J).
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from capabilities.contract import Descriptor
from gateway.adapters.configuration_file import load
from gateway.protocol.surface import PROTOCOL
from policy.vocabulary import Confirm, Effect
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import FakePage, McpGateway, join_page, running_gateway

FILES = (Path(__file__).parent / "input.yaml").read_text().split("\n---\n")
REGISTERED = ("notes.read", "notes.delete", "notes.admin.purge", "mail.send")
ABSENT = "notes.absent"
OPENED: dict[int, set[str]] = {
    1: set(),
    5: {"notes.read", "notes.delete"},
    7: {"notes.read"},
    8: set(),
}
"""By the place in the file of the case: b, f, h, i."""


def a_read(name: str) -> Descriptor:
    return Descriptor(
        id=name, description=name, input_schema={"type": "object"}, effect=Effect.READ, confirm=Confirm.NEVER
    )


@asynccontextmanager
async def opened(tmp_path: Path, number: int) -> AsyncGenerator[tuple[McpGateway, str, FakePage]]:
    """A gateway under one of the files, bob's token, and the page that registers everything."""
    read = load(FILES[number], "ostiary.yaml")
    # The page rig's pages come from this origin.
    sites = {"notes": replace(read.sites["notes"], origins=("http://notes.test",))}
    async with running_gateway(tmp_path, sites=sites, rules=read.rules) as gateway:
        page = await join_page(gateway.services, *(a_read(name) for name in REGISTERED), site="notes")
        page.act = lambda capability, _: {"ran": capability}
        _, token = await gateway.add_session(
            agent="bob", sites=["notes"], scope=["notes.*", "notes.admin.*", "mail.*"]
        )
        yield gateway, token, page


async def listed(gateway: McpGateway, client: httpx.AsyncClient, token: str) -> set[str]:
    answer = (await gateway.modern(client, "tools/list", token=token)).json()
    tools: list[dict[str, Any]] = answer["result"]["tools"]
    metas = [tool.get("_meta", {}).get("dev.ostiary/capability") for tool in tools]
    return {name for name in metas if name}


async def over_mcp(gateway: McpGateway, client: httpx.AsyncClient, token: str, name: str) -> dict[str, Any]:
    return await gateway.call(client, "gateway_invoke", {"capability": name, "arguments": {}}, token=token)


async def over_surface(gateway: McpGateway, token: str, method: str, number: int, **fields: Any) -> dict[str, Any]:
    head = {
        "Authorization": f"Bearer {token}",
        "Ostiary-Nonce": f"nonce-{number:012d}",
        "Ostiary-Timestamp": str(gateway.services.clock.now()),
    }
    envelope: dict[str, Any] = {"protocol": PROTOCOL, "id": "1", "method": method, "input": {}, **fields}
    door = httpx.ASGITransport(app=gateway.gateway.app)
    async with httpx.AsyncClient(transport=door, base_url=f"http://127.0.0.1:{gateway.port}") as client:
        return (await client.post("/surface/v1", json=envelope, headers=head)).json()


@pytest.mark.parametrize("number", OPENED)
@in_loop
async def test_what_is_listed_is_what_can_be_called(tmp_path: Path, number: int) -> None:
    async with opened(tmp_path, number) as (gateway, token, page), httpx.AsyncClient(timeout=20) as client:
        assert await listed(gateway, client, token) == OPENED[number]
        ran: set[str] = set()
        refusals: set[str] = set()
        for name in (*REGISTERED, ABSENT):
            answer = await over_mcp(gateway, client, token, name)
            if not answer["isError"]:
                ran.add(name)
            else:
                refusals.add(str(answer["structuredContent"]).replace(name, "it"))
        assert ran == OPENED[number]
        assert {frame["capability"] for frame in page.of_type("invoke")} == OPENED[number]
        # What is not allowed is answered like what does not exist.
        assert len(refusals) == 1
        assert "unknown_capability" in refusals.pop()
        refused = [record["capability"] for record in await gateway.records("call.refused")]
        assert sorted(refused) == sorted({*REGISTERED, ABSENT} - OPENED[number])


@pytest.mark.parametrize("number", OPENED)
@in_loop
async def test_the_surface_door_knows_the_same(tmp_path: Path, number: int) -> None:
    async with opened(tmp_path, number) as (gateway, token, page):
        described = (await over_surface(gateway, token, "describe", 0))["result"]["capabilities"]
        assert {capability["id"] for capability in described} == OPENED[number]
        refusals: set[str] = set()
        for place, name in enumerate((*REGISTERED, ABSENT), start=1):
            answer = await over_surface(gateway, token, "invoke", place, capability=name)
            if name in OPENED[number]:
                assert answer["result"]["result"] == {"ran": name}
            else:
                refusals.add(str(answer).replace(name, "it"))
        assert {frame["capability"] for frame in page.of_type("invoke")} == OPENED[number]
        assert len(refusals) == 1
        assert "CAPABILITY_NOT_EXPOSED" in refusals.pop()
