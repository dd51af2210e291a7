"""A whole gateway over a real database on a thread of its own, and how long Schemathesis may knock at it.

`OSTIARY_FUZZ_EXAMPLES` sets how many runs of the state machine there are: a few in `make test`, many by night.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import hypothesis

from gateway.domain.admin_tokens import AdminScope
from tests.support.whole_gateway import Whole, serving

EXAMPLES: Final = int(os.environ.get("OSTIARY_FUZZ_EXAMPLES", "4"))
STEPS: Final = 12

SETTINGS: Final = hypothesis.settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    derandomize=EXAMPLES < 100,
    database=None,
    phases=[hypothesis.Phase.generate],
    suppress_health_check=cast("list[hypothesis.HealthCheck]", list(hypothesis.HealthCheck)),
)
"""The same requests in every short run, so that a failure there is a change; other ones in a long run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A gateway that runs elsewhere: its address and what opens its doors. `run` does something on its loop."""

    whole: Whole
    admin: str
    run: Callable[[Any], Any]

    def headers(self, credential: str) -> dict[str, str]:
        """What goes with every request."""
        return {"Authorization": f"Bearer {credential}"}


@contextmanager
def target(data: Path, **server: Any) -> Generator[Target]:
    """Serve until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="gateway")
    thread.start()

    def run(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(30)

    ready = asyncio.run_coroutine_threadsafe(_Hosting(data, server).start(), loop)
    try:
        hosting = ready.result(60)
        try:
            yield Target(whole=hosting.whole, admin=hosting.token, run=run)
        finally:
            run(hosting.stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


class _Hosting:
    """Holds `serving` open between two calls."""

    def __init__(self, data: Path, server: dict[str, Any]) -> None:
        self._context = serving(data, server=server, requests_per_minute=10_000_000, requests_burst=1_000_000)
        self._end = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.whole: Whole
        self.token: str

    async def start(self) -> "_Hosting":
        begun = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(begun))
        await asyncio.wait([begun, self._task], return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            self._task.result()
        return self

    async def _hold(self, begun: asyncio.Future[None]) -> None:
        async with self._context as whole:
            self.whole = whole
            tokens = whole.gateway.services.admin.tokens
            self.token = (await tokens.add("fuzzer", scopes=[s.value for s in AdminScope], by="test")).secret
            begun.set_result(None)
            await self._end.wait()

    async def stop(self) -> None:
        self._end.set()
        assert self._task is not None
        await self._task
