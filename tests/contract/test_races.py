"""Several processes race over one PostgreSQL: nothing is counted twice, won twice or chained twice."""

import asyncio
import json
import subprocess
import sys
from collections import Counter

import pytest

from gateway.adapters.sql import SqlStore
from gateway.domain.audit import GENESIS, Stream, chain
from gateway.domain.calls import CallState
from gateway.runtime.ports import Store, Tx
from tests.contract.racer import CAP, IDS, KEYS, OF_A_KEY, open_racer, ref_of
from tests.contract.samples import NOW, a_call, an_entry
from tests.contract.stores import PostgresqlOpener
from tests.support.postgres import execute

pytestmark = pytest.mark.anyio

RACERS = 4


def race(url: str, event: str) -> list[list[str]]:
    """What each process says became of each id, in the order of the ids."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.contract.racer", url, event, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(RACERS)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    answers: list[list[str]] = []
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        told, _ = racer.communicate(timeout=90)
        answers.append(json.loads(told))
    return answers


async def records(store: Store) -> int:
    """How many records the chain holds; it is whole."""
    previous, found = GENESIS, 0
    while page := await store.run(lambda tx, found=found: tx.audit.read(Stream.AGENT_TOOL, after=found, limit=1_000)):
        for record in page:
            previous, found = chain(previous, record.body), found + 1
            assert (record.seq, record.hash) == (found, previous)
    return found


async def filled(url: str, state: CallState) -> SqlStore:
    """A ledger with all calls of the race."""
    store = open_racer(url)

    def fill(tx: Tx) -> None:
        for number in range(CAP):
            tx.calls.add(a_call(ref_of(number), state=state, ended_at=1 if state.is_terminal else None), None)

    await store.run(fill)
    return store


async def test_admission_takes_the_cap_and_every_other_is_a_replay_or_refused(postgresql: PostgresqlOpener) -> None:
    answers = race(postgresql.url, "admit")
    counts = Counter(answer for answers_of_one in answers for answer in answers_of_one)
    assert counts["new"] == CAP
    assert counts.keys() <= {"new", "replay", "conflict", "full"}
    assert sum(counts.values()) == RACERS * IDS
    for of_one_id in zip(*answers, strict=True):
        assert of_one_id.count("new") <= 1
    store = open_racer(postgresql.url)
    assert execute(postgresql.url, "SELECT count(*) FROM calls") == [(CAP,)]
    assert await store.run(lambda tx: tx.calls.usage()) == (CAP, CAP)
    assert await records(store) == CAP
    await store.close()


async def test_a_call_is_dispatched_by_one(postgresql: PostgresqlOpener) -> None:
    store = await filled(postgresql.url, CallState.READY)
    answers = await asyncio.to_thread(race, postgresql.url, "dispatch")
    for of_one_call in zip(*answers, strict=True):
        assert sorted(of_one_call) == ["stale"] * (RACERS - 1) + ["won"]
    assert await records(store) == CAP
    await store.close()


async def test_an_outbox_is_shared_by_relays_and_each_entry_goes_once_and_in_order(
    postgresql: PostgresqlOpener,
) -> None:
    store = open_racer(postgresql.url)

    def fill(tx: Tx) -> None:
        for number in range(OF_A_KEY):
            for key in range(KEYS):
                tx.outbox.add(an_entry(f"{key}:{number}", key=f"key {key}"))

    await store.run(fill)
    answers = await asyncio.to_thread(race, postgresql.url, "deliver")
    sent = [name for of_one in answers for claimed in of_one for name in claimed.split()]
    assert len(sent) == len(set(sent)) == KEYS * OF_A_KEY
    for of_one in answers:
        for claimed in of_one:
            keys = [name.partition(":")[0] for name in claimed.split()]
            assert len(keys) == len(set(keys))
    numbers = dict[str, list[int]]()
    for name, at in execute(postgresql.url, "SELECT id, ended_at FROM outbox WHERE state = 'sent' ORDER BY number"):
        assert at == NOW + 1
        numbers.setdefault(name.partition(":")[0], []).append(int(name.partition(":")[2]))
    assert all(of_key == list(range(OF_A_KEY)) for of_key in numbers.values())
    await store.close()


async def test_a_purge_gives_each_place_back_once(postgresql: PostgresqlOpener) -> None:
    store = await filled(postgresql.url, CallState.CANCELLED)
    answers = await asyncio.to_thread(race, postgresql.url, "purge")
    assert sum(int(forgotten) for forgotten_by_one in answers for forgotten in forgotten_by_one) == CAP
    assert await store.run(lambda tx: tx.calls.usage()) == (0, 0)
    assert execute(postgresql.url, "SELECT count(*) FROM calls") == [(0,)]
    await store.close()
