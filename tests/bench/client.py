"""A lean client in a process of its own: keep-alive sockets, prepared bytes, every answer looked at.

Run as `python -m tests.bench.client` with a `Load` as JSON on standard input; prints a `Measured` as JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass

MODERN = "2026-07-28"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One measurement: `connections` in parallel for `seconds`, each sending `method` again and again.

    `expect` must stand in every answer. With `rate`, so many requests a second are due at equal distances over all
    connections, and an answer's time is counted from when its request was due: a server that stalls is not
    spared what would have come meanwhile.
    """

    host: str
    port: int
    token: str
    method: str
    tool: str | None
    arguments: dict[str, object] | None
    expect: str
    connections: int
    seconds: float
    rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came back: answers per second, and percentiles of their times in milliseconds."""

    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    answers: int


def request_of(load: Load) -> bytes:
    """The bytes of one request, the same every time."""
    params: dict[str, object] = {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    }
    if load.tool is not None:
        params |= {"name": load.tool, "arguments": load.arguments or {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": load.method, "params": params}).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        f"host: {load.host}:{load.port}",
        f"authorization: Bearer {load.token}",
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        f"mcp-protocol-version: {MODERN}",
        f"mcp-method: {load.method}",
        *([f"mcp-name: {load.tool}"] if load.tool is not None else []),
        f"content-length: {len(body)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def _answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"the server answered {head[:200]!r}")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if b"content-length" in fields:
        return await reader.readexactly(int(fields[b"content-length"]))
    body = b""
    while size := int(await reader.readline(), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readline()
    return body


async def _drive(load: Load, began: float, place: int, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection(load.host, load.port, limit=2**24)
    request, expect = request_of(load), load.expect.encode()
    async for due in _moments(load, began, place):
        writer.write(request)
        body = await _answer(reader)
        if expect not in body:
            raise RuntimeError(f"an answer lacks {load.expect!r}: {body[:300]!r}")
        times.append(time.perf_counter() - due)
    writer.close()


async def _moments(load: Load, began: float, place: int) -> AsyncGenerator[float]:
    """When each request of one connection is due: at once after the last answer, or on the beat of `rate`."""
    until = began + load.seconds
    if load.rate is None:
        while (now := time.perf_counter()) < until:
            yield now
        return
    beat = load.connections / load.rate
    due = began + place / load.rate
    while due < until:
        await asyncio.sleep(due - time.perf_counter())
        yield due
        due += beat


async def measure(load: Load) -> Measured:
    """Run one load."""
    times: list[float] = []
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for place in range(load.connections):
            group.create_task(_drive(load, began, place, times))
    spent = time.perf_counter() - began
    times.sort()
    return Measured(
        per_second=len(times) / spent,
        p50_ms=times[len(times) // 2] * 1_000,
        p95_ms=times[int(len(times) * 0.95)] * 1_000,
        p99_ms=times[int(len(times) * 0.99)] * 1_000,
        answers=len(times),
    )


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(measure(Load(**json.load(sys.stdin)))))))
