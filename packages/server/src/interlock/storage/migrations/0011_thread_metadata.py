"""What clients note on a thread."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("threads", sa.Column("metadata", sa.Text(), nullable=False, server_default="{}"))
