"""Everybody's newest threads, and those that run or wait for people, are found among very many."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

BUSY = sa.text("status IN ('running', 'paused')")


def upgrade() -> None:
    op.create_index("ix_threads_busy", "threads", ["owner_id", "updated_at"], sqlite_where=BUSY, postgresql_where=BUSY)
    op.create_index("ix_threads_updated", "threads", ["updated_at"])
