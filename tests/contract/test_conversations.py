"""Contract of `Conversations`: what a log holds, in which order, and what becomes of it."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.calls import CallState
from gateway.domain.conversations import Asked, EndTold, EventTold, Following, Message, ReceiptTold, Talk
from gateway.domain.errors import ErrorCode
from gateway.runtime.ports import Store, Tx
from tests.contract.samples import NOW, a_call, a_result, a_session
from tests.contract.stores import Opener

pytestmark = pytest.mark.anyio

TALK = Talk(agent="claude", user="maria", name="conv_1")
OTHER = Talk(agent="claude", user="noor", name="conv_1")
RUNNING = a_call(state=CallState.DISPATCHED)


def followed(tx: Tx, ref: str = "call_1", talk: Talk = TALK, asked: Asked = Asked.TOOL) -> None:
    tx.calls.add(a_call(ref, state=CallState.DISPATCHED), "{}")
    tx.conversations.follow(ref, Following(talk=talk, asked=asked))


def ended(ref: str = "call_1", state: CallState = CallState.SUCCEEDED, **changes: Any) -> Any:
    return a_call(ref, state=state, ended_at=NOW + 5, **changes)


async def told(store: Store, talk: Talk = TALK, after: int = 0, limit: int = 100) -> list[Message]:
    return list(await store.run(lambda tx: tx.conversations.read(talk, after=after, limit=limit)))


async def test_a_log_that_was_never_used_is_empty(store: Store) -> None:
    assert await told(store) == []
    assert await store.run(lambda tx: tx.conversations.head(TALK)) == 0


async def test_every_receipt_and_the_end_of_a_followed_call_is_a_message(store: Store) -> None:
    def work(tx: Tx) -> None:
        followed(tx)
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)
        tx.calls.add_receipt("call_1", "activation_failed", reason="timeout", at=NOW + 1)
        tx.calls.save(ended(), was=CallState.DISPATCHED)
        tx.calls.put_result("call_1", a_result())

    await store.run(work)
    first, second, end = await told(store)
    assert isinstance(first, ReceiptTold)
    assert isinstance(second, ReceiptTold)
    assert (first.seq, first.receipt.status, first.receipt.seq, first.at) == (1, "accepted", 1, NOW)
    assert (second.seq, second.receipt.status, second.receipt.reason) == (2, "activation_failed", "timeout")
    assert end == EndTold(
        seq=3,
        at=NOW + 5,
        call=ended(),
        asked=Asked.TOOL,
        state=CallState.SUCCEEDED,
        code=None,
        message=None,
        result=a_result(),
    )
    assert await store.run(lambda tx: tx.conversations.head(TALK)) == 3


async def test_a_call_nobody_follows_leaves_no_message(store: Store) -> None:
    def work(tx: Tx) -> None:
        followed(tx)
        tx.calls.add(replace(RUNNING, ref="call_2", call_id="key-of-call_2"), "{}")
        tx.calls.add_receipt("call_2", "accepted", reason=None, at=NOW)
        tx.calls.save(ended("call_2"), was=CallState.DISPATCHED)

    await store.run(work)
    assert await told(store) == []


async def test_a_call_that_is_not_there_is_not_followed(store: Store) -> None:
    await store.run(lambda tx: tx.conversations.follow("call_9", Following(talk=TALK, asked=Asked.TOOL)))
    assert await told(store) == []


async def test_who_follows_already_goes_on_as_before(store: Store) -> None:
    def work(tx: Tx) -> None:
        followed(tx, asked=Asked.APP)
        tx.conversations.follow("call_1", Following(talk=TALK, asked=Asked.TOOL))
        tx.calls.save(ended(), was=CallState.DISPATCHED)

    await store.run(work)
    (end,) = await told(store)
    assert isinstance(end, EndTold)
    assert end.asked is Asked.APP


async def test_each_conversation_counts_by_itself_and_reads_its_own(store: Store) -> None:
    def work(tx: Tx) -> None:
        followed(tx)
        followed(tx, "call_2", OTHER)
        for ref in ("call_1", "call_2", "call_1"):
            tx.calls.add_receipt(ref, "accepted", reason=None, at=NOW)

    await store.run(work)
    assert [(m.seq, m.call.ref) for m in await told(store) if isinstance(m, ReceiptTold)] == [
        (1, "call_1"),
        (2, "call_1"),
    ]
    assert [(m.seq, m.call.ref) for m in await told(store, OTHER) if isinstance(m, ReceiptTold)] == [(1, "call_2")]


async def test_a_call_two_conversations_follow_is_told_in_both(store: Store) -> None:
    def work(tx: Tx) -> None:
        followed(tx)
        tx.conversations.follow("call_1", Following(talk=OTHER, asked=Asked.APP))
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)
        tx.calls.save(ended(), was=CallState.DISPATCHED)

    await store.run(work)
    kinds = [(type(m), m.seq) for m in await told(store)]
    assert kinds == [(ReceiptTold, 1), (EndTold, 2)]
    assert [(type(m), m.seq) for m in await told(store, OTHER)] == kinds


@pytest.mark.parametrize("open_store", ["sqlite", "postgresql"], indirect=True)
async def test_a_call_that_was_followed_before_a_restart_is_told_after_it(open_store: Opener) -> None:
    store = open_store()
    await store.run(followed)
    await store.close()
    again = open_store()
    await again.run(lambda tx: tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW))
    await again.run(lambda tx: tx.calls.save(ended(), was=CallState.DISPATCHED))
    assert [type(m) for m in await told(again)] == [ReceiptTold, EndTold]
    await again.close()


async def test_a_call_that_is_followed_after_others_that_are_not_is_told(store: Store) -> None:
    def first(tx: Tx) -> None:
        tx.calls.add(a_call("call_2", state=CallState.DISPATCHED), "{}")
        tx.calls.add_receipt("call_2", "accepted", reason=None, at=NOW)

    def second(tx: Tx) -> None:
        followed(tx)
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)

    await store.run(first)
    await store.run(second)
    assert [m.call.ref for m in await told(store) if isinstance(m, ReceiptTold)] == ["call_1"]


async def test_unknown_is_an_end_and_what_settles_it_later_is_not_told(store: Store) -> None:
    lost = a_call(state=CallState.UNKNOWN, code=ErrorCode.DEADLINE_EXCEEDED, message="too late")
    late = ended(late=True)

    def work(tx: Tx) -> None:
        followed(tx)
        tx.calls.save(lost, was=CallState.DISPATCHED, at=NOW + 3)
        tx.calls.save(late, was=CallState.UNKNOWN)
        tx.calls.put_result("call_1", a_result())

    await store.run(work)
    (end,) = await told(store)
    assert end == EndTold(
        seq=1,
        at=NOW + 3,
        call=late,
        asked=Asked.TOOL,
        state=CallState.UNKNOWN,
        code=ErrorCode.DEADLINE_EXCEEDED,
        message="too late",
        result=None,
    )


async def test_a_call_added_with_its_end_is_told_when_that_is_said(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.calls.add(ended(), None)
        tx.conversations.follow("call_1", Following(talk=TALK, asked=Asked.TOOL))
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)
        tx.conversations.told_end(ended(), NOW)

    await store.run(work)
    assert [type(m) for m in await told(store)] == [ReceiptTold, EndTold]


async def test_the_text_of_a_result_goes_with_the_result(store: Store) -> None:
    def work(tx: Tx) -> None:
        followed(tx)
        tx.calls.save(ended(), was=CallState.DISPATCHED)
        tx.calls.put_result("call_1", a_result(erase_at=NOW + 9))

    await store.run(work)
    assert await store.run(lambda tx: tx.calls.erase_results(NOW + 9, 10)) == 1
    (end,) = await told(store)
    assert isinstance(end, EndTold)
    assert (end.state, end.result) == (CallState.SUCCEEDED, None)


async def test_an_event_of_a_surface_is_a_message(store: Store) -> None:
    await store.run(lambda tx: tx.conversations.tell_event(TALK, '{"event":"größe"}', NOW))
    assert await told(store) == [EventTold(seq=1, at=NOW, body='{"event":"größe"}')]
    assert await told(store, OTHER) == []


async def test_reading_goes_on_after_a_place_and_has_an_end(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number in range(5):
            tx.conversations.tell_event(TALK, f"{number}", NOW)

    await store.run(work)
    assert [m.seq for m in await told(store, after=2, limit=2)] == [3, 4]
    assert [m.seq for m in await told(store, after=4)] == [5]
    assert await told(store, after=5) == []


async def test_what_is_purged_goes_by_age_and_its_places_are_not_given_again(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number in range(3):
            tx.conversations.tell_event(TALK, f"{number}", NOW + number)

    await store.run(work)
    assert await store.run(lambda tx: tx.conversations.purge(NOW + 2, 1)) == 1
    assert [m.seq for m in await told(store)] == [2, 3]
    assert await store.run(lambda tx: tx.conversations.purge(NOW + 2, 10)) == 1
    assert await store.run(lambda tx: tx.conversations.purge(NOW + 3, 10)) == 1
    assert await told(store) == []
    assert await store.run(lambda tx: tx.conversations.head(TALK)) == 3
    await store.run(lambda tx: tx.conversations.tell_event(TALK, "4", NOW))
    assert [m.seq for m in await told(store)] == [4]


async def test_the_messages_of_a_forgotten_call_go_with_it(store: Store) -> None:
    def work(tx: Tx) -> None:
        followed(tx)
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)
        tx.calls.save(ended(), was=CallState.DISPATCHED)

    await store.run(work)
    assert await store.run(lambda tx: tx.calls.purge(minted=False, ended_before=NOW + 6, limit=10)) == 1
    assert await told(store) == []
    assert await store.run(lambda tx: tx.conversations.head(TALK)) == 2


async def test_a_leap_leaves_places_empty_in_every_log(store: Store) -> None:
    await store.run(lambda tx: tx.conversations.tell_event(TALK, "1", NOW))
    await store.run(lambda tx: tx.conversations.leap(1_000))
    await store.run(lambda tx: tx.conversations.tell_event(TALK, "2", NOW))
    assert [m.seq for m in await told(store)] == [1, 1_002]


async def test_a_log_is_closed_when_it_is_empty_and_no_session_names_it(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.sessions.add(a_session(conversation="conv_1"))
        tx.conversations.tell_event(TALK, "1", NOW)
        tx.conversations.tell_event(OTHER, "1", NOW)

    await store.run(work)
    assert await store.run(lambda tx: tx.conversations.close(10)) == 0
    await store.run(lambda tx: tx.conversations.purge(NOW + 1, 10))
    assert await store.run(lambda tx: tx.conversations.close(10)) == 1
    assert await store.run(lambda tx: (tx.conversations.head(TALK), tx.conversations.head(OTHER))) == (1, 0)


async def test_a_failing_unit_tells_nothing(store: Store) -> None:
    def work(tx: Tx) -> None:
        followed(tx)
        tx.calls.add_receipt("call_1", "accepted", reason=None, at=NOW)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.run(work)
    assert await told(store) == []
    assert await store.run(lambda tx: tx.conversations.head(TALK)) == 0
