"""Drills: requests that were made up for one person. They stand in a table of their own, apart from all requests."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "drills",
        sa.Column("id", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("person_id", "conversation_id", "agent", "tool")),
        sa.Column("args", sa.Text, nullable=False),
        sa.Column("risk", sa.Text, nullable=False),
        sa.Column("outside", sa.Boolean, nullable=False),
        sa.Column("harm", sa.Text, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("settled_at", MOMENT),
        sa.Column("decision", sa.Text),
    )
    op.create_index("ix_drills_person", "drills", ["person_id", "created_at"])
    op.create_index("ix_drills_settled", "drills", ["settled_at"])
