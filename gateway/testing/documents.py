"""Documents of agents in memory."""

from collections.abc import Callable, Mapping, Sequence

from gateway.domain.documents import DocumentAction, ShownDocument
from gateway.runtime.ports import DuplicateKey, StaleState
from gateway.testing.tables import Tables


class MemoryDocuments:
    """`Documents` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.documents
        self._snapshots = tables.document_snapshots
        self._frames = tables.document_frames
        self._actions = tables.document_actions

    def add(self, document: ShownDocument, content: str) -> None:
        if document.id in self._rows:
            raise DuplicateKey(f"document `{document.id}` is there")
        self._rows[document.id] = document
        self._snapshots[document.id] = content

    def save(self, document: ShownDocument, *, was: ShownDocument, content: str | None = None) -> None:
        stored = self._rows.get(document.id)
        if stored is None or (stored.state, stored.seq, stored.revision) != (was.state, was.seq, was.revision):
            raise StaleState(f"document `{document.id}` is not as it was")
        self._rows[document.id] = document
        if content is not None:
            self._snapshots[document.id] = content
        if document.is_live:
            return
        self._snapshots.pop(document.id, None)
        for key in [key for key in self._frames if key[0] == document.id]:
            del self._frames[key]
        for action in self.actions_of(document.id):
            del self._actions[action.call]

    def find(self, document: str) -> ShownDocument | None:
        return self._rows.get(document)

    def content_of(self, document: str) -> str | None:
        return self._snapshots.get(document)

    def live_of_person(self, user: str, site: str) -> Sequence[ShownDocument]:
        return self._live(lambda document: (document.user, document.site) == (user, site))

    def live_of_session(self, session: str) -> Sequence[ShownDocument]:
        return self._live(lambda document: document.session == session)

    def all_live(self) -> Sequence[ShownDocument]:
        return self._live(lambda _: True)

    def count_live(self) -> int:
        return len(self.all_live())

    def purge(self, closed_before: int, limit: int) -> int:
        ended = [(d.closed_at, d.id) for d in self._rows.values() if d.closed_at is not None]
        old = [name for at, name in sorted(ended) if at < closed_before][:limit]
        for name in old:
            del self._rows[name]
        return len(old)

    def add_frame(self, document: str, seq: int, *, call: str, digest: str) -> None:
        self._frames[document, seq] = (call, digest)

    def digests_of(self, document: str) -> Mapping[int, str]:
        own = sorted((seq, digest) for (name, seq), (_, digest) in self._frames.items() if name == document)
        return dict(own)

    def add_action(self, action: DocumentAction) -> None:
        if action.call in self._actions or self.find_action(action.document, action.request) is not None:
            raise DuplicateKey(f"request `{action.request}` of document `{action.document}` is there")
        self._actions[action.call] = action

    def find_action(self, document: str, request: str) -> DocumentAction | None:
        return next((action for action in self.actions_of(document) if action.request == request), None)

    def action_of_call(self, call: str) -> DocumentAction | None:
        return self._actions.get(call)

    def actions_of(self, document: str) -> Sequence[DocumentAction]:
        own = [action for action in self._actions.values() if action.document == document]
        return sorted(own, key=lambda action: (action.at, action.call))

    def count_actions(self, session: str | None = None) -> int:
        return sum(session in (None, action.session) for action in self._actions.values())

    def _live(self, is_meant: Callable[[ShownDocument], bool]) -> list[ShownDocument]:
        found = [document for document in self._rows.values() if document.is_live and is_meant(document)]
        return sorted(found, key=lambda document: (document.opened_at, document.id))
