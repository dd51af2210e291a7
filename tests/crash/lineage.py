"""One store and the lives over it: start, judge, probe, load, kill, and again; at the end everything settles."""

import asyncio
import signal
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx
from websockets.exceptions import WebSocketException

from gateway.failpoints import Point
from gateway.transports.control import ControlClient
from tests.crash.administrator import Administrator
from tests.crash.agents import GONE, Agents
from tests.crash.consumer import Consumer, mind
from tests.crash.gateway import Life, start
from tests.crash.judge import judge, standing_of
from tests.crash.memory import Contradiction, Memory
from tests.crash.page import Page
from tests.crash.plan import AT_START, RELOADING, STOPPING, Kill
from tests.crash.probes import probe
from tests.crash.scene import HOST, free_port, write_configuration
from tests.crash.victim import Birth, Born, Grants

LOAD_SECONDS: Final = 20.0
"""How long a life is loaded, at most, before a point counts as not reached."""

PATIENT_SECONDS: Final = 2.5
"""How long the planned passing of a point is waited for; after that the next one will do."""

ATTEMPTS: Final = 4
"""Lives that are tried for one kill: in some the load never comes by its point."""

SETTLE_SECONDS: Final = 5.0
DELIVER_SECONDS: Final = 60.0
"""Longer than the lease a killed gateway leaves behind."""
LAST_WORDS: Final = 0.1
"""How long answers that came before the end are read after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What one planned kill came to."""

    kill: Kill
    is_dead: bool
    broken: tuple[Contradiction, ...] = ()


