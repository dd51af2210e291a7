"""One run: start the gateway, put the load on, take it off, and say what stayed."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import SystemRandom
from typing import Any, Final

from tests.soak.gateway import SHORT
from tests.soak.load import SoakAgent, SoakPage, Tally

SETTLING_SECONDS: Final = 15.0
"""After the load: dropped pages are forgotten, approvals expire, deadlines pass."""

GROWTH_BYTES: Final = 16 * 1024 * 1024
"""How much the fitted memory may rise over the second half of a run."""

LEFT: Final = {"pages": 0, "waiters": 0, "exchanges": 0, "documents": 0, "live_pages": 0, "open_calls": 0}
"""What is there once the load is gone; tasks and futures are compared with what was there before it."""

SLACK: Final = 10


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a run found; `problems` is empty when all promises held."""

    seconds: float
    pages: int
    agents: int
    calls: int
    answers: dict[str, int]
    events: dict[str, int]
    p50_ms: float
    p99_ms: float
    slowest_ms: float
    rss_first_mib: float
    rss_half_mib: float
    rss_last_mib: float
    growth_mib: float
    before: dict[str, int]
    after: dict[str, int]
    problems: list[str]


class GatewayProcess:
    """The gateway's process and its command line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._turn = asyncio.Lock()

    async def ask(self, do: str, **fields: Any) -> Any:
        """One command, one answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        async with self._turn:
            self.process.stdin.write(json.dumps({"do": do, **fields}).encode() + b"\n")
            return json.loads(await self.process.stdout.readline())

    @property
    def rss(self) -> int:
        """Resident memory in bytes."""
        fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(fields[1]) * 4_096


@asynccontextmanager
async def gateway_process(folder: Path, times: str = SHORT) -> AsyncGenerator[GatewayProcess]:
    """Run it until the block ends, with these limits."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.soak.gateway",
        str(folder),
        times,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=2**24,
    )
    try:
        yield GatewayProcess(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(30):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def soak(*, seconds: float, pages: int, agents: int) -> Report:
    """Put `pages` and `agents` on a fresh gateway for `seconds`."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="ostiary-soak-") as folder:
        async with gateway_process(Path(folder)) as gateway:
            port = (await gateway.ask("ready"))["port"]
            before = await gateway.ask("counts")
            samples = await _put_on(gateway, port, tally, seconds=seconds, pages=pages, agents=agents)
            after = await _settled(gateway)
            verified = await gateway.ask("verify")
    return _report(tally, samples, before, after, verified, seconds=seconds, pages=pages, agents=agents)


async def _put_on(
    gateway: GatewayProcess,
    port: int,
    tally: Tally,
    *,
    seconds: float,
    pages: int,
    agents: int,
) -> list[tuple[float, int]]:
    began = time.monotonic()
    until = began + seconds
    chance = SystemRandom()
    tabs = [SoakPage(port, f"user{n % agents}", gateway.ask, tally, chance) for n in range(pages)]
    callers = [SoakAgent(port, f"user{n}", tabs[n::agents], gateway.ask, tally, chance) for n in range(agents)]
    samples: list[tuple[float, int]] = []

    async def sample() -> None:
        while True:
            samples.append((time.monotonic() - began, gateway.rss))
            await asyncio.sleep(min(1.0, seconds / 40))

    sampling = asyncio.create_task(sample())
    async with asyncio.TaskGroup() as group:
        for one in (*tabs, *callers):
            group.create_task(one.live(until))
    sampling.cancel()
    with suppress(asyncio.CancelledError):
        await sampling
    return samples


async def _settled(gateway: GatewayProcess) -> dict[str, int]:
    """The counts, once they are what should be left or the time for that is over."""
    ends = time.monotonic() + SETTLING_SECONDS
    while True:
        counts = await gateway.ask("counts")
        if all(counts[name] <= most for name, most in LEFT.items()) or time.monotonic() > ends:
            return counts
        await asyncio.sleep(0.5)


def _report(
    tally: Tally,
    samples: list[tuple[float, int]],
    before: dict[str, int],
    after: dict[str, int],
    verified: dict[str, bool],
    *,
    seconds: float,
    pages: int,
    agents: int,
) -> Report:
    half = [(at, rss) for at, rss in samples if at >= seconds / 2]
    growth = growth_of(half)
    times = sorted(tally.times) or [0.0]
    problems = [f"{number} calls were done twice" for number in [_twice(tally)] if number]
    problems += [f"stuck: {what}" for what in tally.stuck]
    problems += [f"{name} is {after[name]}, not {most}" for name, most in LEFT.items() if after[name] > most]
    problems += [
        f"{name} grew from {before[name]} to {after[name]}"
        for name in ("tasks", "futures")
        if after[name] > before[name] + SLACK
    ]
    if growth > GROWTH_BYTES:
        problems.append(f"memory rose by {growth / 2**20:.1f} MiB in the second half")
    if not verified["is_intact"]:
        problems.append("the audit trail is broken")
    if not tally.answers["succeeded"]:
        problems.append("no call succeeded")
    problems += [f"{n} answers were `{kind}`" for kind, n in tally.answers.items() if kind.startswith("http 5")]
    return Report(
        seconds=seconds,
        pages=pages,
        agents=agents,
        calls=after["calls"],
        answers=dict(tally.answers),
        events=dict(tally.events),
        p50_ms=times[len(times) // 2] * 1_000,
        p99_ms=times[int(len(times) * 0.99)] * 1_000,
        slowest_ms=times[-1] * 1_000,
        rss_first_mib=samples[0][1] / 2**20,
        rss_half_mib=half[0][1] / 2**20 if half else 0.0,
        rss_last_mib=samples[-1][1] / 2**20,
        growth_mib=growth / 2**20,
        before=before,
        after=after,
        problems=problems,
    )


def _twice(tally: Tally) -> int:
    return sum(count > 1 for count in tally.effects.values())


def growth_of(samples: list[tuple[float, int]]) -> float:
    """Bytes by which the straight line through `samples` (seconds, bytes) rises from the first to the last."""
    if len(samples) < 2:
        return 0.0
    at = sum(x for x, _ in samples) / len(samples)
    level = sum(y for _, y in samples) / len(samples)
    spread = sum((x - at) ** 2 for x, _ in samples)
    slope = sum((x - at) * (y - level) for x, y in samples) / spread if spread else 0.0
    return slope * (samples[-1][0] - samples[0][0])
