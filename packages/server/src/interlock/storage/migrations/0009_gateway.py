"""Calls of a gateway whose end is not known, and the definitions of tools that people approved."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "upstream_calls",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("asker_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("upstream", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("doubt_id", sa.Text()),
    )
    op.create_index("ix_upstream_calls_same", "upstream_calls", ["asker_id", "digest"])
    op.create_index("ix_upstream_calls_until", "upstream_calls", ["held_until"])
    op.create_table(
        "tool_pins",
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("upstream", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "upstream", "tool"),
    )
