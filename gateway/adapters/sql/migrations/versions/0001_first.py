"""The first schema: the ledger and what hangs on it, approvals, identities, the audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
BYTES = sa.LargeBinary()


def upgrade() -> None:
    op.create_table(
        "agent_sessions",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("agent", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("conversation", TEXT, nullable=False),
        sa.Column("sites", TEXT, nullable=False),
        sa.Column("scope", TEXT, nullable=False),
        sa.Column("token_hash", BYTES, nullable=False),
        sa.Column("created_at", NUMBER, nullable=False),
        sa.Column("expires_at", NUMBER, nullable=False),
        sa.Column("revoked_at", NUMBER, nullable=True),
        sa.Column("page", TEXT, nullable=True),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sa.UniqueConstraint("token_hash"),
        sqlite_strict=True,
    )
    op.create_table(
        "approved_fingerprints",
        sa.Column("user", TEXT, autoincrement=False, nullable=False),
        sa.Column("capability", TEXT, autoincrement=False, nullable=False),
        sa.Column("fingerprint", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("user", "capability"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "audit",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("stream", TEXT, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("body", BYTES, nullable=False),
        sa.Column("hash", BYTES, nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("stream", "seq", name="audit_chain"),
        sa.CheckConstraint(
            "stream IN ('admin', 'agent_tool', 'host_intent', 'identity', 'ui_action')", name="audit_stream"
        ),
        sqlite_strict=True,
    )
    op.create_table(
        "audit_checkpoints",
        sa.Column("stream", TEXT, autoincrement=False, nullable=False),
        sa.Column("seq", NUMBER, autoincrement=False, nullable=False),
        sa.Column("hash", BYTES, nullable=False),
        sa.Column("at", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("stream", "seq"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "calls",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("ref", TEXT, nullable=False),
        sa.Column("entry", TEXT, nullable=False),
        sa.Column("agent", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("session", TEXT, nullable=False),
        sa.Column("call_id", TEXT, nullable=False),
        sa.Column("minted", NUMBER, nullable=False),
        sa.Column("request_fingerprint", TEXT, nullable=False),
        sa.Column("arguments_digest", TEXT, nullable=False),
        sa.Column("capability", TEXT, nullable=False),
        sa.Column("page_selector", TEXT, nullable=True),
        sa.Column("admitted_at", NUMBER, nullable=False),
        sa.Column("capability_fingerprint", TEXT, nullable=False),
        sa.Column("effect", TEXT, nullable=False),
        sa.Column("risk", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("decision", TEXT, nullable=False),
        sa.Column("policy_revision", TEXT, nullable=False),
        sa.Column("inventory_revision", NUMBER, nullable=False),
        sa.Column("site", TEXT, nullable=True),
        sa.Column("page", TEXT, nullable=True),
        sa.Column("epoch", NUMBER, nullable=True),
        sa.Column("timeout_ms", NUMBER, nullable=False),
        sa.Column("deadline", NUMBER, nullable=False),
        sa.Column("approve_by", NUMBER, nullable=True),
        sa.Column("input_in_memory", NUMBER, nullable=False),
        sa.Column("traceparent", TEXT, nullable=True),
        sa.Column("approval", TEXT, nullable=True),
        sa.Column("approved_at", NUMBER, nullable=True),
        sa.Column("orphaned_at", NUMBER, nullable=True),
        sa.Column("handed_out", NUMBER, nullable=False),
        sa.Column("dispatched_at", NUMBER, nullable=True),
        sa.Column("execute_by", NUMBER, nullable=True),
        sa.Column("cancel_requested", NUMBER, nullable=False),
        sa.Column("ended_at", NUMBER, nullable=True),
        sa.Column("code", TEXT, nullable=True),
        sa.Column("message", TEXT, nullable=True),
        sa.Column("late", NUMBER, nullable=False),
        sa.Column("taken", NUMBER, nullable=False),
        sa.Column("due_at", NUMBER, nullable=True),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("agent", "user", "entry", "call_id", name="calls_key"),
        sa.UniqueConstraint("ref", name="calls_ref"),
        sa.CheckConstraint("entry IN ('agent_tool', 'host_intent', 'ui_action')", name="calls_entry"),
        sa.CheckConstraint(
            "state IN ('awaiting_approval', 'cancelled', 'denied', 'dispatched', 'expired', 'failed', 'ready', 'succeeded', 'unknown', 'waiting_activation')",
            name="calls_state",
        ),
        sqlite_strict=True,
    )
    op.create_index(
        "calls_due",
        "calls",
        ["due_at"],
        sqlite_where=sa.text("due_at IS NOT NULL"),
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index("calls_equal", "calls", ["session", "request_fingerprint", "capability"])
    op.create_index("calls_of_session", "calls", ["session", "number"])
    op.create_index("calls_of_user", "calls", ["user", "number"])
    op.create_index(
        "calls_open",
        "calls",
        ["state", "session", "page"],
        sqlite_where=sa.text("state IN ('awaiting_approval', 'dispatched', 'ready', 'waiting_activation')"),
        postgresql_where=sa.text(
            "state IN ('awaiting_approval', 'dispatched', 'ready', 'waiting_activation')"
        ),
    )
    op.create_table(
        "denials",
        sa.Column("agent", TEXT, autoincrement=False, nullable=False),
        sa.Column("user", TEXT, autoincrement=False, nullable=False),
        sa.Column("request_fingerprint", TEXT, autoincrement=False, nullable=False),
        sa.Column("capability", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("until", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("agent", "user", "request_fingerprint"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("denials_of_user", "denials", ["user", "until"])
    op.create_table(
        "installation",
        sa.Column("name", TEXT, autoincrement=False, nullable=False),
        sa.Column("value", BYTES, nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "nonces",
        sa.Column("holder", TEXT, autoincrement=False, nullable=False),
        sa.Column("nonce", TEXT, autoincrement=False, nullable=False),
        sa.Column("ref", TEXT, nullable=False),
        sa.Column("until", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("holder", "nonce"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("nonces_until", "nonces", ["until"])
    op.create_table(
        "page_sessions",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("origin", TEXT, nullable=False),
        sa.Column("resume_hash", BYTES, nullable=False),
        sa.Column("document", TEXT, nullable=False),
        sa.Column("epoch", NUMBER, nullable=False),
        sa.Column("capabilities", TEXT, nullable=False),
        sa.Column("created_at", NUMBER, nullable=False),
        sa.Column("seen_at", NUMBER, nullable=False),
        sa.Column("standing_until", NUMBER, nullable=False),
        sa.Column("pinned_at", NUMBER, nullable=True),
        sa.Column("ended_at", NUMBER, nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_strict=True,
    )
    op.create_index(
        "page_sessions_pinned",
        "page_sessions",
        ["user", "site"],
        sqlite_where=sa.text("pinned_at IS NOT NULL"),
        postgresql_where=sa.text("pinned_at IS NOT NULL"),
    )
    op.create_table(
        "quota",
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("used", NUMBER, nullable=False),
        sa.Column("open", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("id = 1", name="quota_single"),
        sa.CheckConstraint("used >= 0 AND open >= 0", name="quota_counts"),
        sqlite_strict=True,
    )
    op.create_table(
        "site_keys",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("site", TEXT, nullable=False),
        sa.Column("secret_hash", BYTES, nullable=False),
        sa.Column("capabilities", TEXT, nullable=False),
        sa.Column("created_at", NUMBER, nullable=False),
        sa.Column("expires_at", NUMBER, nullable=False),
        sa.Column("revoked_at", NUMBER, nullable=True),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sqlite_strict=True,
    )
    op.create_table(
        "snapshots",
        sa.Column("key", BYTES, autoincrement=False, nullable=False),
        sa.Column("body", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("key"),
        sqlite_strict=True,
    )
    op.create_table(
        "tickets",
        sa.Column("hash", BYTES, autoincrement=False, nullable=False),
        sa.Column("site", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("origin", TEXT, nullable=False),
        sa.Column("capabilities", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("created_at", NUMBER, nullable=False),
        sa.Column("expires_at", NUMBER, nullable=False),
        sa.Column("used_at", NUMBER, nullable=True),
        sa.PrimaryKeyConstraint("hash"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("tickets_expires", "tickets", ["expires_at"])
    op.create_table(
        "approvals",
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("call", TEXT, nullable=False),
        sa.Column("nonce", TEXT, nullable=False),
        sa.Column("payload", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("page", TEXT, nullable=False),
        sa.Column("epoch", NUMBER, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("decision", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("opened_at", NUMBER, nullable=False),
        sa.Column("expires_at", NUMBER, nullable=False),
        sa.Column("decided_at", NUMBER, nullable=True),
        sa.Column("use_by", NUMBER, nullable=True),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id", name="approvals_id"),
        sa.ForeignKeyConstraint(["call"], ["calls.ref"]),
        sa.CheckConstraint(
            "state IN ('approved', 'consumed', 'denied', 'expired', 'lapsed', 'open', 'withdrawn')",
            name="approvals_state",
        ),
        sqlite_strict=True,
    )
    op.create_index("approvals_of_call", "approvals", ["call"])
    op.create_index(
        "approvals_open_on_page",
        "approvals",
        ["page"],
        sqlite_where=sa.text("state IN ('open')"),
        postgresql_where=sa.text("state IN ('open')"),
    )
    op.create_table(
        "baselines",
        sa.Column("session", TEXT, autoincrement=False, nullable=False),
        sa.Column("revision", NUMBER, nullable=False),
        sa.Column("snapshot", TEXT, nullable=False),
        sa.Column("shown", BYTES, nullable=False),
        sa.ForeignKeyConstraint(["shown"], ["snapshots.key"]),
        sa.PrimaryKeyConstraint("session"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("baselines_shown", "baselines", ["shown"])
    op.create_table(
        "call_inputs",
        sa.Column("call", NUMBER, autoincrement=False, nullable=False),
        sa.Column("arguments", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["call"], ["calls.number"]),
        sa.PrimaryKeyConstraint("call"),
        sqlite_strict=True,
    )
    op.create_table(
        "call_receipts",
        sa.Column("call", NUMBER, autoincrement=False, nullable=False),
        sa.Column("seq", NUMBER, autoincrement=False, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("at", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["call"], ["calls.number"]),
        sa.PrimaryKeyConstraint("call", "seq"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "call_results",
        sa.Column("call", NUMBER, autoincrement=False, nullable=False),
        sa.Column("output", TEXT, nullable=False),
        sa.Column("evidence", TEXT, nullable=True),
        sa.Column("at", NUMBER, nullable=False),
        sa.Column("erase_at", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["call"], ["calls.number"]),
        sa.PrimaryKeyConstraint("call"),
        sqlite_strict=True,
    )
    op.create_index("call_results_erase", "call_results", ["erase_at"])
    op.execute("INSERT INTO quota (id, used, open) VALUES (1, 0, 0)")
