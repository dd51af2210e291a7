"""The schema over time, shipped in the package and applied at start."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, event
from sqlalchemy.pool import NullPool

from gateway.adapters.sql.sqlite import connect


def migrate(path: Path, revision: str = "head") -> None:
    """Upgrade the database at `path`, in one transaction.

    Raises:
        StoreRefused: it cannot be opened here.
    """
    engine = create_engine("sqlite+pysqlite://", creator=lambda: connect(path), poolclass=NullPool)
    event.listen(engine, "begin", _begin)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def _begin(connection: Any) -> None:
    # The driver would begin only at the first INSERT and let half a schema stand.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
