"""One process of a race: `python -m tests.contract.racer URL EVENT NUMBER`, then a line on its input starts it."""

import asyncio
import json
import sys
from functools import partial
from typing import Final

from gateway.adapters.sql import SqlStore
from gateway.adapters.sql.postgresql import connect
from gateway.adapters.sql.postgresql_database import PostgresqlDatabase
from gateway.domain.calls import CallState
from gateway.domain.outbox import OutboxEvent, step
from gateway.runtime.ports import LedgerFull, StaleState, Tx
from tests.contract.samples import NOW, a_call, a_record

CAP: Final = 1_000
IDS: Final = 1_200
PIECE: Final = 70
"""Calls forgotten at once; more than one statement forgets nowhere near all."""
PIECES: Final = 8
"""How many each process asks for; together they are more than there is."""

ROUNDS: Final = 120
"""Claims of each process; together they are more than there are entries."""
KEYS: Final = 50
OF_A_KEY: Final = 20


def open_racer(url: str) -> SqlStore:
    """A store that is not the only one of its database."""
    database = PostgresqlDatabase(partial(connect, url, alone=False))
    return SqlStore(database, ledger_cap=CAP, open_cap=CAP, queue=10_000)


def ref_of(number: int) -> str:
    """The name of one call of the race."""
    return f"call_{number:05}"


def admit(tx: Tx, racer: int, number: int) -> str:
    """As an admission does it: an earlier call answers, or a row is written with its record."""
    # Every tenth id stands for another request from every second process.
    wanted = f"request {number}" + (" of another" if number % 10 == 0 and racer % 2 else "")
    call = a_call(f"{ref_of(number)}_{racer}", call_id=f"id-{number:06}", request_fingerprint=wanted)
    earlier = tx.calls.find_by_key(call.agent, call.user, call.entry, call.call_id)
    if earlier is not None:
        return "replay" if earlier.request_fingerprint == wanted else "conflict"
    try:
        tx.calls.add(call, "{}")
    except LedgerFull:
        return "full"
    tx.audit.append(a_record(ref=call.ref))
    return "new"


def dispatch(tx: Tx, _: int, number: int) -> str:
    """Compare and set, with the record of who won."""
    try:
        tx.calls.save(a_call(ref_of(number), state=CallState.DISPATCHED), was=CallState.READY)
    except StaleState:
        return "stale"
    tx.audit.append(a_record(ref=ref_of(number)))
    return "won"


def purge(tx: Tx, _: int, __: int) -> str:
    """As the retention does it: some at a time, until there are none."""
    return str(tx.calls.purge(minted=False, ended_before=2, limit=PIECE))


def deliver(tx: Tx, racer: int, number: int) -> str:
    """As two relays share an outbox: claim some, and note each as sent."""
    lease = f"lease_{racer}_{number}"
    claimed = tx.outbox.claim(lease, now=NOW + 1, until=NOW + 60_000, limit=7)
    for entry in claimed:
        tx.outbox.save(step(entry, OutboxEvent.DELIVER, now=NOW + 1), holder=lease)
    return " ".join(entry.id for entry in claimed)


EVENTS: Final = {
    "admit": (admit, IDS),
    "dispatch": (dispatch, CAP),
    "purge": (purge, PIECES),
    "deliver": (deliver, ROUNDS),
}


async def main(url: str, event: str, racer: int) -> None:
    """Take part in one race and print what became of each try."""
    work, count = EVENTS[event]
    store = open_racer(url)
    await store.run(lambda tx: tx.calls.usage())
    print("ready", flush=True)  # noqa: T201 - it talks to the test
    sys.stdin.readline()
    answers = await asyncio.gather(
        *(store.run(lambda tx, number=number: work(tx, racer, number)) for number in range(count))
    )
    await store.close()
    print(json.dumps(answers))  # noqa: T201


if __name__ == "__main__":
    where, what, which = sys.argv[1:]
    asyncio.run(main(where, what, int(which)))
