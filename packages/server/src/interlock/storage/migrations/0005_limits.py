"""Threads whose rows are dropped bit by bit, runs that nobody may follow any more, and requests found by thread."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_index("ix_requests_thread", "requests", ["thread_id", "status"])
    op.create_index("ix_deliveries_thread", "deliveries", ["thread_id"])
    op.create_table(
        "removals",
        sa.Column("thread_id", sa.Text(), primary_key=True),
        sa.Column("by_id", sa.Text(), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "unfollowed",
        sa.Column("thread_id", sa.Text(), primary_key=True),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
