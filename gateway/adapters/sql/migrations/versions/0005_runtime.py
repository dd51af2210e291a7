"""Mini apps at run time: instances, activations, operations, app sessions, and what of them a call names."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def needed(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def optional(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=True)


def where(text: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(text), "postgresql_where": sa.text(text)}


def upgrade() -> None:
    for name in ("app", "conversation", "activation", "operation"):
        op.add_column("calls", optional(name, TEXT))
    op.create_index("calls_waiting", "calls", ["activation"], **where("state IN ('waiting_activation')"))
    op.create_table(
        "instances",
        needed("id", TEXT),
        needed("app", TEXT),
        needed("digest", TEXT),
        needed("user", TEXT),
        needed("conversation", TEXT),
        needed("app_session", TEXT),
        needed("state", TEXT),
        needed("opened_at", NUMBER),
        optional("site", TEXT),
        optional("page", TEXT),
        needed("is_foreground", NUMBER),
        optional("page_gone_at", NUMBER),
        optional("closed_at", NUMBER),
        optional("reason", TEXT),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("state IN ('closed', 'running', 'starting')", name="instances_state"),
        sqlite_strict=True,
    )
    is_live = where("state IN ('running', 'starting')")
    op.create_index("instances_live", "instances", ["app", "conversation", "user"], unique=True, **is_live)
    op.create_index("instances_on_page", "instances", ["page"], **is_live)
    op.create_index("instances_gone", "instances", ["page_gone_at"], **where("page_gone_at IS NOT NULL"))
    op.create_index("instances_closed", "instances", ["closed_at"])
    op.create_index("instances_of_app_session", "instances", ["app_session"], unique=True)
    op.create_table(
        "activations",
        needed("id", TEXT),
        needed("instance", TEXT),
        needed("app", TEXT),
        needed("user", TEXT),
        needed("conversation", TEXT),
        needed("goal", TEXT),
        needed("state", TEXT),
        needed("started_at", NUMBER),
        needed("due_at", NUMBER),
        optional("ended_at", NUMBER),
        optional("reason", TEXT),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint(
            "state IN ('cancelled', 'failed', 'ready', 'starting')",
            name="activations_state",
        ),
        sa.CheckConstraint("goal IN ('app', 'foreground')", name="activations_goal"),
        sqlite_strict=True,
    )
    is_live = where("state IN ('starting')")
    op.create_index("activations_live", "activations", ["app", "conversation", "user"], unique=True, **is_live)
    op.create_index("activations_due", "activations", ["due_at"], **is_live)
    op.create_index("activations_of_instance", "activations", ["instance"])
    op.create_index("activations_ended", "activations", ["ended_at"])
    op.create_table(
        "operations",
        needed("id", TEXT),
        needed("call", TEXT),
        needed("app", TEXT),
        needed("user", TEXT),
        needed("conversation", TEXT),
        needed("carrier", TEXT),
        needed("state", TEXT),
        needed("started_at", NUMBER),
        needed("deadline", NUMBER),
        optional("app_session", TEXT),
        optional("ended_at", NUMBER),
        optional("cause", TEXT),
        optional("answers", TEXT),
        sa.PrimaryKeyConstraint("id"),
        sa.ForeignKeyConstraint(["call"], ["calls.ref"]),
        sa.CheckConstraint(
            "state IN ('cancelled', 'completed', 'expired', 'failed', 'interrupted', 'running', 'unknown')",
            name="operations_state",
        ),
        sa.CheckConstraint("carrier IN ('handler', 'runtime')", name="operations_carrier"),
        sqlite_strict=True,
    )
    op.create_index("operations_of_app_session", "operations", ["app_session", "started_at"])
    op.create_index("operations_of_call", "operations", ["call"], unique=True)
    op.create_index(
        "operations_due", "operations", ["deadline"], **where("state IN ('running') AND carrier IN ('runtime')")
    )
    op.create_index("operations_running", "operations", ["app", "conversation"], **where("state IN ('running')"))
    op.create_table(
        "app_sessions",
        needed("id", TEXT),
        needed("app", TEXT),
        needed("user", TEXT),
        needed("conversation", TEXT),
        needed("opened_at", NUMBER),
        optional("ended_at", NUMBER),
        sa.PrimaryKeyConstraint("id"),
        sqlite_strict=True,
    )
    op.create_index("app_sessions_ended", "app_sessions", ["ended_at"])
    op.create_table(
        "app_session_entries",
        sa.Column("app_session", TEXT, autoincrement=False, nullable=False),
        sa.Column("seq", NUMBER, autoincrement=False, nullable=False),
        needed("kind", TEXT),
        needed("ref", TEXT),
        needed("capability", TEXT),
        optional("state", TEXT),
        needed("at", NUMBER),
        sa.PrimaryKeyConstraint("app_session", "seq"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
