"""What is an answer to a standard component, and what is none."""

import json
from typing import Any

import pytest

from gateway.domain import panel_items
from gateway.domain.errors import IllegalTransition
from gateway.domain.panel_items import TRANSITIONS, ItemKind, ItemMove, ItemState, PanelItem, answer_of, content_fault

OPTIONS = [{"value": value, "label": value.upper()} for value in "abc"]


def an_item(kind: ItemKind, /, **content: Any) -> PanelItem:
    return PanelItem(
        id="item_1",
        session="ses_1",
        agent="claude",
        user="maria",
        conversation="talk",
        instance="q1",
        kind=kind,
        content=json.dumps(content),
        site="shop",
        page="page_1",
        state=ItemState.SHOWN,
        is_told=False,
        shown_at=1,
    )


def choice(**how: Any) -> PanelItem:
    return an_item(ItemKind.CHOICE, question="?", options=OPTIONS, **how)


def text(**how: Any) -> PanelItem:
    return an_item(ItemKind.INPUT, question="?", **how)


SEVERAL = choice(multiple=True, min=1, max=2)
GOOD: list[tuple[PanelItem, dict[str, Any], dict[str, Any]]] = [
    (choice(), {"values": ["b"]}, {"values": ["b"]}),
    (SEVERAL, {"values": ["c", "a"]}, {"values": ["a", "c"]}),
    (choice(multiple=True), {"values": []}, {"values": []}),
    (an_item(ItemKind.CONFIRM), {"confirmed": False}, {"confirmed": False}),
    (text(), {"value": ""}, {"value": ""}),
    (text(), {"value": "x" * 4_096}, {"value": "x" * 4_096}),
    (text(max_length=2), {"value": "你好"}, {"value": "你好"}),
    (text(kind="multiline"), {"value": "a\nb"}, {"value": "a\nb"}),
    (text(kind="number"), {"value": -2.5}, {"value": -2.5}),
    (text(kind="date"), {"value": "2026-02-28"}, {"value": "2026-02-28"}),
    (text(kind="date"), {"value": ""}, {"value": ""}),
    (text(required=True), {"value": "x"}, {"value": "x"}),
]
BAD: list[tuple[PanelItem, dict[str, Any]]] = [
    (choice(), {"values": []}),
    (choice(), {"values": ["a", "b"]}),
    (choice(), {"values": ["d"]}),
    (choice(), {"values": [None]}),
    (choice(), {"values": [["a"]]}),
    (choice(), {"values": "a"}),
    (choice(), {}),
    (choice(), {"values": ["a"], "more": 1}),
    (SEVERAL, {"values": []}),
    (SEVERAL, {"values": ["a", "b", "c"]}),
    (SEVERAL, {"values": ["a", "a"]}),
    (an_item(ItemKind.CONFIRM), {"confirmed": 1}),
    (an_item(ItemKind.CONFIRM), {"confirmed": "true"}),
    (an_item(ItemKind.CONFIRM), {"confirmed": True, "remember": True}),
    (text(), {"value": None}),
    (text(), {"value": 1}),
    (text(), {"value": "x" * 4_097}),
    (text(max_length=2), {"value": "abc"}),
    (text(), {"value": "a\nb"}),
    (text(required=True), {"value": " "}),
    (text(kind="number"), {"value": "1"}),
    (text(kind="number"), {"value": True}),
    (text(kind="date"), {"value": "2026-02-30"}),
    (text(kind="date"), {"value": "20260228"}),
    (text(kind="date", required=True), {"value": ""}),
    *(
        (an_item(kind), {"value": "x"})
        for kind in (ItemKind.TEXT, ItemKind.MARKDOWN, ItemKind.STATUS, ItemKind.PROGRESS)
    ),
    (an_item(ItemKind.ERROR), {"confirmed": True}),
]


@pytest.mark.parametrize(("item", "given", "told"), GOOD, ids=lambda case: str(case)[:40])
def test_an_answer_is_told_as_it_was_meant(item: PanelItem, given: dict[str, Any], told: dict[str, Any]) -> None:
    assert answer_of(item, given) == told


@pytest.mark.parametrize(("item", "given"), BAD, ids=lambda case: str(case)[:40])
def test_what_is_no_answer_to_this_is_none(item: PanelItem, given: dict[str, Any]) -> None:
    assert answer_of(item, given) is None


@pytest.mark.parametrize(
    ("kind", "content", "fault"),
    [
        (ItemKind.CHOICE, {"options": OPTIONS}, None),
        (ItemKind.CHOICE, {"options": OPTIONS, "multiple": True, "min": 3, "max": 3}, None),
        (ItemKind.CHOICE, {"options": OPTIONS, "multiple": True, "min": 3, "max": 2}, "/min"),
        (ItemKind.CHOICE, {"options": OPTIONS, "multiple": True, "max": 4}, "/min"),
        (ItemKind.CHOICE, {"options": [*OPTIONS, {"value": "a", "label": "again"}]}, "/options"),
        (ItemKind.PROGRESS, {"value": 2, "max": 2}, None),
        (ItemKind.PROGRESS, {}, None),
        (ItemKind.PROGRESS, {"value": 1.1}, "/value"),
        (ItemKind.TEXT, {"text": "x"}, None),
    ],
)
def test_a_content_is_judged_where_no_schema_can(kind: ItemKind, content: dict[str, Any], fault: str | None) -> None:
    found = content_fault(kind, content)
    assert found is None if fault is None else found is not None and f"`{fault}`" in found


def test_every_state_has_its_row_and_an_end_is_an_end() -> None:
    assert set(TRANSITIONS) == set(ItemState)
    shown = an_item(ItemKind.CONFIRM, question="?")
    for move in ItemMove:
        ended = panel_items.step(shown, move, now=5)
        assert (ended.ended_at, ended.content) == (5, "{}")
        for further in ItemMove:
            with pytest.raises(IllegalTransition):
                panel_items.step(ended, further, now=6)
