"""What a connection may cost before there is a request: places, heads, and answers nobody reads."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.in_loop import until
from tests.support.raw_http import PATIENCE, chunk, head_of, line_to
from tests.support.whole_gateway import Whole, serving

pytestmark = pytest.mark.anyio

HEAD = b"GET /livez HTTP/1.1\r\nHost: anything\r\n"


async def until_free(whole: Whole) -> None:
    """Wait until the gateway holds no connection any more."""
    async with asyncio.timeout(PATIENCE):
        while whole.server.server_state.connections:  # noqa: ASYNC110 - uvicorn tells nobody
            await asyncio.sleep(0.01)


async def is_noted(whole: Whole, code: str) -> None:
    """Wait until the trail has it, once."""
    await whole.gateway.services.spine.drain()
    assert len(await whole.records("access.refused", door="connection", code=code, peer="127.0.0.1")) == 1


async def test_a_head_that_does_not_end_is_not_waited_for(tmp_path: Path) -> None:
    async with serving(tmp_path, head_read_ms=200) as whole, line_to(whole.port) as line:
        await line.send(HEAD + b"X: ")
        answer = await line.answer()
        assert (answer.status, answer.headers["connection"]) == (408, "close")
        assert await line.ended()
        await is_noted(whole, "too_slow")


async def test_a_connection_that_says_nothing_is_closed_without_a_word(tmp_path: Path) -> None:
    async with serving(tmp_path, head_read_ms=200) as whole, line_to(whole.port) as line:
        assert await line.ended()
        assert not await whole.records("access.refused")


async def test_a_second_head_is_held_to_the_same_time(tmp_path: Path) -> None:
    async with serving(tmp_path, head_read_ms=200) as whole, line_to(whole.port) as line:
        await line.send(HEAD + b"\r\n")
        assert (await line.answer()).status == 200
        # Empty lines before a request belong to no message, and must not keep the connection open.
        await line.send(b"\r\n\r\n")
        assert (await line.answer()).status == 408
        assert await line.ended()
        await is_noted(whole, "too_slow")


async def test_a_slow_head_behind_an_answer_does_not_cost_the_answer(tmp_path: Path) -> None:
    async with serving(tmp_path, head_read_ms=100, body_read_ms=400) as whole, line_to(whole.port) as line:
        await line.send(head_of(whole.knock("surface"), content_length="5") + b"1")
        assert (await line.answer()).status == 408


@pytest.mark.parametrize(
    "flood",
    [
        b"".join(b"X-%d: y\r\n" % number for number in range(101)),
        b"X: " + b"y" * 40_000 + b"\r\n",
        b"X: " + b"y" * 500_000,
    ],
    ids=["many headers", "a large header", "a header without an end"],
)
async def test_a_head_that_is_too_large_is_refused(tmp_path: Path, flood: bytes) -> None:
    async with serving(tmp_path) as whole, line_to(whole.port) as line:
        await line.send(HEAD + flood + b"\r\n")
        answer = await line.answer()
        assert (answer.status, answer.headers["connection"]) == (431, "close")
        assert answer.headers["x-content-type-options"] == "nosniff"
        await is_noted(whole, "body_too_large")


async def test_an_address_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole, line_to(whole.port) as line:
        await line.send(b"GET /" + b"x" * 40_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
        assert (await line.answer()).status == 431
        await is_noted(whole, "body_too_large")


async def test_what_is_no_request_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole, line_to(whole.port) as line:
        await line.send(b"let me in\r\n\r\n")
        answer = await line.answer()
        assert (answer.status, answer.headers["connection"]) == (400, "close")
        assert await line.ended()
        await is_noted(whole, "bad_request")


async def test_a_head_at_its_limits_is_served(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole, line_to(whole.port) as line:
        await line.send(HEAD + b"".join(b"X-%d: y\r\n" % number for number in range(99)) + b"\r\n")
        assert (await line.answer()).status == 200


async def test_trailers_change_nothing_and_have_an_end(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole:
        knock = whole.knock("surface")
        del knock["headers"]["authorization"]
        async with line_to(whole.port) as line:
            whole_request = head_of(knock, transfer_encoding="chunked") + chunk(knock["content"]) + b"0\r\n"
            await line.send(whole_request + f"Authorization: Bearer {whole.token}\r\n\r\n".encode())
            assert (await line.answer()).status == 401
        assert await whole.records("access.refused", door="surface", code="unauthenticated")
        async with line_to(whole.port) as line:
            good = whole.knock("surface")
            await line.send(head_of(good, transfer_encoding="chunked") + chunk(good["content"]) + b"0\r\nX: ")
            await line.send(b"y" * 500_000)
            assert (await line.answer()).status == 431
        await is_noted(whole, "body_too_large")


async def test_connections_have_an_end_too(tmp_path: Path) -> None:
    async with serving(tmp_path, connections=2) as whole:
        async with line_to(whole.port) as first, line_to(whole.port) as second:
            for line in (first, second):
                await line.send(HEAD + b"\r\n")
                assert (await line.answer()).status == 200
            async with line_to(whole.port) as third:
                answer = await third.answer()
                assert (answer.status, answer.headers["retry-after"]) == (503, "1")
                assert await third.ended()
            await is_noted(whole, "busy")
        await until_free(whole)
        async with line_to(whole.port) as line:
            await line.send(HEAD + b"\r\n")
            assert (await line.answer()).status == 200


@pytest.mark.parametrize(("trusted", "status"), [((), 503), (("127.0.0.1",), 200)])
async def test_one_address_takes_no_more_than_its_share_unless_it_is_a_proxy(
    tmp_path: Path, trusted: tuple[str, ...], status: int
) -> None:
    settings: dict[str, Any] = {"trusted_proxies": trusted}
    async with serving(tmp_path, server=settings, connections_per_peer=1) as whole, line_to(whole.port) as first:
        await first.send(HEAD + b"\r\n")
        assert (await first.answer()).status == 200
        async with line_to(whole.port) as second:
            await second.send(HEAD + b"\r\n")
            assert (await second.answer()).status == status
        records = await whole.records("access.refused", door="connection", code="busy", peer="127.0.0.1")
        assert len(records) == (status == 503)
        async with line_to(whole.port, local_addr=("127.0.0.2", 0)) as other:
            await other.send(HEAD + b"\r\n")
            assert (await other.answer()).status == 200


@asynccontextmanager
async def deaf(whole: Whole) -> AsyncGenerator[Callable[[bytes], Awaitable[None]]]:
    """A client that reads nothing, over a line that holds little; what it is given, it sends."""
    with socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        plain.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(plain, ("127.0.0.1", whole.port))
        await until(lambda: whole.server.server_state.connections)
        (connection,) = whole.server.server_state.connections
        transport: asyncio.Transport = connection.transport  # type: ignore[union-attr] - one of ours
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        yield lambda data: loop.sock_sendall(plain, data)


def asset(whole: Whole, name: str, more: str = "") -> bytes:
    """A request for a file of the surface host."""
    return f"GET /{name} HTTP/1.1\r\nHost: {whole.host}\r\n{more}\r\n".encode()


async def test_answers_nobody_reads_are_not_kept(tmp_path: Path) -> None:
    async with serving(tmp_path, write_stall_ms=200) as whole, deaf(whole) as send:
        await send(asset(whole, "surface-host.js.map") * 100)
        await until_free(whole)


@pytest.mark.parametrize("why", ["it is idle", "it was the last", "the next is refused"])
async def test_a_connection_that_is_closed_does_not_wait_for_who_reads_nothing(tmp_path: Path, why: str) -> None:
    async with serving(tmp_path, write_stall_ms=200) as whole:
        whole.server.config.timeout_keep_alive = 1
        async with deaf(whole) as send:
            # Too much for the line, and too little to be called behind.
            await send(asset(whole, "surface-host.js", "Connection: close\r\n" if why == "it was the last" else ""))
            if why == "the next is refused":
                await until(lambda: whole.server.server_state.total_requests == 1)
                await send(b"let me in\r\n\r\n")
            await until_free(whole)
