"""Contract of forgetting: by age and end, at most so many at once, and the used places fall by what really went."""

import asyncio
from collections.abc import Callable

import pytest

from gateway.domain.calls import OPEN, CallState
from gateway.domain.inventory import Baseline
from gateway.runtime.ports import LedgerFull, Store, Tx
from tests.contract.samples import (
    NOW,
    a_call,
    a_denial,
    a_key,
    a_page,
    a_result,
    a_session,
    a_ticket,
    an_admin_token,
    an_approval,
)
from tests.contract.stores import Opener

pytestmark = pytest.mark.anyio

ENDS = [state for state in CallState if state.is_terminal]


def ended(ref: str, ended_at: int | None = NOW - 1, **changes: object) -> Callable[[Tx], None]:
    """A unit that adds a call with everything that hangs on one."""
    call = a_call(ref, **{"state": CallState.FAILED, "ended_at": ended_at, "minted": False, **changes})

    def work(tx: Tx) -> None:
        tx.calls.add(call, None)
        tx.calls.add_receipt(ref, "accepted", reason=None, at=1)
        tx.approvals.add(an_approval(f"appr_{ref}", call=ref))

    return work


async def purge(store: Store, *, minted: bool = False, limit: int = 1_000) -> int:
    return await store.run(lambda tx: tx.calls.purge(minted=minted, ended_before=NOW, limit=limit))


async def refs(store: Store) -> list[str]:
    return sorted(call.ref for call in await store.run(lambda tx: list(tx.calls.recent(limit=1_000))))


@pytest.mark.parametrize("state", ENDS)
async def test_an_old_end_is_forgotten_with_all_that_hangs_on_it(store: Store, state: CallState) -> None:
    await store.run(ended("call_1", state=state))
    assert await purge(store) == 1
    assert await store.run(lambda tx: tx.calls.find("call_1")) is None
    assert list(await store.run(lambda tx: tx.calls.receipts_of("call_1"))) == []
    assert await store.run(lambda tx: tx.approvals.find("appr_call_1")) is None
    assert await store.run(lambda tx: tx.calls.usage()) == (0, 0)
    assert await purge(store) == 0
    # The name is free again.
    await store.run(ended("call_1", state=state))


@pytest.mark.parametrize("state", sorted([*OPEN, CallState.UNKNOWN]))
async def test_what_has_not_ended_is_never_forgotten(store: Store, state: CallState) -> None:
    await store.run(ended("call_1", state=state, ended_at=None, admitted_at=0))
    assert (await purge(store), await purge(store, minted=True)) == (0, 0)
    assert await refs(store) == ["call_1"]
    assert await store.run(lambda tx: tx.calls.usage()) == (1, int(state in OPEN))


async def test_the_edge_the_kind_and_a_kept_result_hold_a_call_back(store: Store) -> None:
    await store.run(ended("call_edge", ended_at=NOW))
    await store.run(ended("call_minted", minted=True))
    await store.run(ended("call_result", state=CallState.SUCCEEDED))
    await store.run(lambda tx: tx.calls.put_result("call_result", a_result(erase_at=NOW)))
    await store.run(ended("call_old"))
    assert await purge(store) == 1
    assert await purge(store, minted=True) == 1
    assert await store.run(lambda tx: tx.calls.erase_results(NOW, 1)) == 1
    assert await purge(store) == 1
    assert await refs(store) == ["call_edge"]


async def test_a_purge_takes_the_earliest_ends_and_no_more_than_it_may(store: Store) -> None:
    for number in (3, 1, 2):
        await store.run(ended(f"call_{number}", ended_at=NOW - 10 + number))
    assert await purge(store, limit=2) == 2
    assert await refs(store) == ["call_3"]
    assert await store.run(lambda tx: tx.calls.usage()) == (1, 0)


async def test_purges_at_once_give_every_place_back_once(store: Store) -> None:
    def fill(tx: Tx) -> None:
        for number in range(450):
            ended(f"call_{number:03}")(tx)

    await store.run(fill)
    counts = await asyncio.gather(*(purge(store, limit=120) for _ in range(6)))
    assert sum(counts) == 450
    assert await store.run(lambda tx: tx.calls.usage()) == (0, 0)


async def test_a_purge_that_fails_gives_nothing_back(store: Store) -> None:
    await store.run(ended("call_1"))

    def work(tx: Tx) -> None:
        assert tx.calls.purge(minted=False, ended_before=NOW, limit=1) == 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.run(work)
    assert await store.run(lambda tx: tx.calls.usage()) == (1, 0)
    assert await refs(store) == ["call_1"]


async def test_a_full_ledger_takes_calls_again_after_a_purge(open_store: Opener) -> None:
    store = open_store(ledger_cap=2)
    await store.run(ended("call_1"))
    await store.run(ended("call_2"))
    with pytest.raises(LedgerFull):
        await store.run(ended("call_3"))
    assert await purge(store, limit=1) == 1
    await store.run(ended("call_3"))
    with pytest.raises(LedgerFull):
        await store.run(ended("call_4"))
    await store.close()


