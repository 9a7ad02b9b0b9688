"""Sign-ins that are listed and ended one by one, and people who may not sign in, or who are gone."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    for name in ("disabled_at", "deleted_at", "cleared_at"):
        op.add_column("users", sa.Column(name, sa.DateTime(timezone=True)))
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("issued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("token_key", sa.Integer(), nullable=False),
        sa.Column("how", sa.Text()),
        sa.Column("address", sa.Text()),
        sa.Column("program", sa.Text()),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sign_ins"),
        sa.UniqueConstraint("user_id", "issued_at", name="uq_sign_ins_user_id_issued_at"),
    )
    op.create_index("ix_sign_ins_expires", "sign_ins", ["expires_at"])
