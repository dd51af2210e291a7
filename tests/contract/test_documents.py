"""Contract of `Documents`: rows that change step by step, snapshots, frames, and what people asked for in them."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain import documents
from gateway.domain.documents import DocumentAction, DocumentMove, DocumentState, ShownDocument
from gateway.runtime.ports import DuplicateKey, StaleState, Store, Tx
from tests.contract.samples import NOW

pytestmark = pytest.mark.anyio


def a_document(name: str = "gen_1", **changes: Any) -> ShownDocument:
    document = ShownDocument(
        id=name,
        call="call_1",
        session="ses_1",
        agent="claude",
        user="maria",
        conversation="talk",
        site="shop",
        kind="intelligent",
        state=DocumentState.STREAMING,
        epoch=1,
        seq=0,
        revision=1,
        frames=1,
        size=20,
        sha256="a" * 64,
        options="{}",
        opened_at=NOW,
    )
    return replace(document, **changes)


def an_action(call: str = "call_2", **changes: Any) -> DocumentAction:
    action = DocumentAction(
        call=call,
        document="gen_1",
        session="ses_1",
        request="req-1",
        action="save",
        entry="todo.save",
        input="b" * 64,
        at=NOW,
    )
    return replace(action, **changes)


def closed(document: ShownDocument, at: int = NOW) -> ShownDocument:
    return documents.step(document, DocumentMove.CLOSE, now=at, reason="person")


async def add(store: Store, *those: ShownDocument) -> None:
    for document in those:
        await store.run(lambda tx, document=document: tx.documents.add(document, "{}"))


async def test_a_document_is_read_as_it_was_written(store: Store) -> None:
    whole = a_document(closed_at=NOW + 1, reason="person", state=DocumentState.CLOSED)
    await add(store, whole, a_document("gen_2"))
    assert await store.run(lambda tx: tx.documents.find("gen_1")) == whole
    assert await store.run(lambda tx: tx.documents.find("gen_2")) == a_document("gen_2")
    assert await store.run(lambda tx: tx.documents.find("gen_3")) is None
    with pytest.raises(DuplicateKey):
        await add(store, a_document())


async def test_a_snapshot_of_the_greatest_size_is_kept_to_the_byte(store: Store) -> None:
    text = '{"title":"' + "字" * 87_376 + '"}'
    await store.run(lambda tx: tx.documents.add(a_document(), text))
    assert await store.run(lambda tx: tx.documents.content_of("gen_1")) == text
    assert await store.run(lambda tx: tx.documents.content_of("gen_2")) is None


async def test_a_step_is_taken_from_where_the_document_stands(store: Store) -> None:
    first = a_document()
    await add(store, first)
    second = replace(first, seq=1, revision=2, frames=2, size=41, sha256="c" * 64)
    await store.run(lambda tx: tx.documents.save(second, was=first, content='{"n":1}'))
    assert await store.run(lambda tx: tx.documents.find("gen_1")) == second
    assert await store.run(lambda tx: tx.documents.content_of("gen_1")) == '{"n":1}'
    for stale in (first, replace(second, seq=2), replace(second, state=DocumentState.COMPLETE)):
        with pytest.raises(StaleState):
            await store.run(lambda tx, stale=stale: tx.documents.save(second, was=stale, content="{}"))
    done = documents.step(second, DocumentMove.COMPLETE, now=NOW)
    await store.run(lambda tx: tx.documents.save(done, was=second))
    assert await store.run(lambda tx: tx.documents.content_of("gen_1")) == '{"n":1}'


async def test_what_closed_keeps_nothing_but_its_row(store: Store) -> None:
    one, other = a_document(), a_document("gen_2")
    await add(store, one, other)

    def work(tx: Tx) -> None:
        tx.documents.add_frame("gen_1", 1, call="call_9", digest="x")
        tx.documents.add_frame("gen_2", 1, call="call_8", digest="y")
        tx.documents.add_action(an_action())
        tx.documents.add_action(an_action("call_3", document="gen_2"))
        tx.documents.save(closed(one), was=one)

    await store.run(work)
    assert await store.run(lambda tx: tx.documents.find("gen_1")) == closed(one)
    assert await store.run(lambda tx: tx.documents.content_of("gen_1")) is None
    assert await store.run(lambda tx: tx.documents.digests_of("gen_1")) == {}
    assert await store.run(lambda tx: tx.documents.action_of_call("call_2")) is None
    assert await store.run(lambda tx: tx.documents.digests_of("gen_2")) == {1: "y"}
    assert await store.run(lambda tx: tx.documents.count_actions()) == 1


async def test_lists_hold_what_is_live_in_order(store: Store) -> None:
    await add(
        store,
        a_document("gen_3", opened_at=NOW + 1),
        a_document("gen_2", state=DocumentState.CANCELLED),
        a_document("gen_1", state=DocumentState.COMPLETE, session="ses_2"),
        a_document("gen_4", user="ann"),
        a_document("gen_5", site="todo"),
        closed(a_document("gen_6")),
    )

    def names(found: Any) -> list[str]:
        return [document.id for document in found]

    assert names(await store.run(lambda tx: tx.documents.live_of_person("maria", "shop"))) == [
        "gen_1",
        "gen_2",
        "gen_3",
    ]
    assert names(await store.run(lambda tx: tx.documents.live_of_session("ses_2"))) == ["gen_1"]
    assert names(await store.run(lambda tx: tx.documents.all_live())) == ["gen_1", "gen_2", "gen_4", "gen_5", "gen_3"]
    assert await store.run(lambda tx: tx.documents.count_live()) == 5


async def test_closed_ones_are_forgotten_oldest_first(store: Store) -> None:
    await add(store, *(closed(a_document(f"gen_{n}"), NOW + n) for n in (3, 1, 2)), a_document("gen_9"))
    assert await store.run(lambda tx: tx.documents.purge(NOW + 3, 1)) == 1
    assert await store.run(lambda tx: tx.documents.find("gen_1")) is None
    assert await store.run(lambda tx: tx.documents.purge(NOW + 3, 10)) == 1
    assert await store.run(lambda tx: tx.documents.find("gen_3")) is not None
    assert await store.run(lambda tx: tx.documents.find("gen_9")) is not None


async def test_frames_are_remembered_by_their_number(store: Store) -> None:
    def work(tx: Tx) -> None:
        for seq in (2, 1, 10):
            tx.documents.add_frame("gen_1", seq, call=f"call_{seq}", digest=f"d{seq}")

    await store.run(work)
    digests = await store.run(lambda tx: dict(tx.documents.digests_of("gen_1")))
    assert list(digests.items()) == [(1, "d1"), (2, "d2"), (10, "d10")]


async def test_a_request_of_a_document_is_there_once(store: Store) -> None:
    await store.run(lambda tx: tx.documents.add_action(an_action()))
    for same in (an_action("call_3"), an_action(request="req-2")):
        with pytest.raises(DuplicateKey):
            await store.run(lambda tx, same=same: tx.documents.add_action(same))
    assert await store.run(lambda tx: tx.documents.find_action("gen_1", "req-1")) == an_action()
    assert await store.run(lambda tx: tx.documents.find_action("gen_2", "req-1")) is None
    assert await store.run(lambda tx: tx.documents.action_of_call("call_2")) == an_action()


async def test_actions_are_counted_for_a_session_and_for_all(store: Store) -> None:
    those = [
        an_action("call_4", request="req-4", at=NOW + 1),
        an_action("call_3", request="req-3"),
        an_action("call_5", document="gen_2", session="ses_2"),
    ]

    def work(tx: Tx) -> None:
        for action in those:
            tx.documents.add_action(action)

    await store.run(work)
    assert [a.call for a in await store.run(lambda tx: tx.documents.actions_of("gen_1"))] == ["call_3", "call_4"]
    assert await store.run(lambda tx: tx.documents.count_actions()) == 3
    assert await store.run(lambda tx: tx.documents.count_actions("ses_1")) == 2
    assert await store.run(lambda tx: tx.documents.count_actions("ses_9")) == 0
