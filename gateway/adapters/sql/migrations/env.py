"""What Alembic runs: always on the connection `migrate` hands over."""

from alembic import context

from gateway.adapters.sql import unit_of_work
from gateway.adapters.sql.metadata import METADATA

assert unit_of_work, "its import completes the metadata"

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
