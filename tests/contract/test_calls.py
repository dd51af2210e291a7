"""Contract of `Calls`: one row per accepted call, at most one result, nothing evicted."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.calls import OPEN, CallEvent, CallState, Entry, Receipt, step
from gateway.domain.errors import ErrorCode
from gateway.runtime.ports import DuplicateKey, LedgerFull, StaleState, Store, Tx
from tests.contract.samples import NOW, a_call, a_full_call, a_result
from tests.contract.stores import Opener

pytestmark = pytest.mark.anyio

CLOSED = [state for state in CallState if state not in OPEN]


async def test_a_call_comes_back_as_it_went_in(store: Store) -> None:
    def work(tx: Tx) -> None:
        for call in (a_call("call_1"), a_full_call("call_2")):
            tx.calls.add(call, '{"title":"milk"}')

    await store.run(work)
    assert await store.run(lambda tx: tx.calls.find("call_1")) == a_call("call_1")
    assert await store.run(lambda tx: tx.calls.find("call_2")) == a_full_call("call_2")
    assert await store.run(lambda tx: tx.calls.find("call_3")) is None


async def test_a_call_is_found_by_agent_user_entry_and_call_id(store: Store) -> None:
    call = a_call(call_id="the-key-1")
    await store.run(lambda tx: tx.calls.add(call, None))
    key = ("claude", "maria", Entry.AGENT_TOOL, "the-key-1")
    assert await store.run(lambda tx: tx.calls.find_by_key(*key)) == call
    for other in (
        ("cursor", *key[1:]),
        (key[0], "noor", *key[2:]),
        (*key[:2], Entry.UI_ACTION, key[3]),
        (*key[:3], "the-key-2"),
    ):
        assert await store.run(lambda tx, key=other: tx.calls.find_by_key(*key)) is None


async def test_a_call_id_is_taken_once_and_a_refused_duplicate_takes_no_place(store: Store) -> None:
    def work(tx: Tx) -> tuple[int, int]:
        tx.calls.add(a_call("call_1", call_id="the-key-1"), None)
        with pytest.raises(DuplicateKey):
            tx.calls.add(a_call("call_2", call_id="the-key-1"), '{"title":"milk"}')
        tx.calls.add(a_call("call_3", call_id="the-key-1", agent="cursor"), None)
        return tx.calls.usage()

    assert await store.run(work) == (2, 2)
    assert await store.run(lambda tx: tx.calls.find("call_2")) is None


async def test_the_ledger_takes_its_cap_and_not_one_more(open_store: Opener) -> None:
    store = open_store(ledger_cap=2)

    def end(tx: Tx) -> None:
        tx.calls.save(a_call("call_1", state=CallState.CANCELLED), was=CallState.READY)

    await store.run(lambda tx: tx.calls.add(a_call("call_1"), None))
    await store.run(end)
    await store.run(lambda tx: tx.calls.add(a_call("call_2"), None))
    with pytest.raises(LedgerFull):
        await store.run(lambda tx: tx.calls.add(a_call("call_3"), None))
    assert await store.run(lambda tx: tx.calls.usage()) == (2, 1)
    await store.close()


async def test_open_calls_take_their_cap_and_an_end_makes_room(open_store: Opener) -> None:
    store = open_store(open_cap=2)
    for ref in ("call_1", "call_2"):
        await store.run(lambda tx, ref=ref: tx.calls.add(a_call(ref), None))
    with pytest.raises(LedgerFull):
        await store.run(lambda tx: tx.calls.add(a_call("call_3"), None))

    await store.run(lambda tx: tx.calls.save(a_call("call_1", state=CallState.EXPIRED), was=CallState.READY))
    await store.run(lambda tx: tx.calls.add(a_call("call_3"), None))
    assert await store.run(lambda tx: tx.calls.usage()) == (3, 2)
    await store.close()


async def test_a_unit_that_caught_a_full_ledger_wrote_nothing_of_the_call(open_store: Opener) -> None:
    store = open_store(ledger_cap=0)

    def work(tx: Tx) -> str:
        try:
            tx.calls.add(a_call(), '{"title":"milk"}')
        except LedgerFull:
            return "refused"
        return "accepted"

    assert await store.run(work) == "refused"
    assert await store.run(lambda tx: (tx.calls.usage(), tx.calls.find("call_1"))) == ((0, 0), None)
    await store.close()


async def test_unknown_counts_to_the_ledger_and_not_to_the_open_calls(store: Store) -> None:
    dispatched = a_call(state=CallState.DISPATCHED, execute_by=NOW + 30_000)
    await store.run(lambda tx: tx.calls.add(dispatched, None))
    lost = step(dispatched, CallEvent.LOSE, now=NOW, code=ErrorCode.OUTCOME_UNKNOWN)
    await store.run(lambda tx: tx.calls.save(lost, was=CallState.DISPATCHED))
    assert await store.run(lambda tx: tx.calls.usage()) == (1, 0)

    late = step(lost, CallEvent.SUCCEED, now=NOW + 1)
    await store.run(lambda tx: tx.calls.save(late, was=CallState.UNKNOWN))
    assert await store.run(lambda tx: (tx.calls.usage(), tx.calls.find("call_1"))) == ((1, 0), late)


async def test_a_save_from_another_state_is_stale_and_changes_nothing(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call(), None))
    done = a_call(state=CallState.SUCCEEDED, ended_at=NOW)
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.calls.save(done, was=CallState.DISPATCHED))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.calls.save(replace(done, ref="call_9"), was=CallState.READY))
    assert await store.run(lambda tx: tx.calls.find("call_1")) == a_call()
    assert await store.run(lambda tx: tx.calls.usage()) == (1, 1)


async def test_of_two_saves_from_one_state_the_first_wins(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call(), None))
    await store.run(lambda tx: tx.calls.save(a_call(state=CallState.CANCELLED), was=CallState.READY))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.calls.save(a_call(state=CallState.DISPATCHED), was=CallState.READY))


async def test_a_save_keeps_what_names_the_call(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call(), None))
    forged = a_call(call_id="another-key", session="ses_9", site="blog")
    await store.run(lambda tx: tx.calls.save(forged, was=CallState.READY))
    assert await store.run(lambda tx: tx.calls.find("call_1")) == a_call(site="blog")


@pytest.mark.parametrize("end", CLOSED)
async def test_the_input_lives_until_nothing_will_be_handed_out(store: Store, end: CallState) -> None:
    await store.run(lambda tx: tx.calls.add(a_call(), '{"title":"milk"}'))
    dispatched = a_call(state=CallState.DISPATCHED)
    await store.run(lambda tx: tx.calls.save(dispatched, was=CallState.READY))
    assert await store.run(lambda tx: tx.calls.input_of("call_1")) == '{"title":"milk"}'

    await store.run(lambda tx: tx.calls.save(a_call(state=end), was=CallState.DISPATCHED))
    assert await store.run(lambda tx: tx.calls.input_of("call_1")) is None


@pytest.mark.parametrize("arguments", ["{}", None], ids=["stored input", "input in memory"])
async def test_a_promise_lives_until_the_call_ends(store: Store, arguments: str | None) -> None:
    promised = '{"type":"integer"}'
    dispatched = a_call(state=CallState.DISPATCHED)

    def begin(tx: Tx) -> tuple[str | None, str | None]:
        tx.calls.add(dispatched, arguments, promise=promised)
        return tx.calls.input_of(dispatched.ref), tx.calls.promise_of(dispatched.ref)

    def move(tx: Tx, state: CallState, was: CallState) -> str | None:
        tx.calls.save(replace(dispatched, state=state), was=was)
        return tx.calls.promise_of(dispatched.ref)

    assert await store.run(begin) == (arguments, promised)
    assert await store.run(lambda tx: move(tx, CallState.UNKNOWN, CallState.DISPATCHED)) == promised
    assert await store.run(lambda tx: move(tx, CallState.SUCCEEDED, CallState.UNKNOWN)) is None


async def test_an_input_kept_in_memory_is_not_stored(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call(input_in_memory=True), None))
    assert await store.run(lambda tx: tx.calls.input_of("call_1")) is None


@pytest.mark.parametrize("state", sorted([*OPEN, CallState.UNKNOWN]))
async def test_an_equal_call_that_has_not_ended_is_found_however_old(store: Store, state: CallState) -> None:
    call = a_call(state=state, request_fingerprint="fp")
    await store.run(lambda tx: tx.calls.add(call, None))
    found = await store.run(lambda tx: tx.calls.equals("ses_1", "todo.add", "fp", ended_after=NOW + 10**9))
    assert found == [call]


@pytest.mark.parametrize(
    ("changes", "is_found"),
    [
        ({"ended_at": NOW}, True),
        ({"ended_at": NOW - 1}, False),
        ({"ended_at": NOW, "taken": True}, False),
        ({"ended_at": NOW, "entry": Entry.UI_ACTION}, False),
        ({"ended_at": NOW, "session": "ses_2"}, False),
        ({"ended_at": NOW, "capability": "todo.list"}, False),
        ({"ended_at": NOW, "request_fingerprint": "another"}, False),
    ],
)
async def test_an_equal_call_that_ended_is_found_while_fresh_and_taken_by_nobody(
    store: Store, changes: dict[str, Any], is_found: bool
) -> None:
    call = replace(a_call(state=CallState.SUCCEEDED, request_fingerprint="fp"), **changes)
    await store.run(lambda tx: tx.calls.add(call, None))
    found = await store.run(lambda tx: tx.calls.equals("ses_1", "todo.add", "fp", ended_after=NOW))
    assert found == ([call] if is_found else [])


async def test_of_several_equal_calls_the_newest_comes_first(store: Store) -> None:
    def work(tx: Tx) -> None:
        for ref in ("call_b", "call_c", "call_a"):
            tx.calls.add(a_call(ref, request_fingerprint="fp"), None)

    await store.run(work)
    found = await store.run(lambda tx: tx.calls.equals("ses_1", "todo.add", "fp", ended_after=NOW))
    assert [call.ref for call in found] == ["call_a", "call_c", "call_b"]


async def test_receipts_count_from_one_per_call(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.calls.add(a_call("call_1"), None)
        tx.calls.add(a_call("call_2"), None)
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)
        tx.calls.add_receipt("call_2", "accepted", reason=None, at=NOW)
        tx.calls.add_receipt("call_1", "rejected", reason="denied", at=NOW + 1)

    await store.run(work)
    assert [found.seq for found in await store.run(lambda tx: tx.calls.receipts_of("call_2"))] == [1]
    assert list(await store.run(lambda tx: tx.calls.receipts_of("call_1"))) == [
        Receipt(seq=1, status="accepted", reason=None, at=NOW),
        Receipt(seq=2, status="rejected", reason="denied", at=NOW + 1),
    ]
    assert list(await store.run(lambda tx: tx.calls.receipts_of("call_9"))) == []
    with pytest.raises(LookupError):
        await store.run(lambda tx: tx.calls.add_receipt("call_9", "accepted", reason=None, at=NOW))


async def test_a_call_has_one_result_and_a_second_is_an_error(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call(), None))
    assert await store.run(lambda tx: tx.calls.result_of("call_1")) is None
    result = a_result(evidence='[{"path":"/todos/7"}]')
    await store.run(lambda tx: tx.calls.put_result("call_1", result))
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.calls.put_result("call_1", a_result(output="null")))
    with pytest.raises(LookupError):
        await store.run(lambda tx: tx.calls.put_result("call_9", a_result()))
    assert await store.run(lambda tx: tx.calls.result_of("call_1")) == result


async def test_a_taken_result_goes_earlier_and_never_later(store: Store) -> None:
    def work(tx: Tx) -> None:
        for ref, erase_at in (("call_1", NOW + 100), ("call_2", NOW + 10), ("call_3", NOW + 100)):
            tx.calls.add(a_call(ref, state=CallState.SUCCEEDED, ended_at=NOW), None)
            tx.calls.put_result(ref, a_result(erase_at=erase_at))
        tx.calls.mark_taken(["call_1", "call_2", "call_9"], erase_at=NOW + 50)

    await store.run(work)
    calls = [await store.run(lambda tx, ref=f"call_{n}": tx.calls.find(ref)) for n in (1, 2, 3)]
    results = [await store.run(lambda tx, ref=f"call_{n}": tx.calls.result_of(ref)) for n in (1, 2, 3)]
    assert [call.taken for call in calls if call] == [True, True, False]
    assert [result.erase_at - NOW for result in results if result] == [50, 10, 100]


async def test_erasing_takes_the_due_results_and_leaves_the_rows(store: Store) -> None:
    def work(tx: Tx) -> None:
        for ref, erase_at in (("call_1", NOW), ("call_2", NOW + 1)):
            tx.calls.add(a_call(ref, state=CallState.SUCCEEDED, ended_at=NOW), None)
            tx.calls.put_result(ref, a_result(erase_at=erase_at))

    await store.run(work)
    assert await store.run(lambda tx: tx.calls.erase_results(NOW, 10)) == 1
    assert await store.run(lambda tx: tx.calls.erase_results(NOW, 10)) == 0
    assert await store.run(lambda tx: tx.calls.result_of("call_1")) is None
    assert await store.run(lambda tx: tx.calls.result_of("call_2")) is not None
    assert await store.run(lambda tx: tx.calls.usage()) == (2, 0)


async def test_due_calls_come_oldest_first_and_at_their_instant(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.calls.add(a_call("call_late", deadline=NOW + 3), None)
        tx.calls.add(a_call("call_soon", deadline=NOW + 1), None)
        tx.calls.add(a_call("call_run", state=CallState.DISPATCHED, execute_by=NOW + 2), None)
        tx.calls.add(a_call("call_done", state=CallState.SUCCEEDED, deadline=NOW), None)

    async def due(now: int, limit: int = 10) -> list[str]:
        return [call.ref for call in await store.run(lambda tx: tx.calls.due(now, limit))]

    await store.run(work)
    assert await store.run(lambda tx: tx.calls.next_due()) == NOW + 1
    assert await due(NOW) == []
    assert await due(NOW + 1) == ["call_soon"]
    assert await due(NOW + 3) == ["call_soon", "call_run", "call_late"]
    assert await due(NOW + 3, limit=2) == ["call_soon", "call_run"]


async def test_a_save_moves_the_instant_a_call_is_due(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call(), None))
    assert await store.run(lambda tx: tx.calls.next_due()) == NOW + 600_000
    await store.run(lambda tx: tx.calls.save(a_call(orphaned_at=NOW), was=CallState.READY))
    assert await store.run(lambda tx: tx.calls.next_due()) == NOW + 30_000
    await store.run(lambda tx: tx.calls.save(a_call(state=CallState.CANCELLED), was=CallState.READY))
    assert await store.run(lambda tx: tx.calls.next_due()) is None


async def test_open_calls_come_in_order_of_admission(store: Store) -> None:
    def work(tx: Tx) -> None:
        states = [*OPEN, *CLOSED, *OPEN]
        for number, state in enumerate(states):
            page = "page_1" if number % 2 else "page_2"
            session = "ses_1" if number % 3 else "ses_2"
            tx.calls.add(a_call(f"call_{number:02}", state=state, page=page, session=session), None)

    await store.run(work)
    first, last = range(len(OPEN)), range(len(OPEN) + len(CLOSED), 2 * len(OPEN) + len(CLOSED))
    numbers = [*first, *last]

    def refs(chosen: list[int]) -> list[str]:
        return [f"call_{number:02}" for number in chosen]

    every = await store.run(lambda tx: tx.calls.open_calls())
    assert [call.ref for call in every] == refs(numbers)
    on_page = await store.run(lambda tx: tx.calls.open_on_page("page_1"))
    assert [call.ref for call in on_page] == refs([n for n in numbers if n % 2])
    of_session = await store.run(lambda tx: tx.calls.open_of_session("ses_2"))
    assert [call.ref for call in of_session] == refs([n for n in numbers if n % 3 == 0])


async def test_open_calls_are_found_by_the_frame_they_were_asked_for_in(store: Store) -> None:
    def work(tx: Tx) -> None:
        asked = {"entry": Entry.UI_ACTION, "agent": "", "session": ""}
        tx.calls.add(a_call("call_1"), None)
        tx.calls.add(a_call("call_2", instance="inst_1", **asked), None)
        tx.calls.add(a_call("call_3", instance="inst_2", **asked), None)
        tx.calls.add(a_call("call_4", instance="inst_1", page=None, **asked), None)
        tx.calls.add(a_call("call_5", instance="inst_1", **asked), None)
        tx.calls.save(a_call("call_5", instance="inst_1", state=CallState.CANCELLED, **asked), was=CallState.READY)

    await store.run(work)
    found = await store.run(lambda tx: tx.calls.open_of_instance("inst_1"))
    assert [call.ref for call in found] == ["call_2", "call_4"]
    assert await store.run(lambda tx: tx.calls.open_of_instance("inst_3")) == []


async def test_recent_calls_come_newest_first(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.calls.add(a_call("call_1", session="ses_1", user="maria"), None)
        tx.calls.add(a_call("call_2", session="ses_2", user="maria"), None)
        tx.calls.add(a_call("call_3", session="ses_2", user="noor"), None)
        tx.calls.add(a_call("call_4", session="ses_1", user="noor"), None)

    async def recent(limit: int = 10, session: str | None = None, user: str | None = None) -> list[str]:
        calls = await store.run(lambda tx: tx.calls.recent(limit=limit, session=session, user=user))
        return [call.ref for call in calls]

    await store.run(work)
    assert await recent() == ["call_4", "call_3", "call_2", "call_1"]
    assert await recent(limit=1) == ["call_4"]
    assert await recent(session="ses_1") == ["call_4", "call_1"]
    assert await recent(user="maria") == ["call_2", "call_1"]
    assert await recent(session="ses_2", user="noor") == ["call_3"]


async def test_what_is_unknown_is_counted_until_it_is_settled(store: Store) -> None:
    def work(tx: Tx) -> list[int]:
        counts = [tx.calls.count_unknown()]
        call = replace(a_call("call_1"), state=CallState.DISPATCHED)
        tx.calls.add(call, "{}")
        counts.append(tx.calls.count_unknown())
        lost = step(call, CallEvent.LOSE, now=NOW, code=ErrorCode.OUTCOME_UNKNOWN)
        tx.calls.save(lost, was=CallState.DISPATCHED)
        counts.append(tx.calls.count_unknown())
        tx.calls.save(step(lost, CallEvent.SUCCEED, now=NOW), was=CallState.UNKNOWN)
        return [*counts, tx.calls.count_unknown()]

    assert await store.run(work) == [0, 0, 1, 0]