async def test_unknown_calls_are_read_by_ref_in_pages(store: Store) -> None:
    for ref, state in (("call_2", CallState.UNKNOWN), ("call_1", CallState.UNKNOWN), ("call_3", CallState.READY)):
        await store.run(ended(ref, state=state, ended_at=None))
    await store.run(ended("call_4"))
    first = await store.run(lambda tx: list(tx.calls.unknown(limit=1)))
    rest = await store.run(lambda tx: list(tx.calls.unknown(after="call_1", limit=10)))
    assert [[call.ref for call in page] for page in (first, rest)] == [["call_1"], ["call_2"]]


async def test_nonces_tickets_and_denials_go_in_bounded_numbers(store: Store) -> None:
    def fill(tx: Tx) -> None:
        for number in range(3):
            tx.nonces.add("ses_1", f"nonce_{number}", ref="call_1", until=NOW - 1)
            tx.tickets.add(a_ticket(bytes([number]) * 32, expires_at=NOW - 1))
            tx.denials.put(a_denial(f"fp_{number}", until=NOW))
        tx.denials.put(a_denial("fp_live", until=NOW + 1))

    await store.run(fill)
    forgetting: tuple[Callable[[Tx], int], ...] = (
        lambda tx: tx.nonces.purge(NOW, 2),
        lambda tx: tx.tickets.purge(NOW, 2),
        lambda tx: tx.denials.purge(NOW, 2),
    )
    for forget in forgetting:
        assert [await store.run(forget) for _ in range(3)] == [2, 1, 0]
    assert [d.request_fingerprint for d in await store.run(lambda tx: list(tx.denials.list("maria", NOW)))] == [
        "fp_live"
    ]


async def test_a_grant_is_forgotten_once_it_ended_and_no_call_of_it_is_kept(store: Store) -> None:
    shown = Baseline(revision=1, snapshot="s", shown={"shop/todo.add": "f1"})

    def fill(tx: Tx) -> None:
        tx.sessions.add(a_session("ses_expired", token_hash=b"1" * 32, expires_at=NOW - 1))
        tx.sessions.add(a_session("ses_revoked", token_hash=b"2" * 32, expires_at=NOW + 1, revoked_at=NOW - 1))
        tx.sessions.add(a_session("ses_live", token_hash=b"3" * 32, expires_at=NOW))
        tx.sessions.add(a_session("ses_called", token_hash=b"4" * 32, expires_at=NOW - 1))
        tx.calls.add(a_call("call_1", session="ses_called"), None)
        for session in ("ses_expired", "ses_live"):
            tx.baselines.put(session, shown)
        tx.keys.add(a_key("key_expired", expires_at=NOW - 1))
        tx.keys.add(a_key("key_revoked", expires_at=NOW + 1, revoked_at=NOW - 1))
        tx.keys.add(a_key("key_live", expires_at=NOW))
        tx.admin_tokens.add(an_admin_token("adm_expired", token_hash=b"5" * 32, expires_at=NOW - 1))
        tx.admin_tokens.add(an_admin_token("adm_revoked", token_hash=b"6" * 32, expires_at=NOW, revoked_at=NOW - 1))
        tx.admin_tokens.add(an_admin_token("adm_live", token_hash=b"7" * 32, expires_at=NOW))

    await store.run(fill)
    assert [await store.run(lambda tx: tx.sessions.purge(NOW, 1)) for _ in range(3)] == [1, 1, 0]
    assert sorted(s.id for s in await store.run(lambda tx: list(tx.sessions.list()))) == ["ses_called", "ses_live"]
    assert await store.run(lambda tx: tx.baselines.find("ses_expired")) is None
    assert await store.run(lambda tx: tx.baselines.find("ses_live")) == shown
    assert [await store.run(lambda tx: tx.keys.purge(NOW, 1)) for _ in range(3)] == [1, 1, 0]
    assert [k.id for k in await store.run(lambda tx: list(tx.keys.list()))] == ["key_live"]
    assert [await store.run(lambda tx: tx.admin_tokens.purge(NOW, 1)) for _ in range(3)] == [1, 1, 0]
    assert [t.id for t in await store.run(lambda tx: list(tx.admin_tokens.list()))] == ["adm_live"]


async def test_a_page_session_is_forgotten_once_it_has_neither_standing_nor_an_open_call(store: Store) -> None:
    def fill(tx: Tx) -> None:
        tx.pages.add(a_page("page_gone", standing_until=NOW - 1, pinned_at=1))
        tx.pages.add(a_page("page_busy", standing_until=NOW - 1))
        tx.pages.add(a_page("page_live", standing_until=NOW))
        tx.calls.add(a_call("call_1", page="page_busy", epoch=1), None)

    await store.run(fill)
    assert await store.run(lambda tx: tx.pages.purge(NOW, 10)) == 1
    assert await store.run(lambda tx: tx.pages.find("page_gone")) is None
    for page in ("page_busy", "page_live"):
        assert await store.run(lambda tx, page=page: tx.pages.find(page)) is not None


async def test_grants_that_expired_in_between_are_found(store: Store) -> None:
    def fill(tx: Tx) -> None:
        for number, (expires_at, revoked_at) in enumerate(
            [(NOW, None), (NOW + 1, None), (NOW + 2, None), (NOW + 1, 1)]
        ):
            tx.sessions.add(
                a_session(
                    f"ses_{number}", token_hash=bytes([number]) * 32, expires_at=expires_at, revoked_at=revoked_at
                )
            )

    await store.run(fill)
    found = await store.run(lambda tx: [s.id for s in tx.sessions.expired(NOW, NOW + 1)])
    assert found == ["ses_1"]
