"""Bundles that agents send for their surfaces."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "surface_bundles",
        sa.Column("surface", TEXT, autoincrement=False, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("integrity", TEXT, nullable=False),
        sa.Column("events", TEXT, nullable=True),
        sa.Column("profile", TEXT, nullable=False),
        sa.Column("signed_by", TEXT, nullable=True),
        sa.Column("html", TEXT, nullable=False),
        sa.Column("css", TEXT, nullable=False),
        sa.Column("js", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("surface"),
        sqlite_strict=True,
    )