@dataclass(eq=False)
class Lineage:
    """One store over many lives. `seed` decides every choice the rig makes; timing stays the machine's."""

    folder: Path
    seed: str
    database: str = ""
    memory: Memory = field(default_factory=Memory)
    hits: Counter[Point] = field(default_factory=Counter[Point])
    fates: list[Fate] = field(default_factory=list[Fate])
    _lives: int = 0
    _life: Life | None = None
    _page: Page | None = None
    _grants: Grants | None = None

    def __post_init__(self) -> None:
        self._dice = Random(self.seed)
        self._port = free_port(self._dice)
        self._http = httpx.AsyncClient(
            base_url=f"http://{HOST}:{self._port}", timeout=10, limits=httpx.Limits(max_connections=None)
        )
        self._administrator = Administrator(
            self.folder / "data", self.folder, self.memory, Random(f"{self.seed} administrator")
        )
        self._consumer = Consumer(free_port(self._dice), self.memory, Random(f"{self.seed} consumer"))
        self._config = self.folder / "ostiary.yaml"
        self._configure()

    async def run(self, kills: list[Kill]) -> None:
        """Die `kills` times, then settle."""
        visiting: asyncio.Task[None] | None = None
        await self._consumer.open()
        try:
            born = self._alive(await self._begin(makes_grants=True))
            self._grants = born.grants
            assert self._grants is not None
            self._page = Page(self._port, self._http, self._grants.key, self.memory, Random(f"{self.seed} page"))
            visiting = asyncio.create_task(self._page.run())
            await self._stop()
            for kill in kills:
                await self._die(kill)
            await self._settle()
        finally:
            if visiting is not None:
                visiting.cancel()
                await asyncio.gather(visiting, return_exceptions=True)
            await self._stop(signal.SIGKILL)
            await self._http.aclose()
            self._consumer.close()

    # -- one kill -------------------------------------------------------------------------------------------------

    async def _die(self, kill: Kill) -> None:
        is_dead = False
        for _ in range(ATTEMPTS):
            is_dead = await self._attempt(kill)
            if is_dead:
                break
        # What this kill broke shows when the next life begins.
        self.fates.append(Fate(kill=kill, is_dead=is_dead))

    async def _attempt(self, kill: Kill) -> bool:
        """Live until the kill; whether it came."""
        at_start = kill.point in AT_START
        if at_start:
            # A recovery with nothing to recover would say nothing.
            await self._die(Kill(point=None))
        life = await self._begin(kill_at=kill.point, nth=kill.nth, is_armed_at_start=at_start)
        if life.born is not None:
            self._found(life.born)
            await self._load(life, kill)
        is_dead = life.is_over and life.was_killed
        await self._stop(signal.SIGKILL)
        self.hits.update(life.hits())
        return is_dead

    async def _load(self, life: Life, kill: Kill) -> None:
        agents = await self._opened(life)
        working = asyncio.create_task(self._work(agents, life))
        probing = asyncio.create_task(self._probe(agents))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOAD_SECONDS):
                    await self._provoke(life, kill)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(PATIENT_SECONDS):
                            await life.ended.wait()
                    life.hurry()
                    await life.ended.wait()
            await asyncio.wait({working, probing}, timeout=LAST_WORDS)
        finally:
            for task in (working, probing):
                task.cancel()
            for ended in await asyncio.gather(working, probing, return_exceptions=True):
                if isinstance(ended, Exception):
                    raise ended

    async def _work(self, agents: Agents, life: Life) -> None:
        await asyncio.gather(
            agents.work(lambda: life.is_over),
            self._administrator.work(lambda: life.is_over),
            self._mind(life),
        )

    async def _mind(self, life: Life) -> None:
        """Look after dead letters until the gateway is gone."""
        while not life.is_over:
            await asyncio.to_thread(mind, self._control)
            await asyncio.sleep(self._dice.uniform(0.1, 0.6))

    def _control(self) -> ControlClient:
        return ControlClient(self.folder / "data")

    async def _provoke(self, life: Life, kill: Kill) -> None:
        if kill.point is None:
            await asyncio.sleep(self._dice.uniform(0.05, 1.0))
            life.signal(signal.SIGKILL)
        elif kill.point in RELOADING:
            while not life.is_over:
                await asyncio.sleep(0.2)
                self._configure(label=f"To-do {self._dice.random()}")
                life.signal(signal.SIGHUP)
        elif kill.point in STOPPING:
            await asyncio.sleep(self._dice.uniform(0.2, 0.6))
            life.signal(signal.SIGTERM)

    async def _probe(self, agents: Agents) -> None:
        with suppress(*GONE, WebSocketException):
            await probe(agents, self._dice)

    async def _listens(self) -> bool:
        try:
            _, writer = await asyncio.open_connection(HOST, self._port)
        except OSError:
            return False
        writer.close()
        return True

    # -- the end --------------------------------------------------------------------------------------------------

    async def _settle(self) -> None:
        """A life nobody kills: the page says what it owes, and a graceful end is judged like every other."""
        life = await self._begin()
        self._found(self._alive(life))
        page = self._visited
        page.loses_frames = False
        agents = await self._opened(life)
        working = asyncio.create_task(agents.work(lambda: life.is_over))
        await self._probe(agents)
        await asyncio.sleep(0.5)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_SECONDS):
                while page.owes or not page.is_there.is_set():
                    await asyncio.sleep(0.02)
        await self._catch_up(agents)
        if page.owes:
            self.memory.contradict("what the page owes is acked", "answers stay in its outbox")
        await self._deliver_all()
        await self._stop()
        if life.process.exitcode != 0:
            self.memory.contradict("a graceful end is one", f"it ended with {life.process.exitcode}")
        self.hits.update(life.hits())
        self._found(self._alive(await self._begin()))
        await self._stop()

    async def _catch_up(self, agents: Agents) -> None:
        """Let the conversation be read to its end: one more call is made, and heard of."""
        reading = asyncio.create_task(agents.scribe.listen())
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                await agents.scribe.is_heard()
        except (*GONE, TimeoutError) as fault:
            self.memory.contradict("a conversation is told whole, and once", f"its end does not come: {fault!r}")
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _deliver_all(self) -> None:
        """The consumer is well again: everything arrives, the latest at the end of the leases of killed lives."""
        self._consumer.is_well = True
        waiting: list[dict[str, Any]] | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(DELIVER_SECONDS):
                while (waiting := await asyncio.to_thread(mind, self._control)) != []:
                    await asyncio.sleep(0.1)
        if waiting != []:
            first = waiting[0] if waiting else None
            count = None if waiting is None else len(waiting)
            self.memory.contradict("everything in the outbox arrives", f"{count} entries wait, the first: {first}")

    # -- parts ----------------------------------------------------------------------------------------------------

    @property
    def _visited(self) -> Page:
        assert self._page is not None
        return self._page

    async def _opened(self, life: Life) -> Agents:
        """The agents of a life, once its doors are open."""
        assert self._grants is not None
        while not life.is_over and not await self._listens():
            await asyncio.sleep(0.01)
        self._visited.gateway_is_up.set()
        self._lives += 1
        dice = Random(f"{self.seed} agents {self._lives}")
        return Agents(self._port, self._http, self._grants.tokens, self.memory, self._visited, dice)

    def _configure(self, **how: str) -> None:
        write_configuration(self._config, self._port, consumer=self._consumer.url, database=self.database, **how)

    async def _begin(self, **how: Any) -> Life:
        birth = Birth(
            config=self._config,
            data=self.folder / "data",
            hits=self.folder / "hits",
            log=self.folder / "log",
            **how,
        )
        self._life = await start(birth)
        return self._life

    def _alive(self, life: Life) -> Born:
        if life.born is None:
            log = (self.folder / "log").read_text()[-2_000:]
            raise RuntimeError(f"the gateway did not start: {log}")
        return life.born

    def _found(self, born: Born) -> None:
        """Judge what a life found, and lay it at the door of the kill before it."""
        broken = judge(born.evidence, self.memory)
        if broken and self.fates:
            last = self.fates[-1]
            self.fates[-1] = Fate(kill=last.kill, is_dead=last.is_dead, broken=(*last.broken, *broken))
        elif broken:
            raise RuntimeError(f"broken before the first kill: {broken[0]}")
        self.memory.app, self.memory.app_pending = standing_of(born.evidence), None
        self.memory.contradictions.clear()

    async def _stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self._page is not None and number is signal.SIGKILL:
            self._page.gateway_is_up.clear()
        if self._life is not None:
            self._life.signal(number)
            await self._life.over()
