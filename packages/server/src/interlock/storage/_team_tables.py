"""Tables of groups, and of what people do with requests that are put to them."""

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint, Table, text

from interlock.storage._columns import Json, Moment, SafeText, metadata

groups = Table(
    "groups",
    metadata,
    Column("name", SafeText, primary_key=True),
    Column("source", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
)

memberships = Table(
    "memberships",
    metadata,
    Column("group_name", SafeText, nullable=False),
    Column("person_id", SafeText, nullable=False),
    PrimaryKeyConstraint("group_name", "person_id"),
    Index("ix_memberships_person", "person_id"),
)

candidates = Table(
    "candidates",
    metadata,
    Column("request_id", SafeText, nullable=False),
    Column("who", SafeText, nullable=False),
    Column("level", Integer, nullable=False),
    Column("is_added", Boolean, nullable=False),
    Column("is_open", Boolean, nullable=False),
    Column("asked_at", Moment, nullable=False),
    PrimaryKeyConstraint("request_id", "who"),
    Index(
        "ix_candidates_open",
        "who",
        "asked_at",
        "request_id",
        sqlite_where=text("is_open"),
        postgresql_where=text("is_open"),
    ),
)

votes = Table(
    "votes",
    metadata,
    Column("request_id", SafeText, nullable=False),
    Column("person_id", SafeText, nullable=False),
    Column("name", SafeText, nullable=False),
    Column("is_yes", Boolean, nullable=False),
    Column("at", Moment, nullable=False),
    Column("source", SafeText, nullable=False),
    Column("reason", SafeText),
    Column("metadata", Json),
    PrimaryKeyConstraint("request_id", "person_id"),
    Index("ix_votes_at", "at"),
    Index("ix_votes_person", "person_id", "at"),
)

comments = Table(
    "comments",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("request_id", SafeText, nullable=False),
    Column("by_id", SafeText, nullable=False),
    Column("by_name", SafeText, nullable=False),
    Column("text", SafeText, nullable=False),
    Column("at", Moment, nullable=False),
    Index("ix_comments_request", "request_id", "at", "id"),
)

aways = Table(
    "aways",
    metadata,
    Column("person_id", SafeText, primary_key=True),
    Column("since", Moment, nullable=False),
    Column("until", Moment, nullable=False),
    Column("to_id", SafeText),
)
