"""Contract of `Tickets`: single use."""

from dataclasses import replace

import pytest

from gateway.runtime.ports import DuplicateKey, Store, Tx
from tests.contract.samples import NOW, a_ticket

pytestmark = pytest.mark.anyio


async def test_a_ticket_is_used_once(store: Store) -> None:
    ticket = a_ticket()
    await store.run(lambda tx: tx.tickets.add(ticket))
    assert await store.run(lambda tx: tx.tickets.find(ticket.hash)) == ticket
    assert await store.run(lambda tx: tx.tickets.use(ticket.hash, NOW)) is True
    assert await store.run(lambda tx: tx.tickets.use(ticket.hash, NOW + 1)) is False
    assert await store.run(lambda tx: tx.tickets.find(ticket.hash)) == replace(ticket, used_at=NOW)


async def test_an_unknown_ticket_is_neither_found_nor_used(store: Store) -> None:
    assert await store.run(lambda tx: tx.tickets.find(b"?")) is None
    assert await store.run(lambda tx: tx.tickets.use(b"?", NOW)) is False


async def test_a_ticket_is_added_once(store: Store) -> None:
    await store.run(lambda tx: tx.tickets.add(a_ticket()))
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.tickets.add(a_ticket()))


async def test_a_purge_takes_what_expired_before(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.tickets.add(a_ticket(b"old", expires_at=NOW - 1))
        tx.tickets.add(a_ticket(b"edge", expires_at=NOW))

    await store.run(work)
    assert await store.run(lambda tx: tx.tickets.purge(NOW, 10)) == 1
    assert await store.run(lambda tx: tx.tickets.find(b"old")) is None
    assert await store.run(lambda tx: tx.tickets.find(b"edge")) is not None
