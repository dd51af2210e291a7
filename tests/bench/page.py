"""Agent to page to agent: the demo's read action through the MCP door and a headless Chromium."""

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.demo.browser import browser
from gateway.demo.scene import stage
from gateway.demo.story import agent, until

LIMITS: Final = (
    "calls_per_minute: 1000000, calls_burst: 100000, requests_per_minute: 10000000, requests_burst: 1000000"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrips:
    """Times of `count` calls in milliseconds."""

    p50_ms: float
    p95_ms: float
    count: int


def round_trips(count: int) -> RoundTrips:
    """Call `todo.overview` of a live page `count` times, one after the other."""
    with tempfile.TemporaryDirectory(prefix="ostiary-bench-") as folder:
        return asyncio.run(_round_trips(Path(folder), count))


async def _round_trips(folder: Path, count: int) -> RoundTrips:
    async with (
        stage(folder, automated=True, limits=LIMITS) as scene,
        browser() as chromium,
        agent(scene) as client,
    ):
        page = await chromium.new_page()
        await page.goto(scene.site_url)
        await until(lambda: any(p.capabilities for p in scene.gateway.services.live.world.pages.values()))
        times: list[float] = []
        for _ in range(count + 20):
            began = time.perf_counter()
            result = await client.call_tool("todo_overview", {})
            times.append((time.perf_counter() - began) * 1_000)
            if result.is_error:
                raise RuntimeError(f"the call failed: {result.content}")
        warm = sorted(times[20:])
        return RoundTrips(p50_ms=warm[count // 2], p95_ms=warm[int(count * 0.95)], count=count)
