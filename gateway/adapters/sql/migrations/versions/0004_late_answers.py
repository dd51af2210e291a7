"""What an answer needs that comes after a restart: the promise it is judged by, and the secret its page still has."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
BYTES = sa.LargeBinary()


def upgrade() -> None:
    op.add_column("call_inputs", sa.Column("promise", TEXT, nullable=True))
    op.add_column("page_sessions", sa.Column("resume_before", BYTES, nullable=True))
