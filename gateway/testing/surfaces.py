"""Surfaces of agents in memory."""

from collections.abc import Callable, Sequence

from gateway.domain.bundles import SentBundle
from gateway.domain.conversations import Talk
from gateway.domain.surfaces import Happening, Surface, SurfaceState
from gateway.runtime.ports import DuplicateKey, StaleState
from gateway.testing.tables import Tables
from surface_host.bundles import Parts


class MemorySurfaces:
    """`Surfaces` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._rows = tables.surfaces
        self._states = tables.surface_states
        self._bundles = tables.surface_bundles
        self._lasts = tables.surface_cursors
        self._events = tables.surface_events

    def add(self, surface: Surface, state: str) -> None:
        if surface.id in self._rows or (surface.is_live and self.live(surface.talk, surface.instance)):
            raise DuplicateKey(f"surface `{surface.id}`, or another live one of its name, is there")
        self._rows[surface.id] = surface
        self._states[surface.id] = state

    def save(self, surface: Surface, *, was: SurfaceState) -> None:
        stored = self._rows.get(surface.id)
        if stored is None or stored.state is not was:
            raise StaleState(f"surface `{surface.id}` is not `{was}`")
        self._rows[surface.id] = surface
        if not surface.is_live:
            self._states.pop(surface.id, None)
            self._bundles.pop(surface.id, None)

    def find(self, surface: str) -> Surface | None:
        return self._rows.get(surface)

    def put_state(self, surface: str, state: str) -> None:
        self._states[surface] = state

    def state_of(self, surface: str) -> str | None:
        return self._states.get(surface)

    def put_bundle(self, surface: str, bundle: SentBundle, parts: Parts) -> None:
        self._bundles[surface] = (bundle, parts)

    def bundle_of(self, surface: str) -> SentBundle | None:
        found = self._bundles.get(surface)
        return None if found is None else found[0]

    def parts_of(self, surface: str) -> Parts | None:
        found = self._bundles.get(surface)
        return None if found is None else found[1]

    def live(self, talk: Talk, instance: str) -> Surface | None:
        return next((s for s in self.live_of_talk(talk) if s.instance == instance), None)

    def live_of_talk(self, talk: Talk) -> Sequence[Surface]:
        return self._live(lambda surface: surface.talk == talk)

    def live_of_session(self, session: str) -> Sequence[Surface]:
        return self._live(lambda surface: surface.session == session)

    def live_on_page(self, page: str) -> Sequence[Surface]:
        return self._live(lambda surface: surface.page == page)

    def all_live(self) -> Sequence[Surface]:
        return self._live(lambda _: True)

    def of_app(self, talk: Talk, app: str) -> Sequence[Surface]:
        return _in_order([s for s in self._rows.values() if (s.talk, s.app) == (talk, app)])

    def due(self, now: int, limit: int) -> Sequence[Surface]:
        due = [(at, surface) for surface in self.all_live() if (at := surface.due_at) is not None and at <= now]
        return [surface for _, surface in sorted(due, key=lambda pair: (pair[0], pair[1].id))][:limit]

    def next_due(self) -> int | None:
        return min((at for surface in self.all_live() if (at := surface.due_at) is not None), default=None)

    def purge(self, closed_before: int, limit: int) -> int:
        ended = [(s.closed_at, s.id) for s in self._rows.values() if s.closed_at is not None]
        old = [name for at, name in sorted(ended) if at < closed_before][:limit]
        for name in old:
            del self._rows[name]
        return len(old)

    def add_event(self, session: str, *, surface: str, instance: str, event: str, data: str, at: int) -> None:
        seq = self._lasts[session] = self.last(session) + 1
        happening = Happening(seq=seq, surface=surface, instance=instance, event=event, data=data, at=at)
        self._events[session, seq] = happening

    def last(self, session: str) -> int:
        return self._lasts.get(session, 0)

    def events(self, session: str, *, after: int, limit: int) -> Sequence[Happening]:
        own = [happening for (name, seq), happening in self._events.items() if name == session and seq > after]
        return sorted(own, key=lambda happening: happening.seq)[:limit]

    def kept(self, session: str) -> int:
        return sum(len(happening.data.encode()) for (name, _), happening in self._events.items() if name == session)

    def forget_events(self, session: str, until: int) -> int:
        return self._forget([key for key in self._events if key[0] == session and key[1] <= until])

    def listeners(self) -> Sequence[str]:
        return sorted(self._lasts)

    def erase_events(self, session: str) -> int:
        self._lasts.pop(session, None)
        return self._forget([key for key in self._events if key[0] == session])

    def purge_events(self, before: int, limit: int) -> int:
        old = sorted((happening.at, key) for key, happening in self._events.items() if happening.at < before)
        return self._forget([key for _, key in old][:limit])

    def _forget(self, keys: list[tuple[str, int]]) -> int:
        for key in keys:
            del self._events[key]
        return len(keys)

    def _live(self, is_meant: Callable[[Surface], bool]) -> list[Surface]:
        return _in_order([surface for surface in self._rows.values() if surface.is_live and is_meant(surface)])


def _in_order(surfaces: list[Surface]) -> list[Surface]:
    return sorted(surfaces, key=lambda surface: (surface.opened_at, surface.id))
