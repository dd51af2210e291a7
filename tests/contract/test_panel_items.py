"""Contract of `PanelItems`, and of how answers look: one live for each name in a conversation, found by whom it is for."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain import panel_items
from gateway.domain.calls import Result
from gateway.domain.conversations import Talk
from gateway.domain.panel_items import ItemKind, ItemMove, ItemState, PanelItem
from gateway.runtime.ports import DuplicateKey, StaleState, Store
from tests.contract.samples import NOW, a_call

pytestmark = pytest.mark.anyio

TALK = Talk(agent="claude", user="maria", name="talk")


def an_item(name: str = "item_1", **changes: Any) -> PanelItem:
    item = PanelItem(
        id=name,
        session="ses_1",
        agent="claude",
        user="maria",
        conversation="talk",
        instance=name,
        kind=ItemKind.CHOICE,
        content='{"question":"你好"}',
        site="shop",
        page="page_1",
        state=ItemState.SHOWN,
        is_told=True,
        shown_at=NOW,
    )
    return replace(item, **changes)


async def add(store: Store, *those: PanelItem) -> None:
    for item in those:
        await store.run(lambda tx, item=item: tx.panel_items.add(item))


async def test_an_item_is_read_as_it_was_written(store: Store) -> None:
    whole = an_item(state=ItemState.CLOSED, ended_at=NOW + 1, reason="person", is_told=False)
    await add(store, whole)
    assert await store.run(lambda tx: tx.panel_items.find("item_1")) == whole
    assert await store.run(lambda tx: tx.panel_items.find("item_2")) is None


async def test_a_name_has_one_live_item_in_its_conversation(store: Store) -> None:
    first = an_item()
    await add(store, first)
    with pytest.raises(DuplicateKey):
        await add(store, an_item("item_2", instance=first.instance))
    await add(store, an_item("item_3", instance=first.instance, conversation="other"))
    ended = panel_items.step(first, ItemMove.CLOSE, now=NOW + 1)
    await store.run(lambda tx: tx.panel_items.save(ended, was=ItemState.SHOWN))
    await add(store, an_item("item_2", instance=first.instance))


async def test_what_ended_ends_once(store: Store) -> None:
    item = an_item()
    await add(store, item)
    answered = panel_items.step(item, ItemMove.ANSWER, now=NOW + 1)
    await store.run(lambda tx: tx.panel_items.save(answered, was=ItemState.SHOWN))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.panel_items.save(answered, was=ItemState.SHOWN))
    assert await store.run(lambda tx: tx.panel_items.find(item.id)) == answered


async def test_live_items_are_found_in_order_by_whom_they_are_for(store: Store) -> None:
    ended = an_item("item_0", state=ItemState.ANSWERED, ended_at=NOW)
    later, earlier = an_item("item_1", shown_at=NOW + 5), an_item("item_2", shown_at=NOW + 1)
    other = an_item("item_3", user="ann", session="ses_2", conversation="x", site="todo", shown_at=NOW + 9)
    await add(store, ended, later, earlier, other)
    assert await store.run(lambda tx: list(tx.panel_items.live_of_talk(TALK))) == [earlier, later]
    assert await store.run(lambda tx: list(tx.panel_items.live_of_session("ses_2"))) == [other]
    assert await store.run(lambda tx: list(tx.panel_items.live_of_person("maria", "shop"))) == [earlier, later]
    assert await store.run(lambda tx: list(tx.panel_items.live_of_person("maria", "todo"))) == []
    assert await store.run(lambda tx: list(tx.panel_items.all_live())) == [earlier, later, other]


async def test_old_ends_are_forgotten_so_many_at_a_time(store: Store) -> None:
    await add(store, an_item("live"))
    for number in range(3):
        await add(store, an_item(f"item_{number}", state=ItemState.CLOSED, ended_at=NOW + number))
    assert await store.run(lambda tx: tx.panel_items.purge(NOW + 2, 1)) == 1
    assert await store.run(lambda tx: tx.panel_items.purge(NOW + 2, 9)) == 1
    assert await store.run(lambda tx: tx.panel_items.find("item_2")) is not None
    assert await store.run(lambda tx: tx.panel_items.find("live")) is not None


async def test_how_an_answer_looks_is_kept_and_erased_with_it(store: Store) -> None:
    calls = [a_call(f"call_{number}", user="maria" if number else "ann") for number in range(4)]
    for call in calls:
        result = Result(output="{}", evidence=None, at=NOW, erase_at=NOW + 10, ui=f'{{"n":"{call.ref}"}}')
        shown = replace(result, ui=None) if call is calls[1] else result
        await store.run(lambda tx, call=call: tx.calls.add(call, "{}"))
        await store.run(lambda tx, call=call, shown=shown: tx.calls.put_result(call.ref, shown))
        assert await store.run(lambda tx, call=call: tx.calls.result_of(call.ref)) == shown
    drawn = await store.run(lambda tx: tx.calls.drawn_for("maria", limit=9))
    assert [(call.ref, ui) for call, ui in drawn] == [("call_2", '{"n":"call_2"}'), ("call_3", '{"n":"call_3"}')]
    assert [call.ref for call, _ in await store.run(lambda tx: tx.calls.drawn_for("maria", limit=1))] == ["call_3"]
    await store.run(lambda tx: tx.calls.erase_ui("call_2"))
    kept = await store.run(lambda tx: tx.calls.result_of("call_2"))
    assert kept is not None
    assert (kept.output, kept.ui) == ("{}", None)
    await store.run(lambda tx: tx.calls.erase_results(NOW + 10, 9))
    assert await store.run(lambda tx: list(tx.calls.drawn_for("maria", limit=9))) == []
