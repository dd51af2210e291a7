"""C46, also: an agent opens a stream and never reads it. It costs a bounded place, and nobody else notices."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.protocol.surface import PROTOCOL
from gateway.transports.agents_mcp.legacy_sessions import SESSIONS
from gateway.transports.agents_mcp.listening import STREAMS
from tests.support import todo_page
from tests.support.in_loop import until
from tests.support.mcp_gateway import ACCEPT, MODERN, FakePage, join_page
from tests.support.whole_gateway import CONVERSATION, MEANT, Whole, serving

pytestmark = pytest.mark.anyio

HELD = 64 * 1024
"""What asyncio keeps for a connection before it says that it is behind."""
LATER: dict[str, Any] = {"write_stall_ms": 300, "listed_changes_ms": 1}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Listener:
    """An agent that reads its stream."""

    heard: list[str] = field(default_factory=list[str])

    async def listen(self, whole: Whole, token: str) -> None:
        """Until cancelled."""
        parts = request(whole, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}, token=token)
        async with whole.client.stream(**parts, timeout=None) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: {"):
                    self.heard.append(json.loads(line[6:]).get("method", "result"))

    @property
    def changes(self) -> int:
        """How often it was told of a change."""
        return self.heard.count("notifications/tools/list_changed")


def request(whole: Whole, method: str, params: dict[str, Any], *, token: str | None = None) -> dict[str, Any]:
    """A request of the newer era, as arguments of `httpx.request`."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MEANT}}
    headers = {
        "mcp-protocol-version": MODERN,
        "mcp-method": method,
        "authorization": f"Bearer {token or whole.token}",
    }
    if "name" in params:
        headers["mcp-name"] = params["name"]
    return {**whole.knock("mcp", **headers), "content": json.dumps(message).encode()}


