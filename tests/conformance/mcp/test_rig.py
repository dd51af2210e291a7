"""The rig itself: the proxy streams and hangs up as its two sides do, and results are read as written."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.bearer_proxy import bearer_proxy
from tests.support.mcp_conformance import Report, read_results, record_totals

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


@asynccontextmanager
async def serving(handler: Handler) -> AsyncGenerator[str, None]:
    """A raw server on a free port; yields its address."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A raw client."""
    address = urlsplit(url)
    return await asyncio.open_connection(address.hostname, address.port)


def run(conversation: Coroutine[None, None, None]) -> None:
    """Hold one conversation; nothing here may hang."""
    asyncio.run(asyncio.wait_for(conversation, 5))


def test_the_proxy_adds_the_token_to_every_request_of_a_connection_and_names_the_server() -> None:
    async def conversation() -> None:
        heads: list[list[bytes]] = []

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for _ in range(2):
                heads.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n"))
                assert await reader.readexactly(2) == b"{}"
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            writer.close()

        async with serving(answer) as server, bearer_proxy(server, "tok") as proxy:
            ours, theirs = (urlsplit(url).netloc.encode() for url in (proxy, server))
            reader, writer = await connect(proxy)
            for host in (ours, b"evil.example"):
                writer.write(
                    b"POST /mcp HTTP/1.1\r\nHost: %b\r\nOrigin: http://%b\r\nMcp-Method: x\r\n"
                    b"Authorization: Basic abc\r\nContent-Length: 2\r\n\r\n{}" % (host, host)
                )
                assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204")
            writer.close()

        for head, host in zip(heads, (theirs, b"evil.example"), strict=True):
            assert head[0] == b"POST /mcp HTTP/1.1"
            assert {b"Host: " + host, b"Origin: http://" + host, b"Mcp-Method: x"} <= set(head)
            assert [line for line in head if line.startswith(b"Authorization")] == [b"Authorization: Bearer tok"]

    run(conversation())


def test_the_proxy_passes_an_event_on_before_the_stream_goes_on_and_a_chunked_body_whole() -> None:
    async def conversation() -> None:
        go_on = asyncio.Event()
        body = b"3\r\nabc\r\n0\r\n\r\n"

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(len(body)) == body
            writer.write(STREAM_HEAD + b"data: first\n\n")
            await go_on.wait()
            writer.write(b"data: second\n\n")
            writer.close()

        async with serving(answer) as server, bearer_proxy(server, "tok") as proxy:
            reader, writer = await connect(proxy)
            writer.write(b"POST /mcp HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
            assert (await reader.readuntil(b"first\n\n")).endswith(b"data: first\n\n")
            go_on.set()
            assert await reader.read() == b"data: second\n\n"
            writer.close()

    run(conversation())


def test_the_server_sees_the_client_hang_up_in_the_middle_of_a_stream() -> None:
    async def conversation() -> None:
        left = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(STREAM_HEAD)
            assert await reader.read() == b""
            left.set()
            writer.close()

        async with serving(answer) as server, bearer_proxy(server, "tok") as proxy:
            reader, writer = await connect(proxy)
            writer.write(b"GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            writer.close()
            await left.wait()

    run(conversation())


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder as the suite leaves it: two scenarios, every status once."""
    for scenario, statuses in {
        "tools-list": ["SUCCESS", "INFO"],
        "caching": ["SUCCESS", "FAILURE", "SKIPPED"],
    }.items():
        folder = tmp_path / f"server-{scenario}-2026-11-30T04-12-16-504Z"
        folder.mkdir()
        checks = [
            {"id": f"c{index}", "status": status, "description": "it holds", "errorMessage": "it broke"}
            for index, status in enumerate(statuses)
        ]
        (folder / "checks.json").write_text(json.dumps(checks))
    return tmp_path


def test_results_become_totals_per_scenario_and_the_summary_tells_how_they_were_earned(results: Path) -> None:
    report = Report("2026-07-28", read_results(results, not_scored={"caching"}), exit_code=1, output="")
    assert (report.passed, report.failed) == (2, 1)
    assert report.broken() == {"caching": ["c1: it broke"]}
    assert report.broken(scored_only=True) == {}

    totals = results / "totals.json"
    record_totals(report, through_spine={"tools-list"}, path=totals)
    expected = {"passed": 2, "failed": 1, "through_spine": 1, "fixture_only": 1}
    assert json.loads(totals.read_text()) == {"2026-07-28": expected}


def test_naming_a_scenario_the_suite_did_not_run_is_a_mistake(results: Path) -> None:
    report = Report("2026-07-28", read_results(results), exit_code=0, output="")
    with pytest.raises(KeyError, match="tools-lst"):
        report.passed_in({"tools-lst"})
