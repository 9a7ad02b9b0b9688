"""The message in which a notice is told together with others. Servers that do not know it tell each by itself."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("notices", sa.Column("digest", sa.Text()))
    op.add_column("notices", sa.Column("digest_ref", sa.Text()))
    gathered = sa.text("digest IS NOT NULL")
    op.create_index("ix_notices_digest", "notices", ["digest"], sqlite_where=gathered, postgresql_where=gathered)
