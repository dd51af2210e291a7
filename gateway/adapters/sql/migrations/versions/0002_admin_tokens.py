"""Tokens of the admin API, what their repeatable requests made, and the order in which its lists go."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
BYTES = sa.LargeBinary()


def upgrade() -> None:
    op.create_table(
        "admin_tokens",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("token_hash", BYTES, nullable=False),
        sa.Column("scopes", TEXT, nullable=False),
        sa.Column("created_at", NUMBER, nullable=False),
        sa.Column("expires_at", NUMBER, nullable=False),
        sa.Column("revoked_at", NUMBER, nullable=True),
        sa.Column("last_used_at", NUMBER, nullable=True),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sa.UniqueConstraint("token_hash"),
        sqlite_strict=True,
    )
    op.create_table(
        "admin_requests",
        sa.Column("holder", TEXT, autoincrement=False, nullable=False),
        sa.Column("key", TEXT, autoincrement=False, nullable=False),
        sa.Column("request", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("until", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("holder", "key"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("admin_requests_until", "admin_requests", ["until"])
    op.create_index("approvals_opened", "approvals", ["opened_at", "id"])
    op.create_index("page_sessions_created", "page_sessions", ["created_at", "id"])
