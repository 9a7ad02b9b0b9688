"""Tables of policies: every version that was saved, and which of them counts."""

from sqlalchemy import Column, Integer, Table

from interlock.storage._columns import Moment, SafeText, metadata

policy_versions = Table(
    "policy_versions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("text", SafeText, nullable=False),
    Column("by_id", SafeText, nullable=False),
    Column("by_name", SafeText, nullable=False),
    Column("note", SafeText, nullable=False),
    Column("engine", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
)

policy_activations = Table(
    "policy_activations",
    metadata,
    Column("step", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer),
    Column("by_name", SafeText, nullable=False),
    Column("at", Moment, nullable=False),
)
"""The last step says which version counts; one without a number, that none does."""
