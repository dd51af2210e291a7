"""Surfaces that agents show on pages, their states, and what people did in them."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

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
        "surfaces",
        key("id", TEXT),
        needed("session", TEXT),
        needed("agent", TEXT),
        needed("user", TEXT),
        needed("conversation", TEXT),
        needed("instance", TEXT),
        needed("app", TEXT),
        needed("version", TEXT),
        needed("digest", TEXT),
        needed("surface", TEXT),
        optional("title", TEXT),
        needed("site", TEXT),
        needed("page", TEXT),
        needed("state", TEXT),
        needed("is_told", NUMBER),
        needed("opened_at", NUMBER),
        optional("page_gone_at", NUMBER),
        optional("closed_at", NUMBER),
        optional("reason", TEXT),
        needed("minute", NUMBER),
        needed("events", NUMBER),
        needed("bytes", NUMBER),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("state IN ('closed', 'open', 'opening')", name="surfaces_state"),
        sqlite_strict=True,
    )
    is_live = where("state IN ('open', 'opening')")
    op.create_index(
        "surfaces_live", "surfaces", ["conversation", "instance", "agent", "user"], unique=True, **is_live
    )
    op.create_index("surfaces_on_page", "surfaces", ["page"], **is_live)
    op.create_index("surfaces_of_session", "surfaces", ["session"], **is_live)
    op.create_index("surfaces_of_app", "surfaces", ["conversation", "app"])
    op.create_index("surfaces_gone", "surfaces", ["page_gone_at"], **where("page_gone_at IS NOT NULL"))
    op.create_index("surfaces_closed", "surfaces", ["closed_at"])
    op.create_table(
        "surface_states",
        key("surface", TEXT),
        needed("state", TEXT),
        sa.PrimaryKeyConstraint("surface"),
        sqlite_strict=True,
    )
    op.create_table(
        "surface_cursors",
        key("session", TEXT),
        needed("last", NUMBER),
        sa.PrimaryKeyConstraint("session"),
        sqlite_strict=True,
    )
    op.create_table(
        "surface_events",
        key("session", TEXT),
        key("seq", NUMBER),
        needed("surface", TEXT),
        needed("instance", TEXT),
        needed("event", TEXT),
        needed("data", TEXT),
        needed("at", NUMBER),
        needed("size", NUMBER),
        sa.PrimaryKeyConstraint("session", "seq"),
        sqlite_strict=True,
    )
    op.create_index("surface_events_at", "surface_events", ["at"])
