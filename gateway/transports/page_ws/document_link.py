"""The way to the panels of pages: `DocumentLink` over the page channel."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from gateway.domain.documents import ShownDocument
from gateway.protocol import document_frames as frames
from gateway.runtime.effects import ChangeDocument, ShowDocument, TellAction
from gateway.runtime.pages import Pages
from gateway.runtime.world import LivePage


class ChannelDocumentLink:
    """Writes to the live document of a page session only; `max_bytes` is what pages are told a document may have."""

    def __init__(self, pages: Pages, max_bytes: Callable[[], int]) -> None:
        self._pages = pages
        self._max_bytes = max_bytes

    def listed(self, page: LivePage, shown: Sequence[ShownDocument]) -> bool:
        return self._send(page, frames.documents_listed(shown, max_bytes=self._max_bytes()))

    def open(self, page: LivePage, effect: ShowDocument, *, agent: str) -> bool:
        frame = frames.document_open(
            effect.document,
            orjson.loads(effect.content),
            agent=agent,
            max_bytes=self._max_bytes(),
            actions=effect.actions,
        )
        return self._send(page, frame)

    def change(self, page: LivePage, effect: ChangeDocument) -> bool:
        return self._send(page, frames.document_patch(effect.document, effect.base, effect.operations))

    def end(self, page: LivePage, document: ShownDocument) -> bool:
        return self._send(page, frames.document_end(document))

    def close(self, page: LivePage, name: str, reason: str) -> bool:
        return self._send(page, frames.document_close(name, reason))

    def action(self, page: LivePage, effect: TellAction) -> bool:
        return self._send(page, frames.document_action(effect.document, effect.action, effect.call))

    def _send(self, page: LivePage, frame: Mapping[str, Any]) -> bool:
        return self._pages.send(page.id, page.session.epoch, frame)
