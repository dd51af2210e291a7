"""What agents show in the panels of pages, and how answers of mini apps look there."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def needed(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def optional(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=True)


def where(text: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(text), "postgresql_where": sa.text(text)}


def upgrade() -> None:
    op.add_column("call_results", optional("ui", TEXT))
    op.create_table(
        "panel_items",
        sa.Column("id", TEXT, autoincrement=False, nullable=False),
        needed("session", TEXT),
        needed("agent", TEXT),
        needed("user", TEXT),
        needed("conversation", TEXT),
        needed("instance", TEXT),
        needed("kind", TEXT),
        needed("content", TEXT),
        needed("site", TEXT),
        needed("page", TEXT),
        needed("state", TEXT),
        needed("is_told", NUMBER),
        needed("shown_at", NUMBER),
        optional("ended_at", NUMBER),
        optional("reason", TEXT),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("state IN ('answered', 'closed', 'shown')", name="panel_items_state"),
        sqlite_strict=True,
    )
    is_live = where("state IN ('shown')")
    op.create_index(
        "panel_items_live", "panel_items", ["conversation", "instance", "agent", "user"], unique=True, **is_live
    )
    op.create_index("panel_items_of_person", "panel_items", ["user", "site"], **is_live)
    op.create_index("panel_items_of_session", "panel_items", ["session"], **is_live)
    op.create_index("panel_items_ended", "panel_items", ["ended_at"])
