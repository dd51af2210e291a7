"""Documents that agents show, their snapshots and frames, and what people asked for in them."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def key(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, autoincrement=False, nullable=False)


def needed(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def optional(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=True)


def where(text: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(text), "postgresql_where": sa.text(text)}


def upgrade() -> None:
    op.create_table(
        "documents",
        key("id", TEXT),
        needed("call", TEXT),
        needed("session", TEXT),
        needed("agent", TEXT),
        needed("user", TEXT),
        needed("conversation", TEXT),
        needed("site", TEXT),
        needed("kind", TEXT),
        needed("state", TEXT),
        needed("epoch", NUMBER),
        needed("seq", NUMBER),
        needed("revision", NUMBER),
        needed("frames", NUMBER),
        needed("size", NUMBER),
        needed("sha256", TEXT),
        needed("options", TEXT),
        needed("opened_at", NUMBER),
        optional("closed_at", NUMBER),
        optional("reason", TEXT),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("state IN ('cancelled', 'closed', 'complete', 'streaming')", name="documents_state"),
        sqlite_strict=True,
    )
    is_live = where("state IN ('cancelled', 'complete', 'streaming')")
    op.create_index("documents_of_person", "documents", ["user", "site"], **is_live)
    op.create_index("documents_of_session", "documents", ["session"], **is_live)
    op.create_index("documents_closed", "documents", ["closed_at"])
    op.create_table(
        "document_snapshots",
        key("document", TEXT),
        needed("content", TEXT),
        sa.PrimaryKeyConstraint("document"),
        sqlite_strict=True,
    )
    op.create_table(
        "document_frames",
        key("document", TEXT),
        key("seq", NUMBER),
        needed("call", TEXT),
        needed("digest", TEXT),
        sa.PrimaryKeyConstraint("document", "seq"),
        sqlite_strict=True,
    )
    op.create_table(
        "document_actions",
        key("call", TEXT),
        needed("document", TEXT),
        needed("session", TEXT),
        needed("request", TEXT),
        needed("action", TEXT),
        needed("entry", TEXT),
        needed("input", TEXT),
        needed("at", NUMBER),
        sa.PrimaryKeyConstraint("call"),
        sqlite_strict=True,
    )
    op.create_index("document_actions_request", "document_actions", ["document", "request"], unique=True)
    op.create_index("document_actions_of_session", "document_actions", ["session"])
