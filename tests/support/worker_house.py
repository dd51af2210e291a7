"""Everything around `Workers` in a test: who hears the news, and who answers handlers when the test says so."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from gateway.adapters.clock import SystemClock
from gateway.adapters.executors.python_workers import PythonWorkers
from gateway.domain.workers import (
    Asker,
    Conversation,
    Denial,
    Ending,
    Inbound,
    Job,
    Kept,
    Loss,
    Outbound,
    ServiceDenied,
)
from gateway.runtime.ports import Clock, Workers
from gateway.settings import Limits
from gateway.testing import FakeClock

APP: Final = "com.example.orders"
APPS: Final = Path(__file__).parent / "worker_apps"
HERE: Final = Conversation(user="ada", id="talk")
THERE: Final = Conversation(user="bob", id="talk")
C = TypeVar("C", bound=Clock)

SECONDS: Final = 20.0
"""How long a test waits for what has to come."""


class News:
    """`WorkerNews` that keeps everything, in order."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Any]] = []
        self._more = asyncio.Condition()

    def _note(self, kind: str, *what: Any) -> None:
        self.all.append((kind, what[0] if len(what) == 1 else what))
        self.wake()

    def wake(self) -> None:
        """Let whoever waits look again."""

        async def wake() -> None:
            async with self._more:
                self._more.notify_all()

        task = asyncio.get_running_loop().create_task(wake())
        task.add_done_callback(lambda _: None)

    def started(self, ref: str) -> None:
        self._note("started", ref)

    def progressed(self, ref: str, n: float, total: float | None, message: str | None) -> None:
        self._note("progressed", ref, n, total, message)

    def ended(self, ref: str, ending: Ending) -> None:
        self._note("ended", ref, ending)

    def lost(self, ref: str, why: Loss) -> None:
        self._note("lost", ref, why)

    def worker_ended(self, app: str, why: Loss) -> None:
        self._note("worker_ended", app, why)

    def of(self, kind: str) -> list[Any]:
        """Everything of one kind so far."""
        return [what for found, what in self.all if found == kind]

    async def until(self, holds: Callable[[], Any]) -> Any:
        """What `holds` gives, once it gives something."""
        async with asyncio.timeout(SECONDS), self._more:
            await self._more.wait_for(holds)
            return holds()

    async def begun(self, ref: str) -> None:
        """The handler of `ref` runs."""
        await self.until(lambda: ref in self.of("started"))

    async def ending(self, ref: str) -> Ending:
        """How `ref` ended."""
        found = await self.until(lambda: [ending for one, ending in self.of("ended") if one == ref])
        return found[0]

    async def loss(self, ref: str) -> Loss:
        """Why `ref` was lost."""
        found = await self.until(lambda: [why for one, why in self.of("lost") if one == ref])
        return found[0]

    def ends_of(self, ref: str) -> int:
        """How often the end or the loss of `ref` was told."""
        return sum(one == ref for one, _ in (*self.of("ended"), *self.of("lost")))


class Gates:
    """`HandlerServices` in the hands of the test: secrets are gates that stay shut until they are opened."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Asker]] = []
        self.requests: list[Outbound] = []
        self.emitted: list[tuple[str, str]] = []
        self.kept = Kept(data='{"n":1}', revision=3)
        self._open: dict[str, asyncio.Future[str]] = defaultdict(asyncio.get_running_loop().create_future)
        self._reached: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def open(self, *names: str) -> None:
        """Let whoever waits at these gates go on, also who comes later."""
        for name in names:
            if not self._open[name].done():
                self._open[name].set_result(f"value of {name}")

    def shut(self, name: str, denied: ServiceDenied | None = None) -> None:
        """Let nobody through any more; `denied` turns everybody away."""
        self._open[name] = asyncio.get_running_loop().create_future()
        self._reached[name] = asyncio.Event()
        if denied is not None:
            self._open[name].set_exception(denied)

    async def reached(self, name: str) -> None:
        """Somebody came to this gate since it was shut."""
        async with asyncio.timeout(SECONDS):
            await self._reached[name].wait()

    def times(self, name: str) -> int:
        """How often somebody came to this gate."""
        return sum(asked == name for asked, _ in self.asked)

    async def secret(self, asker: Asker, name: str) -> str:
        self.asked.append((name, asker))
        self._reached[name].set()
        return await asyncio.shield(self._open[name])

    async def session_data(self, asker: Asker) -> Kept:
        self.asked.append(("session_data", asker))
        return self.kept

    async def put_session_data(self, asker: Asker, data: str, *, revision: int) -> int:
        if revision != self.kept.revision:
            raise ServiceDenied(Denial.CONFLICT, "meanwhile", revision=self.kept.revision)
        self.kept = Kept(data=data, revision=revision + 1)
        return self.kept.revision

    async def emit(self, asker: Asker, kind: str, data: str) -> None:
        self.emitted.append((kind, data))

    async def http(self, asker: Asker, request: Outbound) -> Inbound:
        self.requests.append(request)
        return Inbound(status=201, headers=(("x-c", "d"),), body=b"made")


@dataclass(eq=False, kw_only=True)
class House(Generic[C]):
    """One `Workers` with what is around it."""

    workers: Workers
    clock: C
    crash: Callable[[], None] = lambda: None
    app: str = APP
    limits: Limits = field(default_factory=Limits)
    news: News = field(default_factory=News)
    gates: Gates = field(default_factory=Gates)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.workers.connect(self.news, self.gates, lambda: self.limits)

    @property
    def pid(self) -> int:
        """The process of the app's worker; 0 while there is none."""
        assert isinstance(self.workers, PythonWorkers)
        return self.workers.pid(self.app) or 0

    @property
    def name(self) -> str:
        """The last word of the app's id, which its methods begin with."""
        return self.app.rpartition(".")[2]

    def start(self, folder: Path = APPS) -> None:
        """Start the app."""
        self.workers.start(self.app, folder, f"{self.name}_app")

    def submit(
        self,
        method: str,
        arguments: str = "{}",
        *,
        within_ms: int = 30_000,
        at: Conversation = HERE,
        app: str | None = None,
    ) -> str:
        """Hand a job over; returns its ref."""
        ref = f"call_{next(self._numbers)}"
        app = app or self.app
        job = Job(
            app=app,
            ref=ref,
            method=f"{app.rpartition('.')[2]}.{method}",
            arguments=arguments,
            within_ms=within_ms,
            conversation=at,
            is_app_ready=method == "ready",
        )
        self.workers.submit(job)
        return ref

    async def hold(self, method: str = "wait", arguments: str = "{}", **how: Any) -> str:
        """Hand a job over and see its handler begin."""
        ref = self.submit(method, arguments, **how)
        await self.news.begun(ref)
        return ref


Real = House[SystemClock]

Timed = House[FakeClock]
"""A house whose clock moves only when the test says so."""
