"""Which call waits for an ask of an agent that runs elsewhere."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "holds",
        sa.Column("request_id", sa.Text(), primary_key=True),
        sa.Column("asker_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("call", sa.Text()),
    )
    op.create_index("ix_holds_orphans", "holds", ["asker_id", "digest"])
    op.create_index("ix_holds_until", "holds", ["held_until"])
