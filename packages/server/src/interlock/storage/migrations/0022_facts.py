"""Facts that no other column keeps, for rules that look at a request later: its owner's groups. Indexes for figures."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("requests", sa.Column("facts", sa.Text()))
    op.create_index("ix_votes_at", "votes", ["at"])
    op.create_index("ix_votes_person", "votes", ["person_id", "at"])
    op.create_index("ix_policy_shadow_words_request", "policy_shadow_words", ["request_id"])
