"""How long a request waits for its call, and what it says meanwhile (design §11)."""

import time
from dataclasses import dataclass, replace
from typing import Protocol

from gateway.runtime.agent_sessions import AgentSessions
from gateway.runtime.answers import phase_of
from gateway.runtime.attendance import Waiter
from gateway.runtime.calls import is_finished
from gateway.runtime.requests import Outcome
from gateway.transports.agents_mcp.exchange import Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds. The defaults stay below what clients bear; tests shorten them."""

    before_task: float = 1.0
    with_progress: float = 240.0
    without: float = 45.0
    between_progress: float = 10.0
    between_pings: float = 15.0
    status: float = 25.0


class Line(Protocol):
    """The open answer of a request that waits."""

    @property
    def takes_progress(self) -> bool:
        """Whether the client asked for progress."""
        ...

    def watch(self) -> None:
        """Begin to notice the client leaving."""
        ...

    async def progress(self, n: int, message: str) -> None:
        """Tell how far it is."""
        ...

    async def ping(self) -> None:
        """Show proxies that the connection lives."""
        ...


class Waiting:
    """Waits for calls on behalf of requests; ends all waits when the gateway stops."""

    def __init__(self, sessions: AgentSessions, patience: Patience) -> None:
        self._sessions = sessions
        self._patience = patience
        self._waits: set[_Wait] = set()
        self._is_closing = False

    def close(self) -> None:
        """Let every wait answer now with where its call stands."""
        self._is_closing = True
        for wait in self._waits:
            wait.stop()

    async def until_finished(
        self, exchange: Exchange, outcome: Outcome, waiter: Waiter, line: Line, seconds: float
    ) -> Outcome:
        """The newest state: finished, or as it stands after `seconds`, or when there is a reason to stop."""
        wait = _Wait(waiter, exchange)
        self._waits.add(wait)
        leave = self._sessions.watch(exchange.session.id, wait.stop)
        line.watch()
        try:
            return await self._wait(wait, outcome, line, seconds)
        finally:
            leave()
            self._waits.discard(wait)

    async def _wait(self, wait: "_Wait", outcome: Outcome, line: Line, seconds: float) -> Outcome:
        now = time.monotonic()
        until = now + seconds
        teller = _Teller(line, self._patience, now)
        await teller.begins(outcome)
        while not is_finished(outcome.call) and not (wait.is_stopped or self._is_closing):
            now = time.monotonic()
            if now >= until:
                break
            news = await wait.waiter.next_news(min(until, teller.due) - now)
            if news is not None:
                outcome = replace(outcome, call=news.call, result=news.result)
            if not is_finished(outcome.call) and not wait.is_stopped:
                await teller.tells(outcome, news.progress if news else None, is_news=news is not None)
        return outcome


class _Wait:
    """One request waiting. Stopped when its client left, its session ended, or the gateway stops."""

    def __init__(self, waiter: Waiter, exchange: Exchange) -> None:
        self.waiter = waiter
        self._exchange = exchange
        self._was_stopped = False

    @property
    def is_stopped(self) -> bool:
        return self._was_stopped or self._exchange.is_gone

    def stop(self) -> None:
        self._was_stopped = True
        self.waiter.wake()


class _Teller:
    """Decides when the client hears something: at each piece of news, and at least at regular times."""

    def __init__(self, line: Line, patience: Patience, now: float) -> None:
        self._line = line
        self._every = patience.between_progress if line.takes_progress else patience.between_pings
        self._count = 0
        self.due = now + self._every

    async def begins(self, outcome: Outcome) -> None:
        # A person is slower than any machine: say at once what is waited for.
        if self._line.takes_progress and outcome.call.state.is_undispatched:
            await self._progress(phase_of(outcome.call))

    async def tells(self, outcome: Outcome, progress: str | None, *, is_news: bool) -> None:
        if self._line.takes_progress:
            if is_news or time.monotonic() >= self.due:
                await self._progress(progress or phase_of(outcome.call))
        elif time.monotonic() >= self.due:
            await self._line.ping()
            self.due = time.monotonic() + self._every

    async def _progress(self, message: str) -> None:
        self._count += 1
        await self._line.progress(self._count, message)
        self.due = time.monotonic() + self._every
