"""`PanelItems` in memory."""

from collections.abc import Sequence

from gateway.domain.conversations import Talk
from gateway.domain.panel_items import ItemState, PanelItem
from gateway.runtime.ports import DuplicateKey, StaleState
from gateway.testing.tables import Tables


class MemoryPanelItems:
    """Rows in a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.panel_items

    def add(self, item: PanelItem) -> None:
        is_taken = any(one.talk == item.talk and one.instance == item.instance for one in self.all_live())
        if item.id in self._rows or (item.is_live and is_taken):
            raise DuplicateKey(f"panel item `{item.id}`, or another live one of its name, is there")
        self._rows[item.id] = item

    def save(self, item: PanelItem, *, was: ItemState) -> None:
        known = self._rows.get(item.id)
        if known is None or known.state is not was:
            raise StaleState(f"panel item `{item.id}` is not `{was}`")
        self._rows[item.id] = item

    def find(self, item: str) -> PanelItem | None:
        return self._rows.get(item)

    def live_of_talk(self, talk: Talk) -> Sequence[PanelItem]:
        return [item for item in self.all_live() if item.talk == talk]

    def live_of_session(self, session: str) -> Sequence[PanelItem]:
        return [item for item in self.all_live() if item.session == session]

    def live_of_person(self, user: str, site: str) -> Sequence[PanelItem]:
        return [item for item in self.all_live() if (item.user, item.site) == (user, site)]

    def all_live(self) -> Sequence[PanelItem]:
        live = (item for item in self._rows.values() if item.is_live)
        return sorted(live, key=lambda item: (item.shown_at, item.id))

    def purge(self, ended_before: int, limit: int) -> int:
        ended = [item for item in self._rows.values() if item.ended_at is not None and item.ended_at < ended_before]
        gone = sorted(ended, key=lambda item: item.ended_at or 0)[:limit]
        for item in gone:
            del self._rows[item.id]
        return len(gone)
