"""Who is waiting for which call. A waiter is one request of one caller; it leaves when its caller does.

Touched by the event loop; units of work only ask `has_waiter`.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gateway.domain.calls import Call, Result
from gateway.domain.errors import ErrorCode, GatewayError


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """A change of a call told to its waiters. `result` is there once there is one."""

    call: Call
    result: Result | None = None
    progress: str | None = None


@dataclass(eq=False, slots=True)
class Waiter:
    """One caller waiting for one call; `is_gone` once its connection ended."""

    ref: str
    is_gone: bool = False
    _news: News | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, news: News) -> None:
        """Hand over the newest state of the call."""
        # Progress that was on its way when the call ended must not cover its end.
        if news.progress is None or self._news is None or self._news.progress is not None:
            self._news = news
        self._changed.set()

    def wake(self) -> None:
        """Let it look up though there is no news: its session or its door is closing."""
        self._changed.set()

    async def next_news(self, seconds: float) -> News | None:
        """The newest state not seen yet, within `seconds`; None when nothing came or it was woken."""
        if not self._changed.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
            except TimeoutError:
                return None
        self._changed.clear()
        news, self._news = self._news, None
        return news


class Attendance:
    """The waiters by ref, and what to do when the last one of a call leaves."""

    def __init__(self, on_empty: Callable[[str], None]) -> None:
        self._waiters: dict[str, set[Waiter]] = {}
        self._on_empty = on_empty

    def join(self, ref: str) -> Waiter:
        """A new waiter for `ref`; may be called before the call exists."""
        waiter = Waiter(ref)
        self._waiters.setdefault(ref, set()).add(waiter)
        return waiter

    def move(self, waiter: Waiter, ref: str) -> None:
        """Let `waiter` wait for another call than it first came for."""
        self._discard(waiter)
        waiter.ref = ref
        if not waiter.is_gone:
            self._waiters.setdefault(ref, set()).add(waiter)

    def leave(self, waiter: Waiter) -> None:
        """The caller has its answer."""
        self._discard(waiter)

    def hang_up(self, waiter: Waiter) -> None:
        """The caller's connection ended before an answer."""
        if waiter.is_gone:
            return
        waiter.is_gone = True
        if self._discard(waiter) and waiter.ref not in self._waiters:
            self._on_empty(waiter.ref)

    def has_waiter(self, ref: str) -> bool:
        """Whether anybody still waits for `ref`."""
        return ref in self._waiters

    def wake_all(self) -> None:
        """Let every request look up and answer with where its call stands: the gateway stops."""
        for waiters in self._waiters.values():
            for waiter in waiters:
                waiter.wake()

    def tell(self, news: News) -> None:
        """Hand `news` to every waiter of its call."""
        for waiter in tuple(self._waiters.get(news.call.ref, ())):
            waiter.tell(news)

    def _discard(self, waiter: Waiter) -> bool:
        waiters = self._waiters.get(waiter.ref)
        if waiters is None or waiter not in waiters:
            return False
        waiters.discard(waiter)
        if not waiters:
            del self._waiters[waiter.ref]
        return True


class Places:
    """Where requests wait, by agent session: whatever door they came by, they are counted together."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    @contextmanager
    def one(self, session: str, most: int) -> Generator[None]:
        """One of the `most` places in which requests of an agent session may wait.

        Raises:
            GatewayError: `busy`, they are all taken.
        """
        if self._taken[session] >= most:
            raise GatewayError(ErrorCode.BUSY, f"{most} requests of this session wait already; let one of them end")
        self._taken[session] += 1
        try:
            yield
        finally:
            self._taken[session] -= 1
            if not self._taken[session]:
                del self._taken[session]
