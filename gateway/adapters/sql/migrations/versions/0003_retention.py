"""What retention looks for: ended calls, ended grants, pages without standing, denials that are over."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_index("calls_ended", "calls", ["minted", "ended_at"])
    op.create_index("agent_sessions_expires", "agent_sessions", ["expires_at"])
    op.create_index("agent_sessions_revoked", "agent_sessions", ["revoked_at"])
    op.create_index("page_sessions_standing", "page_sessions", ["standing_until"])
    op.create_index("denials_until", "denials", ["until"])
    # An `unknown` call is never run again, so nobody needs its arguments.
    op.execute("DELETE FROM call_inputs WHERE call IN (SELECT number FROM calls WHERE state = 'unknown')")
