"""Every kind of credential at every door: the exact answer, and exactly one record of each refusal."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from websockets.asyncio.client import connect

from gateway.asgi import server_of
from gateway.bootstrap import build
from gateway.domain.admin_tokens import AdminScope
from gateway.domain.audit import Stream
from gateway.protocol.surface import PROTOCOL
from gateway.runtime.identity import TicketRequest
from gateway.runtime.services import Services
from gateway.testing import FakeClock, MemoryStore
from tests.interaction.page.rig import HOST, ORIGIN, configuration, free_port, hello
from tests.support.mcp_gateway import ACCEPT, MODERN

pytestmark = pytest.mark.anyio

OPEN: Final = (200, None)
UNKNOWN: Final = (401, "unauthenticated")
WRONG: Final = (401, "wrong_door")
KINDS: Final = ("agent", "site", "admin")

_STRANGERS: Final = {"none": UNKNOWN, "garbage": UNKNOWN, "ticket": UNKNOWN}


def _row(own: str, **ended: tuple[int, str]) -> dict[str, Any]:
    """What a door that `own` credentials open answers to each."""
    told: dict[str, Any] = dict(_STRANGERS)
    for kind in KINDS:
        told |= {kind: WRONG, f"revoked {kind}": WRONG, f"expired {kind}": WRONG}
    return {**told, own: OPEN, **{f"{end} {own}": answer for end, answer in ended.items()}}


_AGENTS: Final = _row("agent", revoked=(401, "session_revoked"), expired=(401, "session_expired"))
EXPECTED: Final[dict[str, dict[str, Any]]] = {
    "mcp": _AGENTS,
    "surface": _AGENTS,
    "lineup": _AGENTS,
    "lineup_stream": {**_AGENTS, "agent": (400, "bad_request")},
    "host_tokens": _row("site", revoked=UNKNOWN, expired=UNKNOWN),
    "admin": _row("admin", revoked=UNKNOWN, expired=UNKNOWN),
}
MCP_BODY: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "probe", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
CONVERSATION: Final = "conv_1"
MESSAGE: Final[dict[str, Any]] = {
    "v": 1,
    "id": "m1",
    "type": "lineup.v1.app.call",
    "conversation_id": CONVERSATION,
    "sender": {"kind": "agent", "id": "alice"},
    "payload": {
        "call_id": "call-0001",
        "capability": "todo.nothing",
        "reason": "to knock",
        "expires_at": "2099-01-01T00:00:00Z",
        "arguments": {},
    },
}
REQUESTS: Final[dict[str, tuple[str, str, Any]]] = {
    "mcp": ("POST", "/mcp", MCP_BODY),
    "surface": ("POST", "/surface/v1", {"protocol": PROTOCOL, "id": "1", "method": "describe", "input": {}}),
    "lineup": ("POST", f"/lineup/v1/conversations/{CONVERSATION}/messages", MESSAGE),
    "lineup_stream": ("GET", f"/lineup/v1/conversations/{CONVERSATION}/stream", None),
    "host_tokens": ("POST", "/v1/host-tokens", {"user": "ann", "origin": ORIGIN}),
    "admin": ("GET", "/admin/v1/status", None),
}
HEADERS: Final[dict[str, dict[str, str]]] = {
    "mcp": {"accept": ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": "tools/list"},
    # A stream that opens has no end; this one is refused by whoever let it in.
    "lineup_stream": {"last-event-id": "x"},
}


@dataclass
class House:
    """A gateway with all its doors, on a real port."""

    services: Services
    store: MemoryStore
    clock: FakeClock
    port: int

    async def credentials(self) -> dict[str, str | None]:
        """One of each kind. Those that end do so at once, the others last longer."""
        admin = self.services.admin
        made: dict[str, str | None] = {"none": None, "garbage": "nobody-knows-me"}
        for end in ("expired", "revoked", ""):
            name, days = f"{end} ".lstrip(), 1 if end == "expired" else 30
            grant = await admin.add_session(
                "alice",
                user="ann",
                sites=["todo"],
                scope=["todo.*"],
                days=days,
                conversation=CONVERSATION,
                by="test",
            )
            key = await admin.add_key("todo", capabilities=["todo.*"], days=days, by="test")
            token = await admin.tokens.add(
                f"{end or 'live'}-token", scopes=[AdminScope.READ.value], hours=24 * days, by="test"
            )
            made |= {f"{name}agent": grant.token, f"{name}site": key.secret, f"{name}admin": token.secret}
            if end == "revoked":
                await admin.revoke_session(grant.session.id, by="test")
                await admin.revoke_key(key.key.id, by="test")
                await admin.tokens.revoke("revoked-token", by="test")
        self.clock.advance(2 * 86_400_000)
        made["ticket"] = await self.ticket(made["site"] or "")
        return made

    async def ticket(self, secret: str) -> str:
        key = await self.services.identity.site_key(secret)
        return (await self.services.identity.mint_ticket(key, TicketRequest(user="ann", origin=ORIGIN)))[0]

    async def refusals(self, event: str) -> list[dict[str, Any]]:
        chained = await self.store.run(
            lambda tx: [r for stream in Stream for r in tx.audit.read(stream, after=0, limit=10_000)]
        )
        bodies = [json.loads(record.body) for record in chained]
        return [body["facts"] for body in bodies if body["event"] == event]


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncGenerator[House]:
    store, clock, port = MemoryStore(), FakeClock(), free_port()
    async with build(configuration(port), tmp_path, store=store, clock=clock) as gateway:
        server = server_of(gateway.app, HOST, port, gateway.stop_streams)
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
        yield House(gateway.services, store, clock, port)
        gateway.stop_streams()
        server.should_exit = True
        await serving
        clock.advance(1_000)


@pytest.mark.parametrize("door", EXPECTED)
async def test_each_credential_at_each_door(door: str, tmp_path: Path) -> None:
    method, path, body = REQUESTS[door]
    async with opened(tmp_path) as house, httpx.AsyncClient(base_url=f"http://{HOST}:{house.port}") as client:
        answers: dict[str, Any] = {}
        for kind, credential in (await house.credentials()).items():
            head = dict(HEADERS.get(door, {}))
            if credential is not None:
                head["authorization"] = f"Bearer {credential}"
            before = len(await house.refusals("access.refused"))
            answer = await client.request(method, path, json=body, headers=head)
            error: dict[str, Any] = answer.json()["error"] if answer.status_code >= 400 else {}
            answers[kind] = (answer.status_code, error.get("data", error).get("code"))
            records = (await house.refusals("access.refused"))[before:]
            told = [] if answers[kind] == OPEN else [(door.removesuffix("_stream"), answers[kind][1])]
            assert [(record["door"], record["code"]) for record in records] == told, kind
            assert credential is None or credential not in str(records)
        assert answers == EXPECTED[door]


async def test_only_a_ticket_opens_the_page_door(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        given = await house.credentials()
        del given["none"]  # a `hello` without a ticket is no frame: tests/interaction/page/test_frames.py
        for kind, credential in given.items():
            before = len(await house.refusals("page.refused"))
            async with connect(f"ws://{HOST}:{house.port}/page/v1", origin=ORIGIN) as socket:  # type: ignore[arg-type] - a NewType of str
                await socket.send(json.dumps(hello("A" * 16, credential or "")))
                if kind == "ticket":
                    assert json.loads(await socket.recv())["type"] == "welcome"
                else:
                    await socket.wait_closed()
                    assert socket.close_code == 4401, kind
            records = (await house.refusals("page.refused"))[before:]
            assert [record["code"] for record in records] == ([] if kind == "ticket" else ["unauthenticated"]), kind
