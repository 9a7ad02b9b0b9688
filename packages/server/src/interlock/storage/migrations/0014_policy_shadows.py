"""Policies in shadow: evaluated beside the one that counts, and their word recorded."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "policy_shadows",
        sa.Column("step", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer()),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "policy_shadow_words",
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("request_id", sa.Text(), primary_key=True),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("ruling", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text()),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.Column("active_version", sa.Integer()),
        sa.Column("active_ruling", sa.Text(), nullable=False),
        sa.Column("active_rule", sa.Text()),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_policy_shadow_words_cell", "policy_shadow_words", ["version", "active_ruling", "ruling", "at"])
    op.create_index("ix_policy_shadow_words_thread", "policy_shadow_words", ["thread_id"])
