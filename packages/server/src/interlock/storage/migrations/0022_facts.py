"""Facts that no other column keeps, for rules that look at a request later: the groups of its owner."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("requests", sa.Column("facts", sa.Text()))
