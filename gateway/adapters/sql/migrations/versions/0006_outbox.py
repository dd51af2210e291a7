"""The outbox, and what mini apps keep for their app sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("app", TEXT, nullable=True),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("at", NUMBER, nullable=False),
        sa.Column("data", TEXT, nullable=False),
        sa.Column("traceparent", TEXT, nullable=True),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("attempts", NUMBER, nullable=False),
        sa.Column("due_at", NUMBER, nullable=True),
        sa.Column("holder", TEXT, nullable=True),
        sa.Column("ended_at", NUMBER, nullable=True),
        sa.Column("error", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id", name="outbox_id"),
        sa.CheckConstraint("state IN ('dead', 'pending', 'sent')", name="outbox_state"),
        sqlite_strict=True,
    )
    op.create_index("outbox_due", "outbox", ["due_at"])
    op.create_index(
        "outbox_pending",
        "outbox",
        ["key", "number"],
        sqlite_where=sa.text("state IN ('pending')"),
        postgresql_where=sa.text("state IN ('pending')"),
    )
    op.create_index("outbox_ended", "outbox", ["state", "ended_at"])
    op.create_index("outbox_listed", "outbox", ["state", "number"])
    op.create_table(
        "session_data",
        sa.Column("app", TEXT, autoincrement=False, nullable=False),
        sa.Column("app_session", TEXT, autoincrement=False, nullable=False),
        sa.Column("revision", NUMBER, nullable=False),
        sa.Column("data", TEXT, nullable=False),
        sa.Column("at", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("app", "app_session"),
        sqlite_strict=True,
    )
    op.create_index("session_data_of_app_session", "session_data", ["app_session"])
