"""The whole gateway on a free loopback port: every door, the edge around them, and the connection bounds."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from gateway.asgi import Bounds, Server, server_of
from gateway.bootstrap import Gateway, build
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.configuration import Configuration
from gateway.domain.sites import AgentProfile
from gateway.runtime.ports import Clock, Store
from gateway.settings import Limits, Outbox
from gateway.settings import Server as ServerSettings
from policy.model import Rule
from tests.support.databases import url_for
from tests.support.mcp_gateway import ACCEPT, MODERN, free_port, site

CONVERSATION: Final = "conv_1"
"""Of the grant."""

DOORS: Final = {
    "mcp": "/mcp",
    "surface": "/surface/v1",
    "lineup": f"/lineup/v1/conversations/{CONVERSATION}/messages",
    "host_tokens": "/v1/host-tokens",
}
"""The doors of programs, as the audit trail names them."""

MEANT: Final = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "probe", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(eq=False, kw_only=True)
class Whole:
    """A running one, with a grant and a key."""

    gateway: Gateway
    server: Server
    port: int
    session: AgentSession
    token: str
    key: str
    client: httpx.AsyncClient

    @property
    def origin(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        """What a client that goes there writes into `Host`."""
        return f"127.0.0.1:{self.port}"

    def knock(self, door: str, **headers: str) -> dict[str, Any]:
        """A good request at `door`, as arguments of `httpx.request`; `headers` go over its own."""
        body = {
            "mcp": _list_tools(),
            "surface": _describe(),
            "lineup": _call(),
            "host_tokens": {"user": "ada", "origin": "http://todo.test"},
        }
        credential = self.key if door == "host_tokens" else self.token
        own = {
            "authorization": f"Bearer {credential}",
            "content-type": "application/json",
            "accept": ACCEPT,
            "host": self.host,
        }
        if door == "mcp":
            own |= {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
        return {
            "method": "POST",
            "url": f"{self.origin}{DOORS[door]}",
            "content": json.dumps(body[door]).encode(),
            "headers": {**own, **headers},
        }

    async def post(self, door: str, **headers: str) -> httpx.Response:
        """Send one."""
        return await self.client.request(**self.knock(door, **headers))

    async def records(self, event: str, **facts: Any) -> list[dict[str, Any]]:
        """Facts of the audit records of `event` that hold `facts`."""
        tail = await self.gateway.services.admin.audit_tail(limit=1_000)
        return [dict(r.facts) for r in tail if r.event == event and facts.items() <= dict(r.facts).items()]


def _list_tools() -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MEANT}}


def _describe() -> dict[str, Any]:
    return {"protocol": "pling.surface/0.1", "id": "req_1", "method": "describe", "input": {}}


def _call() -> dict[str, Any]:
    """A call of nothing: it is answered, and leaves no row."""
    payload: dict[str, Any] = {
        "call_id": "knock-001",
        "capability": "todo.nothing",
        "reason": "to knock",
        "expires_at": "2099-01-01T00:00:00Z",
        "arguments": {},
    }
    sender = {"kind": "agent", "id": "coder"}
    whole = {"v": 1, "id": "m1", "type": "lineup.v1.app.call", "conversation_id": CONVERSATION}
    return {**whole, "sender": sender, "payload": payload}


@asynccontextmanager
async def serving(
    data: Path,
    *,
    server: dict[str, Any] | None = None,
    store: Store | None = None,
    clock: Clock | None = None,
    outbox: Outbox | None = None,
    expose: tuple[str, ...] = (),
    rules: tuple[Rule, ...] = (),
    **limits: int,
) -> AsyncGenerator[Whole]:
    """Run one until the block ends; `server` and `limits` are fields of the settings.

    `expose` are patterns beside `todo.*`, for the site and in the scope of the grant.
    """
    port = free_port()
    plain: dict[str, Any] = {
        "listen_port": port,
        "public_url": f"http://127.0.0.1:{port}",
        "builtins": ("runtime.echo",),
        "database": url_for(data),
    }
    configuration = Configuration(
        revision="policy-000000000001",
        server=ServerSettings(**{**plain, **(server or {})}),
        limits=Limits(**{"calls_per_minute": 100_000, "calls_burst": 10_000, **limits}),
        sites={"todo": site("todo", "todo.*", *expose)},
        agents={name: AgentProfile(name=name, label=name) for name in ("coder", "other")},
        rules=rules,
        outbox=outbox or Outbox(),
    )
    async with build(configuration, data, store=store, clock=clock) as gateway:
        admin = gateway.services.admin
        grant = await admin.add_session(
            "coder",
            user="ada",
            sites=["todo"],
            scope=["runtime.*", "todo.*", *expose],
            conversation=CONVERSATION,
            by="test",
        )
        key = (await admin.add_key("todo", capabilities=["todo.*"], by="test")).secret
        listening = server_of(
            gateway.app, "127.0.0.1", port, gateway.stop_streams, bounds=Bounds.of(gateway.services)
        )
        task = asyncio.create_task(listening.serve())
        while not listening.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.005)
        async with httpx.AsyncClient(timeout=10) as client:
            yield Whole(
                gateway=gateway,
                server=listening,
                port=port,
                session=grant.session,
                token=grant.token,
                key=key,
                client=client,
            )
        listening.stop()
        await task
