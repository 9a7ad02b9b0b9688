"""What somebody has claimed is found among what they claimed, however much waits."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    where = sa.text("status = 'pending' AND claimed_by IS NOT NULL")
    op.create_index("ix_requests_claimed", "requests", ["claimed_by"], sqlite_where=where, postgresql_where=where)
