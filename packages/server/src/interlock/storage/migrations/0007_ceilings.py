"""The highest risk that a grant covers: of older ones that of the request they were given on, else the lowest."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("grants", sa.Column("ceiling", sa.Text()))
    op.execute(
        """
        UPDATE grants SET ceiling = COALESCE(
            (SELECT risk FROM requests WHERE requests.id = grants.request_id AND risk <> ''), 'low'
        )
        """
    )
