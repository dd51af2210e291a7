"""The frames of the panel on the page channel: `panel` down, `panel_answer` and `panel_close` up.

The panel shows what agents say by standard components, and how answers of mini apps look. An item's name is one between
the gateway and the page.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator

from gateway.protocol.frame import Frame, Name
from gateway.protocol.strict_json import dumps

ANSWER_BYTES: Final = 32_768
"""An answer is smaller than this, as compact JSON in UTF-8: the longest text there may be, four bytes each, and room."""


def _small(answer: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(dumps(answer))
    except TypeError:
        raise ValueError("too deep") from None
    if size >= ANSWER_BYTES:
        raise ValueError("too large")
    return answer


class PanelAnswer(Frame):
    """What the person answered to an item that asks: `{values}`, `{confirmed}` or `{value}`."""

    type: Literal["panel_answer"]
    item: Name
    answer: Annotated[dict[str, Any], AfterValidator(_small)]


class PanelClose(Frame):
    """The person closed an item."""

    type: Literal["panel_close"]
    item: Name


def panel_show(item: str, kind: str, content: Mapping[str, Any], *, agent: str, app: str = "") -> dict[str, Any]:
    """Show an item in the panel, or the same again after a break.

    `content` is what its capability was called with, without `instance_id` and `tell`; of `genui` it is `{type, props}`,
    sanitised. `agent` is the configured name of who shows it, empty for nobody; `app` the mini app whose answer it is.
    """
    return {
        "type": "panel",
        "op": "show",
        "item": item,
        "kind": kind,
        "agent": agent,
        "app": app,
        "content": dict(content),
    }


def panel_close(item: str, reason: str) -> dict[str, Any]:
    """Take an item away: `answered`, or why it is gone."""
    return {"type": "panel", "op": "close", "item": item, "reason": reason}


def panel_refused(item: str, code: str) -> dict[str, Any]:
    """An answer was not taken; the item stands as it was, unless a `close` follows."""
    return {"type": "panel", "op": "refused", "item": item, "code": code}
