"""Policies: rules that say which asks need no person."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "policy_versions",
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("by_id", sa.Text(), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "policy_activations",
        sa.Column("step", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer()),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
