"""The schema over time, shipped in the package and applied at start."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import NullPool

from gateway.adapters.sql import postgresql, sqlite
from gateway.runtime.ports import StoreRefused


def migrate_sqlite(path: Path, revision: str = "head") -> None:
    """Upgrade the database at `path`, in one transaction.

    Raises:
        StoreRefused: it cannot be opened here, or a newer version of the gateway wrote it.
    """
    engine = create_engine("sqlite+pysqlite://", creator=lambda: sqlite.connect(path), poolclass=NullPool)
    event.listen(engine, "begin", _begin)
    with engine.begin() as connection:
        upgrade(connection, revision, f"`{path}`")


def migrate_postgresql(url: str, revision: str = "head", *, patience_ms: int = postgresql.PATIENCE_MS) -> None:
    """Upgrade the database at `url`, in one transaction, while no gateway serves it.

    Raises:
        StoreRefused: the server will not do, a gateway serves it, or a newer version of the gateway wrote it.
        StoreUnavailable: it cannot be reached.
    """
    link = postgresql.reach(url, patience_ms=patience_ms)
    try:
        link.autocommit = False
        engine = create_engine("postgresql+psycopg://", creator=lambda: link, poolclass=NullPool)
        with engine.begin() as connection:
            postgresql.take_gateway_lock(link, url, for_session=False)
            upgrade(connection, revision, postgresql.place_of(url))
    finally:
        link.close()


def upgrade(connection: Connection, revision: str, place: str) -> None:
    """Apply what is missing up to `revision`, on a connection inside a transaction."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    newer = set(MigrationContext.configure(connection).get_current_heads()) - known
    if newer:
        raise StoreRefused(
            f"{place} is of the version `{max(newer)}`, newer than this gateway knows (`{max(known)}`): "
            "run the gateway that wrote it, or restore a backup from before"
        )
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _begin(connection: Any) -> None:
    # The driver would begin only at the first INSERT and let half a schema stand.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
