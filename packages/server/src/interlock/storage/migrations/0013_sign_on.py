"""Single sign-on: identities at a provider, sessions opened through one, and attempts that were used up."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "identities",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("groups", sa.Text(), nullable=False),
        sa.Column("groups_left_out", sa.Boolean(), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True)),
        sa.UniqueConstraint("issuer", "subject", name="uq_identities_issuer_subject"),
    )
    op.create_index("ix_identities_user", "identities", ["user_id"])
    op.create_table(
        "sign_on_states",
        sa.Column("state", sa.Text(), primary_key=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )
    # Beside `how`, whose values servers of the version before know.
    op.add_column("sign_ins", sa.Column("identity_id", sa.Text()))
