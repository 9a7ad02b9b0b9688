"""The table of drills."""

from sqlalchemy import Boolean, Column, Index, Table

from interlock.storage._columns import Json, Moment, SafeText, metadata

drills = Table(
    "drills",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("person_id", SafeText, nullable=False),
    Column("conversation_id", SafeText, nullable=False),
    Column("agent", SafeText, nullable=False),
    Column("tool", SafeText, nullable=False),
    Column("args", Json, nullable=False),
    Column("risk", SafeText, nullable=False),
    Column("outside", Boolean, nullable=False),
    Column("harm", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("settled_at", Moment),
    Column("decision", SafeText),
    Index("ix_drills_person", "person_id", "created_at"),
    Index("ix_drills_settled", "settled_at"),
)
