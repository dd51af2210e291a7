"""What each session was served. Sessions that were shown the same share one stored map, named by its content."""

from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from sqlalchemy import ForeignKey, Index, Table, delete, exists, select

from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.metadata import BYTES, METADATA, NUMBER, TEXT, key, needed, optional
from gateway.adapters.sql.statements import Statement, insert_of, names_of, value
from gateway.adapters.sql.texts import map_of_text, revisions_of_text, text_of_map, text_of_revisions
from gateway.domain.inventory import Baseline

SNAPSHOTS: Final = Table(
    "snapshots",
    METADATA,
    key("key", BYTES),
    needed("body", TEXT),
    sqlite_strict=True,
)

BASELINES: Final = Table(
    "baselines",
    METADATA,
    key("session", TEXT),
    needed("revision", NUMBER),
    needed("snapshot", TEXT),
    needed("shown", BYTES, ForeignKey(SNAPSHOTS.c.key)),
    # A map of revisions by key, apart from what was shown, which sessions share; NULL where it is empty.
    optional("since", TEXT),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_B = BASELINES.c
Index("baselines_shown", _B.shown)

_FIND: Final = Statement(
    select(_B.revision, _B.snapshot, _B.shown, _B.since).where(_B.session == value(_B.session)), "session"
)
_BODY: Final = Statement(select(SNAPSHOTS.c.body).where(SNAPSHOTS.c.key == value(SNAPSHOTS.c.key)), "key")
_PUT: Final = Statement(
    (_insert := insert_of(BASELINES)).on_conflict_do_update(
        index_elements=["session"],
        set_={name: _insert.excluded[name] for name in ("revision", "snapshot", "shown", "since")},
    ),
    *names_of(BASELINES),
)
_PUT_BODY: Final = Statement(insert_of(SNAPSHOTS).on_conflict_do_nothing(), *names_of(SNAPSHOTS))
_DROP_BODY: Final = Statement(
    delete(SNAPSHOTS).where(SNAPSHOTS.c.key == value(SNAPSHOTS.c.key), ~exists().where(_B.shown == SNAPSHOTS.c.key)),
    "key",
)
_DROP: Final = Statement(delete(BASELINES).where(_B.session == value(_B.session)), "session")

_KEPT: Final = 256
"""Parsed maps kept in memory. A name stands for one content for ever, so nothing can make one stale."""


class SqlBaselines:
    """`Baselines` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._parsed: dict[bytes, Mapping[str, str]] = {}

    def find(self, session: str) -> Baseline | None:
        row = self._connection.fetch_one(_FIND, (session,))
        if row is None:
            return None
        revision, snapshot, shown, since = row
        return Baseline(
            revision=revision,
            snapshot=snapshot,
            shown=self._shown(shown),
            since={} if since is None else revisions_of_text(since),
        )

    def put(self, session: str, baseline: Baseline) -> None:
        body = text_of_map(baseline.shown)
        name = sha256(body.encode()).digest()
        before = self._connection.fetch_one(_FIND, (session,))
        since = text_of_revisions(baseline.since) if baseline.since else None
        if before == (baseline.revision, baseline.snapshot, name, since):
            return
        if before is None or before[2] != name:
            self._connection.write(_PUT_BODY, (name, body))
        self._connection.write(_PUT, (session, baseline.revision, baseline.snapshot, name, since))
        if before is not None and before[2] != name:
            self._connection.write(_DROP_BODY, (before[2],))

    def drop(self, session: str) -> None:
        """Forget the baseline of a session that is forgotten."""
        before = self._connection.fetch_one(_FIND, (session,))
        if before is not None:
            self._connection.write(_DROP, (session,))
            self._connection.write(_DROP_BODY, (before[2],))

    def _shown(self, name: bytes) -> Mapping[str, str]:
        shown = self._parsed.get(name)
        if shown is not None:
            return shown
        row = self._connection.fetch_one(_BODY, (name,))
        assert row is not None, "a foreign key keeps it"
        if len(self._parsed) >= _KEPT:
            self._parsed.pop(next(iter(self._parsed)))
        shown = self._parsed[name] = MappingProxyType(map_of_text(row[0]))
        return shown
