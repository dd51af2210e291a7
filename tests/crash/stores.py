"""The databases the rig kills over. Each lineage gets one of its own; the server itself is left alone."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from tests.support.postgres import fresh_database

STORES: Final = ("sqlite", "postgresql")


@contextmanager
def database(store: str) -> Generator[str]:
    """What `server.database` says of a fresh database of `store`; empty where the data folder holds it."""
    if store == "sqlite":
        yield ""
        return
    with fresh_database() as url:
        yield url
