"""The workers of a cluster, the marks by which servers see that something has changed, sign-outs, more of requests."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _ended_tokens()
    for name in ("ended_by", "ended_source", "ended_reason"):
        op.add_column("requests", sa.Column(name, sa.Text()))
    pending = sa.text("status = 'pending'")
    for name in ("kind", "risk"):
        op.create_index(
            f"ix_requests_pending_{name}",
            "requests",
            [name, "created_at", "id"],
            sqlite_where=pending,
            postgresql_where=pending,
        )
    op.create_table(
        "marks",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("value", sa.BigInteger(), nullable=False),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("running", sa.Integer(), nullable=False),
        sa.Column("measured", sa.Text(), nullable=False),
    )


def _ended_tokens() -> None:
    op.create_table(
        "ended_tokens",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "issued_at", name="pk_ended_tokens"),
    )
    op.create_index("ix_ended_tokens_expires", "ended_tokens", ["expires_at"])
