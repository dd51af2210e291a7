"""The panel over the page channel: the way to it, and what one document says of it, in the use cases' words."""

from collections.abc import Mapping
from typing import Any

import orjson

from gateway.domain.calls import Call
from gateway.domain.errors import GatewayError
from gateway.domain.panel_items import PanelItem
from gateway.protocol import panel_frames as frames
from gateway.runtime.pages import Pages
from gateway.runtime.panel import JsonObject, Panel
from gateway.runtime.world import LivePage
from gateway.transports.page_ws.outgoing import Outgoing


class ChannelPanelLink:
    """`PanelLink`; writes to the live document of a page session only."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def show(self, page: LivePage, item: PanelItem, *, agent: str) -> bool:
        shown = frames.panel_show(item.id, item.kind.value, orjson.loads(item.content), agent=agent)
        return self._send(page, shown)

    def draw(self, page: LivePage, call: Call, schema: JsonObject, *, agent: str, app: str) -> bool:
        return self._send(page, frames.panel_show(call.ref, "genui", schema, agent=agent, app=app))

    def hide(self, page: LivePage, item: str, reason: str) -> bool:
        return self._send(page, frames.panel_close(item, reason))

    def _send(self, page: LivePage, frame: Mapping[str, Any]) -> bool:
        return self._pages.send(page.id, page.session.epoch, frame)


async def take_answer(panel: Panel, page: LivePage, frame: frames.PanelAnswer, outgoing: Outgoing) -> None:
    """Pass on what the person answered; a page that hears of no refusal would let them wait.

    Raises:
        GatewayError: it was not taken, and the page was told which item that is about.
    """
    try:
        await panel.answered(page, frame.item, frame.answer)
    except GatewayError as refusal:
        outgoing.send(frames.panel_refused(frame.item, refusal.code.wire))
        raise
