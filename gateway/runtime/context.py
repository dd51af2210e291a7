"""Asks a live page for its projection and relays it; nothing of it is stored (design §9)."""

import asyncio
from typing import Any, Final

from gateway.runtime.pages import Pages
from gateway.runtime.ports import Ids
from gateway.runtime.world import LivePage

PAGE_SECONDS: Final = 2.0


class Contexts:
    """Outstanding describe requests by id."""

    def __init__(self, *, pages: Pages, ids: Ids) -> None:
        self._pages = pages
        self._ids = ids
        self._waiting: dict[str, tuple[str, asyncio.Future[dict[str, Any] | None]]] = {}

    async def ask(self, page: LivePage, *, limit: int, offset: int, ids: list[str] | None) -> dict[str, Any] | None:
        """The page's context, or None when it does not answer within two seconds."""
        name = self._ids.name("desc")
        frame: dict[str, Any] = {"type": "describe", "id": name, "limit": limit, "offset": offset}
        if ids is not None:
            frame["ids"] = ids
        future: asyncio.Future[dict[str, Any] | None] = asyncio.get_running_loop().create_future()
        self._waiting[name] = (page.id, future)
        try:
            if not self._pages.send(page.id, page.session.epoch, frame):
                return None
            async with asyncio.timeout(PAGE_SECONDS):
                return await future
        except TimeoutError:
            return None
        finally:
            del self._waiting[name]

    def answered(self, page: str, name: str, context: dict[str, Any] | None) -> None:
        """A `described` frame came; one that nobody of this page waits for is ignored."""
        waiting = self._waiting.get(name)
        if waiting is not None and waiting[0] == page and not waiting[1].done():
            waiting[1].set_result(context)
