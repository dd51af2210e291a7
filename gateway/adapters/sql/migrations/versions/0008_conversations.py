"""The logs of conversations with agents that speak LineUp, and since when a session was shown what it knows."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("agent", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("floor", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("agent", "user", "name", name="conversations_key"),
        sqlite_strict=True,
    )
    op.create_table(
        "conversation_calls",
        sa.Column("call", NUMBER, autoincrement=False, nullable=False),
        sa.Column("conversation", NUMBER, autoincrement=False, nullable=False),
        sa.Column("asked", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("call", "conversation"),
        sa.ForeignKeyConstraint(["call"], ["calls.number"]),
        sa.ForeignKeyConstraint(["conversation"], ["conversations.number"]),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("conversation_calls_conversation", "conversation_calls", ["conversation"])
    op.create_table(
        "conversation_messages",
        sa.Column("conversation", NUMBER, autoincrement=False, nullable=False),
        sa.Column("seq", NUMBER, autoincrement=False, nullable=False),
        sa.Column("at", NUMBER, nullable=False),
        sa.Column("call", NUMBER, nullable=True),
        sa.Column("receipt", NUMBER, nullable=True),
        sa.Column("state", TEXT, nullable=True),
        sa.Column("code", TEXT, nullable=True),
        sa.Column("message", TEXT, nullable=True),
        sa.Column("body", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("conversation", "seq"),
        sa.ForeignKeyConstraint(["conversation"], ["conversations.number"]),
        sa.ForeignKeyConstraint(["call"], ["calls.number"]),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("conversation_messages_at", "conversation_messages", ["at"])
    op.create_index("conversation_messages_call", "conversation_messages", ["call"])
    op.add_column("baselines", sa.Column("since", TEXT, nullable=True))
