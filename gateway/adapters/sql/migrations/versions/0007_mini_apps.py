"""Installed mini apps and the versions of each that are kept."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "mini_apps",
        sa.Column("id", TEXT, autoincrement=False, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("granted", TEXT, nullable=False),
        sa.Column("installed_at", NUMBER, nullable=False),
        sa.Column("changed_at", NUMBER, nullable=False),
        sa.CheckConstraint("state IN ('disabled', 'enabled')", name="mini_apps_state"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "mini_app_versions",
        sa.Column("digest", TEXT, autoincrement=False, nullable=False),
        sa.Column("app", TEXT, nullable=False),
        sa.Column("version", TEXT, nullable=False),
        sa.Column("manifest", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=True),
        sa.Column("installed_at", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("digest"),
        sa.UniqueConstraint("app", "version"),
        sa.ForeignKeyConstraint(["app"], ["mini_apps.id"]),
        sqlite_strict=True,
    )
