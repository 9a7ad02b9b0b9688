"""Indexes for calls that are alike, and for what one person answered."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    known = sa.text("settled_at IS NOT NULL AND definition IS NOT NULL")
    columns = ["owner_id", "agent", "definition", "settled_at", "id"]
    op.create_index("ix_requests_alike", "requests", columns, sqlite_where=known, postgresql_where=known)
    op.create_index("ix_answers_by", "answers", ["by_id", "at"])
