"""Server-side request forgery through a mini app: a handler reaches what was declared, public and nothing else."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.domain.configuration import AppGrant
from tests.support.python_apps import Hosted, hosting

pytestmark = pytest.mark.anyio

APP = "com.example.fetch"

MODULE = """
from capabilities.contract import Confirm, ContextError, Effect, agent_tools, python_tool

OBJECT = {{"type": "object"}}


async def get(arguments, context):
    try:
        answer = await context.http.request("GET", arguments["url"])
        return {{"status": answer.status, "body": answer.text, "location": answer.headers.get("location", "")}}
    except ContextError as error:
        return {{"error": type(error).__name__, "words": str(error)}}


TOOLS = agent_tools(
    app="com.example.fetch", name="Fetch", version="1.0.0", description="Fetches.",
    tools=[python_tool(
        "fetch.get", get, title="T", description="D.", input=OBJECT, output=OBJECT,
        effect=Effect.READ, confirm=Confirm.NEVER, permissions={permissions!r},
    )],
)
"""


@dataclass
class Inside:
    """A server of the gateway's own network, with a secret."""

    port: int = 0
    paths: list[str] = field(default_factory=list[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split()[1]
        self.paths.append(path)
        if path == "/away":
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/secret\r\nContent-Length: 0\r\n\r\n")
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nMARKER-5")
        writer.close()


@pytest.fixture
async def inside() -> AsyncGenerator[Inside]:
    made = Inside()
    async with await asyncio.start_server(made.serve, "127.0.0.1", 0) as listening:
        made.port = listening.sockets[0].getsockname()[1]
        yield made


@asynccontextmanager
async def fetching(folder: Path, inside: Inside, **grant: Any) -> AsyncGenerator[Hosted]:
    """A gateway whose app declares the server by two of its names, and one name that is somewhere else."""
    declared = [f"http:localhost:{inside.port}", f"http:127.0.0.1:{inside.port}", "http:api.example.com"]
    text = MODULE.format(permissions=declared)
    apps = {APP: AppGrant(**grant)} if grant else {}
    async with hosting(folder, text, app=APP, module="fetch", grant=declared, apps=apps) as hosted:
        yield hosted


async def test_a_declared_host_of_the_own_network_is_refused_by_whatever_name(tmp_path: Path, inside: Inside) -> None:
    async with fetching(tmp_path, inside) as hosted:
        for host in ("localhost", "127.0.0.1", "LOCALHOST"):
            answer = await hosted.call("fetch_get", url=f"http://{host}:{inside.port}/secret")
            assert answer["result"]["error"] == "NotPermitted"
            assert "internal_hosts" in answer["result"]["words"]
        records = await hosted.gateway.records("handler.refused")
        assert [(r["app"], r["what"], r["code"]) for r in records] == [(APP, "http", "forbidden")] * 3
        assert {r["target"] for r in records} == {f"localhost:{inside.port}", f"127.0.0.1:{inside.port}"}
    assert inside.paths == []


async def test_a_host_that_is_not_declared_is_refused_however_it_is_written(tmp_path: Path, inside: Inside) -> None:
    async with fetching(tmp_path, inside, internal_hosts=("localhost", "127.0.0.1", "127.1", "2130706433")) as hosted:
        for url in (
            f"http://127.1:{inside.port}/secret",
            f"http://2130706433:{inside.port}/secret",
            f"http://0x7f000001:{inside.port}/secret",
            f"http://[::ffff:127.0.0.1]:{inside.port}/secret",
            f"http://localhost.:{inside.port}/secret",
            f"http://api.example.com@localhost:{inside.port}/secret",
            f"http://localhost:{inside.port + 1}/secret",
            "http://localhost/secret",
            "https://evil.example.com/",
            "gopher://localhost/",
        ):
            answer = await hosted.call("fetch_get", url=url)
            assert answer["result"]["error"] == "NotPermitted", url
        assert len(await hosted.gateway.records("handler.refused")) == 10
    assert inside.paths == []


async def test_what_the_administrator_names_is_asked_and_a_redirect_is_not_followed(
    tmp_path: Path, inside: Inside
) -> None:
    async with fetching(tmp_path, inside, internal_hosts=(f"localhost:{inside.port}",)) as hosted:
        answer = await hosted.call("fetch_get", url=f"http://localhost:{inside.port}/wiki")
        assert answer["result"] == {"status": 200, "body": "MARKER-5", "location": ""}
        away = await hosted.call("fetch_get", url=f"http://localhost:{inside.port}/away")
        assert (away["result"]["status"], away["result"]["location"]) == (302, "http://127.0.0.1/secret")
        other = await hosted.call("fetch_get", url=f"http://127.0.0.1:{inside.port}/secret")
        assert other["result"]["error"] == "NotPermitted"
        trail = str(await hosted.gateway.records())
    assert inside.paths == ["/wiki", "/away"]
    assert "MARKER-5" not in trail
