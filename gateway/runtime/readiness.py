"""Whether this gateway should be sent requests, and what its operator ought to know (`/readyz`)."""

import asyncio
from dataclasses import dataclass
from typing import Final

from gateway.runtime.spine import Spine
from gateway.runtime.steady_clock import SteadyClock

FRESH_MS: Final = 1_000
"""How long the answer of one probe serves everybody who asks."""

REFUSED_MAX: Final = 20
"""Requests in a row refused for their host name, with none served between: no scanner but a setting."""

BEHIND_MS: Final = 60_000
"""A wall clock this far behind makes stamps of honest programs look old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found. A check that fails means not ready; a warning does not."""

    checks: dict[str, str]
    warnings: list[str]
    is_ready: bool


class Readiness:
    """One per gateway."""

    def __init__(self, spine: Spine, clock: SteadyClock) -> None:
        self._spine = spine
        self._clock = clock
        self._probing: asyncio.Task[bool] | None = None
        self._probed_at: int | None = None
        self._refused = 0
        self.is_stopping = False

    def stop(self) -> None:
        """Begin to refuse: the gateway shuts down."""
        self.is_stopping = True

    def refused_host(self) -> None:
        """A request came under a name that is not ours."""
        self._refused += 1

    def served(self) -> None:
        """A request came under a name that is ours."""
        self._refused = 0

    async def report(self) -> Report:
        """Look now, or use what was found a moment ago."""
        can_commit = await self._can_commit()
        checks = {
            "store": "ok" if can_commit else "cannot commit",
            "listeners": "closing" if self.is_stopping else "ok",
        }
        return Report(checks=checks, warnings=self._warnings(), is_ready=can_commit and not self.is_stopping)

    async def _can_commit(self) -> bool:
        now = self._clock.monotonic()
        is_old = self._probed_at is None or now - self._probed_at >= FRESH_MS
        if self._probing is None or (is_old and self._probing.done()):
            self._probed_at = now
            self._probing = asyncio.get_running_loop().create_task(self._spine.store.probe())
        # One probe at a time: whoever leaves does not take it from the others.
        return await asyncio.shield(self._probing)

    def _warnings(self) -> list[str]:
        warnings: list[str] = []
        if self._refused >= REFUSED_MAX:
            warnings.append(
                f"the last {self._refused} requests came under host names this gateway does not answer to; "
                "see `host_refused` in the log, then `server.hosts` and `server.trusted_proxies`"
            )
        if self._clock.behind_ms > BEHIND_MS:
            warnings.append("the machine's clock was set back; restart the gateway to follow it")
        return warnings
