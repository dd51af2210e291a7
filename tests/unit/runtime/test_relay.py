"""The relay over a store in memory and a clock that is advanced."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from gateway.domain.audit import Stream
from gateway.domain.outbox import OutboxEntry, OutboxEvent, OutboxState, Patience, Undelivered, step
from gateway.runtime.admin.outbox import DeadLetters
from gateway.runtime.announcements import AnnouncingStore
from gateway.runtime.outbox import ABREAST, LEASE_SLACK_MS, Relay
from gateway.runtime.ports import Tx
from gateway.runtime.spine import Spine
from gateway.testing import FakeClock, MemorySink, MemoryStore, SequentialIds
from tests.contract.samples import an_entry

pytestmark = pytest.mark.anyio

T = TypeVar("T")

ATTEMPT_MS = 10_000
LEASE_MS = ATTEMPT_MS + LEASE_SLACK_MS
PATIENCE = Patience(attempts=3, first_ms=1_000, cap_ms=60_000)


@dataclass(eq=False)
class Post:
    """A relay that runs, what it runs over, and who consumes."""

    memory: MemoryStore
    store: AnnouncingStore
    spine: Spine
    clock: FakeClock
    sink: Any
    relay: Relay
    task: asyncio.Task[None]

    async def add(self, *names: str, key: str = "ses_1") -> None:
        entries = [an_entry(name, key=key, at=self.clock.now()) for name in names]
        await self.store.run(lambda tx: [tx.outbox.add(entry) for entry in entries])
        await self.settle()

    async def settle(self) -> None:
        for _ in range(60):
            await asyncio.sleep(0)

    async def after(self, ms: int) -> None:
        self.clock.advance(ms)
        await self.settle()

    async def find(self, name: str) -> OutboxEntry:
        found = await self.memory.run(lambda tx: tx.outbox.find(name))
        assert found is not None
        return found

    async def records(self) -> list[bytes]:
        return [r.body for r in await self.memory.run(lambda tx: list(tx.audit.tail(limit=100, stream=Stream.ADMIN)))]


@asynccontextmanager
async def posting(
    sink: Any = None, memory: MemoryStore | None = None, clock: FakeClock | None = None
) -> AsyncGenerator[Post]:
    memory, clock, sink = memory or MemoryStore(), clock or FakeClock(), sink or MemorySink()
    store = AnnouncingStore(memory, clock, include_results=False)
    spine = Spine(store)
    relay = Relay(spine=spine, clock=clock, ids=SequentialIds(), sink=sink, patience=PATIENCE, attempt_ms=ATTEMPT_MS)
    store.on_written = relay.wake
    task = asyncio.create_task(relay.run())
    post = Post(memory, store, spine, clock, sink, relay, task)
    await post.settle()
    try:
        yield post
    finally:
        spine.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Counted(MemoryStore):
    """Counts what is committed."""

    commits = 0

    async def run(self, work: Callable[[Tx], T], heard: Callable[[T], None] | None = None) -> T:
        self.commits += 1
        return await super().run(work, heard)


class Slow:
    """A consumer that answers when the test says so, and counts who waits."""

    def __init__(self) -> None:
        self.waiting: dict[str, asyncio.Future[Undelivered | None]] = {}
        self.offered: list[str] = []

    async def deliver(self, entry: OutboxEntry) -> Undelivered | None:
        self.offered.append(entry.id)
        self.waiting[entry.id] = asyncio.get_running_loop().create_future()
        try:
            return await self.waiting[entry.id]
        finally:
            self.waiting.pop(entry.id, None)


def nothing(_: OutboxEntry) -> str | None:
    """Nothing is wrong with an entry."""
    return None


def names(entries: list[OutboxEntry]) -> list[str]:
    return [entry.id for entry in entries]


async def test_what_is_committed_leaves_at_once_and_in_order() -> None:
    async with posting() as post:
        await post.add("a:1", "a:2", "a:3")
        assert names(post.sink.taken) == ["a:1", "a:2", "a:3"]
        assert (await post.find("a:3")).state is OutboxState.SENT


async def test_a_later_entry_waits_for_its_earlier_one_and_another_key_does_not() -> None:
    slow = Slow()
    async with posting(slow) as post:
        await post.add("a:1", "a:2")
        await post.add("b:1", key="ses_2")
        assert slow.offered == ["a:1", "b:1"]
        slow.waiting["b:1"].set_result(None)
        slow.waiting["a:1"].set_result(Undelivered(error="503"))
        await post.settle()
        await post.after(999)
        assert slow.offered == ["a:1", "b:1"]
        await post.after(1)
        assert slow.offered == ["a:1", "b:1", "a:1"]
        slow.waiting["a:1"].set_result(None)
        await post.settle()
        assert slow.offered == ["a:1", "b:1", "a:1", "a:2"]


async def test_attempts_are_bounded_and_rest_ever_longer() -> None:
    async with posting(MemorySink(lambda _: "it answered 503")) as post:
        await post.add("a:1")
        for pause in (1_000, 2_000):
            attempts = len(post.sink.offered)
            await post.after(pause - 1)
            assert len(post.sink.offered) == attempts
            await post.after(1)
            assert len(post.sink.offered) == attempts + 1
        dead = await post.find("a:1")
        assert (dead.state, dead.attempts, dead.error) == (OutboxState.DEAD, 3, "it answered 503")
        await post.after(10**9)
        assert len(post.sink.offered) == 3


async def test_a_dead_entry_is_audited_and_lets_its_key_go_on() -> None:
    async with posting(MemorySink(lambda e: "no" if e.id == "a:1" else None)) as post:
        await post.add("a:1", "a:2")
        await post.after(1_000)
        assert names(post.sink.taken) == []
        await post.after(2_000)
        assert names(post.sink.taken) == ["a:2"]
        [record] = [body for body in await post.records() if b"outbox.given_up" in body]
        assert b'"entry":"a:1"' in record
        assert b'"attempts":3' in record


async def test_a_requeued_entry_is_the_same_event_with_all_its_attempts() -> None:
    async with posting(MemorySink(lambda _: "no")) as post:
        await post.add("a:1")
        await post.after(1_000)
        await post.after(2_000)
        post.sink.refuses = nothing
        await DeadLetters(spine=post.spine, clock=post.clock).requeue("a:1", by="local:ada")
        await post.settle()
        assert {(entry.id, entry.data, entry.at) for entry in post.sink.offered} == {
            (entry.id, entry.data, entry.at) for entry in post.sink.taken
        }
        assert (await post.find("a:1")).attempts == 1
        [record] = [body for body in await post.records() if b"outbox.requeued" in body]
        assert b'"by":"local:ada"' in record


async def test_every_dead_entry_is_put_back_and_no_other() -> None:
    async with posting(MemorySink(lambda e: None if e.id == "sent:1" else "no")) as post:
        for number in range(250):
            await post.add(f"d:{number}", key=f"k{number}")
        await post.add("sent:1", key="other")
        for pause in (1_000, 2_000):
            await post.after(pause)
            for _ in range(20):
                await post.settle()
        assert (await post.memory.run(lambda tx: tx.outbox.counts()))[OutboxState.DEAD] == 250
        post.sink.refuses = nothing
        assert await DeadLetters(spine=post.spine, clock=post.clock).requeue_all(by="local:ada") == 250
        for _ in range(20):
            await post.settle()
        assert await post.memory.run(lambda tx: tx.outbox.counts()) == {OutboxState.PENDING: 0, OutboxState.DEAD: 0}
        assert names(post.sink.taken).count("sent:1") == 1


async def test_no_more_than_so_many_are_on_their_way_at_once() -> None:
    slow = Slow()
    async with posting(slow) as post:
        for number in range(ABREAST + 3):
            await post.add(f"{number}:1", key=str(number))
        assert len(slow.waiting) == ABREAST
        slow.waiting["0:1"].set_result(None)
        await post.settle()
        assert len(slow.offered) == ABREAST + 1
        assert len(slow.waiting) == ABREAST


async def test_what_a_crash_cut_off_is_sent_again_at_the_end_of_its_lease() -> None:
    memory, clock = MemoryStore(), FakeClock()
    await memory.run(lambda tx: tx.outbox.add(an_entry(at=clock.now())))
    await memory.run(lambda tx: tx.outbox.claim("dead relay", now=clock.now(), until=clock.now() + LEASE_MS, limit=1))
    async with posting(memory=memory, clock=clock) as post:
        await post.after(LEASE_MS - 1)
        assert post.sink.offered == []
        await post.after(1)
        assert names(post.sink.taken) == [an_entry().id]


async def test_an_entry_whose_attempts_all_ended_with_their_process_is_given_up() -> None:
    memory, clock = MemoryStore(), FakeClock()
    await memory.run(lambda tx: tx.outbox.add(an_entry(at=clock.now())))
    for _ in range(PATIENCE.attempts):
        now = clock.now()
        await memory.run(lambda tx, now=now: tx.outbox.claim("dead relay", now=now, until=now, limit=1))
    async with posting(memory=memory, clock=clock) as post:
        assert post.sink.offered == []
        assert (await post.find(an_entry().id)).state is OutboxState.DEAD
        assert any(b"outbox.given_up" in body for body in await post.records())


async def test_who_comes_back_after_its_lease_changes_nothing() -> None:
    slow = Slow()
    async with posting(slow) as post:
        await post.add("a:1")
        late = slow.waiting["a:1"]
        # Another relay takes the entry over and delivers it.
        until = post.clock.now() + LEASE_MS
        [theirs] = await post.memory.run(
            lambda tx: tx.outbox.claim("other relay", now=until, until=until + LEASE_MS, limit=1)
        )
        late.set_result(Undelivered(error="503"))
        await post.settle()
        assert (await post.find("a:1")).holder == "other relay"
        sent = step(theirs, OutboxEvent.DELIVER, now=until)
        await post.memory.run(lambda tx: tx.outbox.save(sent, holder="other relay"))
        assert (await post.find("a:1")).state is OutboxState.SENT


async def test_a_busy_key_costs_one_commit_for_each_entry() -> None:
    memory, slow = Counted(), Slow()
    async with posting(slow, memory) as post:
        await post.add("a:1", "a:2", "a:3", "a:4")
        for name in ("a:1", "a:2", "a:3"):
            before = memory.commits
            slow.waiting[name].set_result(None)
            await post.settle()
            assert memory.commits == before + 1
        assert slow.offered == ["a:1", "a:2", "a:3", "a:4"]


async def test_a_relay_that_stops_hears_what_is_on_its_way_and_begins_nothing_more() -> None:
    slow = Slow()
    async with posting(slow) as post:
        await post.add("a:1", "a:2")
        post.task.cancel()
        await post.settle()
        slow.waiting["a:1"].set_result(None)
        await post.settle()
        assert post.task.done()
        first, second = await post.find("a:1"), await post.find("a:2")
        assert (first.state, second.state, second.attempts) == (OutboxState.SENT, OutboxState.PENDING, 0)
        assert slow.offered == ["a:1"]


async def test_a_store_that_fails_is_asked_again() -> None:
    async with posting() as post:
        await post.add("a:1")
        post.memory.is_failing = True
        post.relay.wake()
        await post.settle()
        post.memory.is_failing = False
        await post.memory.run(lambda tx: tx.outbox.add(an_entry("b:1", key="b", at=post.clock.now())))
        await post.after(1_000)
        assert names(post.sink.taken) == ["a:1", "b:1"]


async def test_a_sink_that_breaks_costs_one_attempt() -> None:
    def broken(_: OutboxEntry) -> str | None:
        raise RuntimeError("a bug")

    async with posting(MemorySink(broken)) as post:
        await post.add("a:1")
        assert (await post.find("a:1")).error == "the sink failed: RuntimeError"
        post.sink.refuses = nothing
        await post.after(1_000)
        assert names(post.sink.taken) == ["a:1"]


async def test_a_clock_set_back_delays_nobody() -> None:
    async with posting() as post:
        post.clock.jump(-300_000)
        await post.add("a:1")
        assert names(post.sink.taken) == ["a:1"]
