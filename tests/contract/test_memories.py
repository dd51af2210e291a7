"""Contracts of `Nonces`, `Baselines`, `Denials` and `Installation`."""

from dataclasses import replace

import pytest

from gateway.domain.inventory import Baseline
from gateway.runtime.ports import Store, Tx
from tests.contract.samples import NOW, a_denial

pytestmark = pytest.mark.anyio


async def test_a_nonce_seen_again_names_the_earlier_call(store: Store) -> None:
    async def add(holder: str, nonce: str, ref: str) -> str | None:
        return await store.run(lambda tx: tx.nonces.add(holder, nonce, ref=ref, until=NOW))

    assert await add("ses_1", "n1", "call_1") is None
    assert await add("ses_1", "n1", "call_2") == "call_1"
    assert await add("ses_1", "n1", "call_1") == "call_1"
    assert await add("ses_2", "n1", "call_3") is None
    assert await add("ses_1", "n2", "call_4") is None


async def test_a_nonce_is_kept_until_its_window_is_purged(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.nonces.add("ses_1", "old", ref="call_1", until=NOW - 1)
        tx.nonces.add("ses_1", "edge", ref="call_2", until=NOW)

    await store.run(work)
    assert await store.run(lambda tx: tx.nonces.purge(NOW, 10)) == 1
    assert await store.run(lambda tx: tx.nonces.add("ses_1", "old", ref="call_3", until=NOW)) is None
    assert await store.run(lambda tx: tx.nonces.add("ses_1", "edge", ref="call_4", until=NOW)) == "call_2"


async def test_a_baseline_comes_back_as_it_was_put(store: Store) -> None:
    assert await store.run(lambda tx: tx.baselines.find("ses_1")) is None
    first = Baseline(revision=1, snapshot="s1", shown={"shop/todo.add": "f1", "größe.lesen": "f2"})
    second = Baseline(revision=2, snapshot="s2", shown={"shop/todo.add": "f3"}, since={"shop/todo.add": 2})
    for baseline in (first, first, second, replace(second, since={"shop/todo.add": 3})):
        await store.run(lambda tx, baseline=baseline: tx.baselines.put("ses_1", baseline))
        assert await store.run(lambda tx: tx.baselines.find("ses_1")) == baseline
    assert await store.run(lambda tx: tx.baselines.find("ses_2")) is None


async def test_sessions_shown_the_same_part_ways_without_harm(store: Store) -> None:
    shown = {"shop/todo.add": "f1"}
    same = Baseline(revision=1, snapshot="s1", shown=shown)
    for session in ("ses_1", "ses_2"):
        await store.run(lambda tx, session=session: tx.baselines.put(session, same))
    moved = Baseline(revision=2, snapshot="", shown={**shown, "shop/todo.list": "f2"})
    await store.run(lambda tx: tx.baselines.put("ses_1", moved))
    assert await store.run(lambda tx: tx.baselines.find("ses_1")) == moved
    assert await store.run(lambda tx: tx.baselines.find("ses_2")) == same


async def test_a_baseline_of_a_failing_unit_is_forgotten(store: Store) -> None:
    baseline = Baseline(revision=1, snapshot="s1", shown={"shop/todo.add": "f1"})

    def work(tx: Tx) -> None:
        tx.baselines.put("ses_1", baseline)
        assert tx.baselines.find("ses_1") == baseline
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.run(work)
    assert await store.run(lambda tx: tx.baselines.find("ses_1")) is None
    await store.run(lambda tx: tx.baselines.put("ses_1", baseline))
    assert await store.run(lambda tx: tx.baselines.find("ses_1")) == baseline


async def test_a_denial_is_remembered_until_its_end(store: Store) -> None:
    denial = a_denial(until=NOW + 10)
    await store.run(lambda tx: tx.denials.put(denial))
    assert await store.run(lambda tx: tx.denials.find("claude", "maria", "fp_1", NOW + 9)) == denial
    assert await store.run(lambda tx: tx.denials.find("claude", "maria", "fp_1", NOW + 10)) is None
    for key in (("cursor", "maria", "fp_1"), ("claude", "noor", "fp_1"), ("claude", "maria", "fp_2")):
        assert await store.run(lambda tx, key=key: tx.denials.find(*key, now=NOW)) is None


async def test_a_second_no_replaces_the_first(store: Store) -> None:
    await store.run(lambda tx: tx.denials.put(a_denial(until=NOW + 10)))
    await store.run(lambda tx: tx.denials.put(a_denial(until=NOW + 20, title="Add")))
    found = await store.run(lambda tx: tx.denials.find("claude", "maria", "fp_1", NOW))
    assert found == a_denial(until=NOW + 20, title="Add")


async def test_lifting_takes_one_capability_of_one_agent(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.denials.put(a_denial("fp_1"))
        tx.denials.put(a_denial("fp_2", until=NOW + 1))
        tx.denials.put(a_denial("fp_3", capability="todo.list"))
        tx.denials.put(a_denial("fp_4", agent="cursor"))
        tx.denials.put(a_denial("fp_5", user="noor"))

    await store.run(work)
    assert await store.run(lambda tx: tx.denials.lift("maria", "todo.add", "claude")) == 2
    assert await store.run(lambda tx: tx.denials.lift("maria", "todo.add", "claude")) == 0
    left = await store.run(lambda tx: tx.denials.list("maria", NOW))
    assert list(left) == [a_denial("fp_3", capability="todo.list"), a_denial("fp_4", agent="cursor")]


async def test_only_live_denials_are_listed_the_first_to_end_first(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.denials.put(a_denial("fp_1", until=NOW + 3))
        tx.denials.put(a_denial("fp_2", until=NOW + 2))
        tx.denials.put(a_denial("fp_3", until=NOW))

    await store.run(work)
    live = await store.run(lambda tx: tx.denials.list("maria", NOW))
    assert [denial.request_fingerprint for denial in live] == ["fp_2", "fp_1"]


async def test_a_fact_of_the_installation_is_put_and_replaced(store: Store) -> None:
    assert await store.run(lambda tx: tx.installation.get("key")) is None
    for value in (b"\x00one", b"two"):
        await store.run(lambda tx, value=value: tx.installation.put("key", value))
        assert await store.run(lambda tx: tx.installation.get("key")) == value
