"""Calls that people ask for in the frames of mini apps, and the sessions of a conversation."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

IS_OPEN_IN_FRAME = sa.text(
    "state IN ('awaiting_approval', 'dispatched', 'ready', 'waiting_activation') AND instance IS NOT NULL"
)


def upgrade() -> None:
    op.add_column("calls", sa.Column("instance", TEXT, nullable=True))
    op.create_index(
        "calls_of_instance",
        "calls",
        ["instance"],
        sqlite_where=IS_OPEN_IN_FRAME,
        postgresql_where=IS_OPEN_IN_FRAME,
    )
    op.create_index("agent_sessions_conversation", "agent_sessions", ["conversation", "user"])
