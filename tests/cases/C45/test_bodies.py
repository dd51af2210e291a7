"""C45: bodies are counted by the bytes that came, at every door, and cost no more memory than a few limits.

B6 is the page channel's. `/v1/host-tokens` has a smaller limit of its own.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gateway.transports.surface_http.host_tokens import BODY_BYTES
from tests.support.raw_http import Line, chunk, head_of, line_to
from tests.support.whole_gateway import DOORS, Whole, serving

pytestmark = pytest.mark.anyio

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "input.json").read_text())
LIMIT = CASE["limit_bytes"]
LIMITS = {"mcp": LIMIT, "surface": LIMIT, "lineup": LIMIT, "host_tokens": BODY_BYTES}
MEMORY = 5 * LIMIT


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def whole(tmp_path: Path) -> AsyncIterator[Whole]:
    async with serving(tmp_path) as running:
        yield running


def padded(whole: Whole, door: str, size: int) -> bytes:
    """A good body of exactly `size` bytes."""
    return whole.knock(door)["content"].ljust(size)


async def refused(whole: Whole, line: Line, door: str, status: int, code: str) -> None:
    """The answer on `line` is this refusal, the connection is closed, and the trail knows."""
    answer = await line.answer()
    assert answer.status == status
    assert answer.headers["connection"] == "close"
    assert code in answer.body.decode()
    assert await line.ended()
    assert await whole.records("access.refused", door=door, code=code)


def peak_memory() -> int:
    """The most this process held since `forget_peak`, in bytes."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmHWM"].split()[0]) * 1_024


def forget_peak() -> Callable[[], int]:
    """Start measuring; the answer tells how far memory rose since."""
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_memory()
    return lambda: peak_memory() - before


@pytest.mark.parametrize("door", DOORS)
async def test_a_declared_length_is_refused_before_the_body_is_read(whole: Whole, door: str) -> None:
    async with line_to(whole.port) as line:  # B1
        await line.send(head_of(whole.knock(door), content_length=str(LIMITS[door] + 1)))
        await refused(whole, line, door, 413, "body_too_large")


@pytest.mark.parametrize("door", DOORS)
async def test_a_stream_without_a_length_is_refused_once_it_passed_the_limit(whole: Whole, door: str) -> None:
    part = chunk(b" " * 65_536)
    rise = forget_peak()
    async with line_to(whole.port) as line:  # B2
        await line.send(head_of(whole.knock(door), transfer_encoding="chunked"))
        reading, sent = asyncio.create_task(refused(whole, line, door, 413, "body_too_large")), 0
        with suppress(ConnectionError):  # the gateway hangs up on what it will not read
            while sent < CASE["B2"]["chunked_mib"] * 1_048_576:
                await line.send(part)
                sent += len(part)
        await reading
    assert sent < CASE["B2"]["chunked_mib"] * 1_048_576
    assert rise() < MEMORY


async def test_one_byte_pieces_cost_what_their_bytes_cost(whole: Whole) -> None:
    body = padded(whole, "surface", CASE["B3"]["total"])
    pieces = b"".join(chunk(body[at : at + 1]) for at in range(len(body)))
    rise = forget_peak()
    async with line_to(whole.port) as line:  # B3
        await line.send(head_of(whole.knock("surface"), transfer_encoding="chunked"))
        for at in range(0, len(pieces), 65_536):
            await line.send(pieces[at : at + 65_536])
        await line.send(b"0\r\n\r\n")
        assert (await line.answer()).status == 200
    assert rise() < MEMORY


@pytest.mark.parametrize("door", DOORS)
async def test_a_body_longer_than_its_length_confuses_no_later_request(whole: Whole, door: str) -> None:
    case = CASE["B4"][0]
    body = whole.knock(door)["content"]
    short = head_of(whole.knock(door), content_length=str(case["content_length"])) + body[: case["body"]]
    good = head_of(whole.knock(door), content_length=str(len(body))) + body
    async with line_to(whole.port) as line:
        await line.send(short + good)
        assert (await line.answer()).status == 400
        # What was left over is no request, and nothing behind it is taken for one.
        assert await line.ended()
    assert not await whole.records("ticket.minted")
    assert (await whole.post(door)).status_code == 200


@pytest.mark.parametrize("door", DOORS)
async def test_two_ways_to_tell_the_length_are_refused(whole: Whole, door: str) -> None:
    case = CASE["B4"][1]
    async with line_to(whole.port) as line:
        length = str(case["content_length"])
        head = head_of(whole.knock(door), content_length=length, transfer_encoding=case["transfer_encoding"])
        await line.send(head + chunk(whole.knock(door)["content"]) + b"0\r\n\r\n")
        answer = await line.answer()
        assert (answer.status, answer.headers["connection"]) == (400, "close")
        assert await line.ended()
    assert not await whole.records("ticket.minted")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip", "x-gzip"])
async def test_a_packed_body_is_not_unpacked(whole: Whole, door: str, encoding: str) -> None:
    answer = await whole.post(door, **{"content-encoding": encoding})  # B5
    assert answer.status_code == 415
    assert await whole.records("access.refused", door=door, code="encoding_unsupported")


@pytest.mark.parametrize("door", DOORS)
async def test_exactly_the_limit_is_accepted(whole: Whole, door: str) -> None:
    body = padded(whole, door, LIMITS[door])  # B7
    knock: dict[str, Any] = {**whole.knock(door), "content": body}
    answer = await whole.client.request(**knock)
    assert answer.status_code == 200
    async with line_to(whole.port) as line:
        await line.send(head_of(whole.knock(door), transfer_encoding="chunked") + chunk(body) + b"0\r\n\r\n")
        assert (await line.answer()).status == 200


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("framing", [{"content_length": "1000"}, {"transfer_encoding": "chunked"}])
async def test_a_body_that_does_not_come_is_not_waited_for(
    tmp_path: Path, door: str, framing: dict[str, str]
) -> None:
    async with serving(tmp_path, body_read_ms=200) as whole, line_to(whole.port) as line:  # B8
        await line.send(head_of(whole.knock(door), **framing) + b"1")
        await refused(whole, line, door, 408, "too_slow")
