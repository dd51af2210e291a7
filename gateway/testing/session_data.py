"""What mini apps keep for their app sessions, in memory."""

from gateway.domain.session_data import SessionData
from gateway.testing.tables import Tables


class MemorySessionDatas:
    """`SessionDatas` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def find(self, app: str, app_session: str) -> SessionData | None:
        return self._tables.session_data.get((app, app_session))

    def put(self, data: SessionData) -> bool:
        stored = self._tables.session_data.get((data.app, data.app_session))
        if (0 if stored is None else stored.revision) != data.revision - 1:
            return False
        self._tables.session_data[data.app, data.app_session] = data
        return True

    def erase(self, app_session: str) -> int:
        kept = [name for name in self._tables.session_data if name[1] == app_session]
        for name in kept:
            del self._tables.session_data[name]
        return len(kept)
