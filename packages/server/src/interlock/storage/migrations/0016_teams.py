"""Teams: groups, who a request is put to, votes, comments, and who is away."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    for column in (
        sa.Column("terms", sa.Text()),
        sa.Column("policy_version", sa.Integer()),
        sa.Column("rule", sa.Text()),
        sa.Column("level", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("escalate_at", _MOMENT),
        sa.Column("claimed_by", sa.Text()),
        sa.Column("claimed_until", _MOMENT),
        sa.Column("claimed_at", _MOMENT),
    ):
        op.add_column("requests", column)
    _add_partial_index(
        "ix_requests_escalate", "requests", ["escalate_at"], "status = 'pending' AND escalate_at IS NOT NULL"
    )
    _add_groups()
    _add_what_people_say()


def _add_partial_index(name: str, table: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def _add_groups() -> None:
    op.create_table(
        "groups",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
    )
    op.create_table(
        "memberships",
        sa.Column("group_name", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("group_name", "person_id"),
    )
    op.create_index("ix_memberships_person", "memberships", ["person_id"])
    op.create_table(
        "candidates",
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("is_added", sa.Boolean(), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("asked_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("request_id", "who"),
    )
    _add_partial_index("ix_candidates_open", "candidates", ["who", "asked_at", "request_id"], "is_open")


def _add_what_people_say() -> None:
    op.create_table(
        "votes",
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("person_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_yes", sa.Boolean(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("metadata", sa.Text()),
        sa.PrimaryKeyConstraint("request_id", "person_id"),
    )
    op.create_table(
        "comments",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("by_id", sa.Text(), nullable=False),
        sa.Column("by_name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
    )
    op.create_index("ix_comments_request", "comments", ["request_id", "at", "id"])
    op.create_table(
        "aways",
        sa.Column("person_id", sa.Text(), primary_key=True),
        sa.Column("since", _MOMENT, nullable=False),
        sa.Column("until", _MOMENT, nullable=False),
        sa.Column("to_id", sa.Text()),
    )