async def older(whole: Whole) -> dict[str, str]:
    """Begin a session as an older client does: the headers of its further requests."""
    start = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"},
    }
    headers = {"authorization": f"Bearer {whole.token}", "accept": ACCEPT, "content-type": "application/json"}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": start}
    answer = await whole.client.post(f"{whole.origin}/mcp", json=body, headers=headers)
    headers |= {"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await whole.client.post(f"{whole.origin}/mcp", json=ready, headers=headers)).status_code == 202
    return headers


async def stream_of(whole: Whole, era: str) -> bytes:
    """The request that opens a stream, as bytes."""
    if era == "lineup":
        lines, body = [f"GET /lineup/v1/conversations/{CONVERSATION}/stream HTTP/1.1", f"host: {whole.host}"], b""
        lines.append(f"authorization: Bearer {whole.token}")
    elif era == "older":
        lines, body = ["GET /mcp HTTP/1.1", *(f"{k}: {v}" for k, v in (await older(whole)).items())], b""
    else:
        wanted = request(whole, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        lines, body = ["POST /mcp HTTP/1.1", *(f"{k}: {v}" for k, v in wanted["headers"].items())], wanted["content"]
        lines.append(f"content-length: {len(body)}")
    if era == "older":
        lines.append(f"host: {whole.host}")
    return "\r\n".join([*lines, "", ""]).encode() + body


@asynccontextmanager
async def deaf(whole: Whole, era: str) -> AsyncGenerator[asyncio.Transport]:
    """Open a stream that nobody reads; the gateway's end of it. Little fits between the two machines."""
    opening = await stream_of(whole, era)
    before = set(whole.server.server_state.connections)
    with socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        plain.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(plain, ("127.0.0.1", whole.port))
        await until(lambda: set(whole.server.server_state.connections) - before)
        (connection,) = set(whole.server.server_state.connections) - before
        transport: asyncio.Transport = connection.transport  # type: ignore[union-attr] - one of ours
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        await loop.sock_sendall(plain, opening)
        head = await loop.sock_recv(plain, 64)
        assert head.startswith(b"HTTP/1.1 200")
        yield transport


async def change(page: FakePage, number: int) -> None:
    """Let the list be another one."""
    await page.declare(*((todo_page.ADD, todo_page.OVERVIEW) if number % 2 else (todo_page.ADD,)))


@pytest.mark.parametrize("era", ["newer", "older", "lineup"])
async def test_a_stream_nobody_reads_ends_and_the_others_are_told(tmp_path: Path, era: str) -> None:
    async with serving(tmp_path, **LATER) as whole:
        services = whole.gateway.services
        page = await join_page(services, todo_page.ADD)
        token = await second_agent(whole)
        other = Listener()
        listening = asyncio.create_task(other.listen(whole, token))
        await until(lambda: other.heard)
        async with deaf(whole, era) as transport:
            tasks, most, number = len(asyncio.all_tasks()), 0, 0
            while not transport.is_closing():
                number += 1
                assert number < 5_000, "a stream that nobody reads never ends"
                await change(page, number)
                await until(lambda number=number: other.changes >= number)
                most = max(most, transport.get_write_buffer_size())
                assert len(asyncio.all_tasks()) <= tasks + 5, "what waits for it grows"
            assert HELD < most < HELD + 4_096
        # Its place is free again, and what is told goes on.
        await change(page, number + 1)
        await until(lambda: other.changes >= number + 1)
        again = Listener()
        further = asyncio.create_task(again.listen(whole, whole.token))
        await until(lambda: again.heard)
        await change(page, number + 2)
        await until(lambda: again.changes)
        for task in (listening, further):
            task.cancel()
        await asyncio.gather(listening, further, return_exceptions=True)


async def second_agent(whole: Whole) -> str:
    """The token of another agent of the same user."""
    admin = whole.gateway.services.admin
    return (await admin.add_session("other", user="ada", sites=["todo"], scope=["todo.*"], by="test")).token


async def test_one_session_has_a_bounded_number_of_streams(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole:
        listeners = [Listener() for _ in range(STREAMS)]
        listening = [asyncio.create_task(listener.listen(whole, whole.token)) for listener in listeners]
        await until(lambda: all(listener.heard for listener in listeners))
        wanted = {"notifications": {"toolsListChanged": True}}
        refused = await whole.client.request(**request(whole, "subscriptions/listen", wanted))
        assert error_of(refused)["data"] == {"code": "busy"}
        assert len(await whole.records("access.refused", door="mcp", code="busy", session=whole.session.id)) == 1
        # Another agent has its own.
        other = Listener()
        listening.append(asyncio.create_task(other.listen(whole, await second_agent(whole))))
        await until(lambda: other.heard)
        for task in listening:
            task.cancel()
        await asyncio.gather(*listening, return_exceptions=True)


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """The JSON-RPC error, out of a body or a stream."""
    text = answer.text
    message = json.loads(next((line[6:] for line in text.splitlines() if line.startswith("data: {")), text))
    return message["error"]


async def test_sessions_of_older_clients_have_an_end_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole:
        first = await older(whole)
        kept = await older(whole)
        for _ in range(SESSIONS - 2):
            await older(whole)
        ping = {"jsonrpc": "2.0", "id": 5, "method": "ping"}
        url = f"{whole.origin}/mcp"
        assert (await whole.client.post(url, json=ping, headers=kept)).status_code == 200
        await older(whole)

        async def has_ended() -> bool:
            listed = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
            return (await whole.client.post(url, json=listed, headers=first)).status_code == 404

        await until(has_ended)
        assert (await whole.client.post(url, json=ping, headers=kept)).status_code == 200


async def test_the_calls_one_session_waits_for_have_an_end(tmp_path: Path) -> None:
    async with serving(tmp_path, waiting_per_session=3) as whole:
        page = await join_page(whole.gateway.services, todo_page.ADD)

        def add(number: int, token: str | None = None) -> dict[str, Any]:
            return request(whole, "tools/call", {"name": "todo_add", "arguments": {"text": str(number)}}, token=token)

        waiting = [asyncio.create_task(whole.client.request(**add(number))) for number in range(3)]
        await page.asked(3)
        refused = (await whole.client.request(**add(3))).json()["result"]
        assert (refused["isError"], refused["structuredContent"]["code"]) == (True, "busy")
        records = await whole.records("access.refused", door="mcp", code="busy", session=whole.session.id)
        assert len(records) == 1
        # By whatever door it comes.
        assert (await whole.client.request(**asked_by_envelope(whole))).json()["error"]["code"] == "busy"
        assert await whole.records("access.refused", door="surface", code="busy", session=whole.session.id)
        assert len(await whole.gateway.services.admin.calls(limit=10)) == 3
        # Another session has places of its own, and to cancel takes none.
        elsewhere = asyncio.create_task(whole.client.request(**add(4, await second_agent(whole))))
        await page.asked(4)
        ref = await oldest_of(whole, whole.session)
        cancel = {"name": "gateway_call_cancel", "arguments": {"ref": ref}}
        ended = (await whole.client.request(**request(whole, "tools/call", cancel))).json()["result"]
        assert ended["structuredContent"]["status"] == "cancelled"
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        waiting.append(asyncio.create_task(whole.client.request(**add(5))))
        await page.asked(5)
        for task in (*waiting, elsewhere):
            task.cancel()
        await asyncio.gather(*waiting, elsewhere, return_exceptions=True)


def asked_by_envelope(whole: Whole) -> dict[str, Any]:
    """A call by the surface protocol, as arguments of `httpx.request`."""
    services = whole.gateway.services
    sent = {"ostiary-nonce": services.ids.secret()[:32], "ostiary-timestamp": str(services.clock.now())}
    asked = {"protocol": PROTOCOL, "id": "r", "method": "invoke", "capability": "todo.add", "input": {"text": "x"}}
    return {**whole.knock("surface", **sent), "content": json.dumps(asked).encode()}


async def oldest_of(whole: Whole, session: AgentSession) -> str:
    """The ref of a session's first call."""
    calls = await whole.gateway.services.admin.calls(limit=10)
    return [call.ref for call in calls if call.session == session.id][-1]
