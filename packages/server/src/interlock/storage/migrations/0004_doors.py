"""Tickets that end with the key of their token."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("tickets", sa.Column("token_key", sa.Integer()))
