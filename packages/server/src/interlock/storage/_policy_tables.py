"""Tables of policies: every version that was saved, which of them counts, and what one in shadow would have said."""

from sqlalchemy import Boolean, Column, Index, Integer, Table

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

policy_shadows = Table(
    "policy_shadows",
    metadata,
    Column("step", Integer, primary_key=True, autoincrement=False),
    Column("number", Integer),
    Column("by_name", SafeText, nullable=False),
    Column("at", Moment, nullable=False),
)
"""The last step says which version is in shadow; one without a number, that none is."""

policy_shadow_words = Table(
    "policy_shadow_words",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("request_id", SafeText, primary_key=True),
    Column("thread_id", SafeText, nullable=False),
    Column("ruling", SafeText, nullable=False),
    Column("rule", SafeText),
    Column("failed", Boolean, nullable=False),
    Column("active_version", Integer),
    Column("active_ruling", SafeText, nullable=False),
    Column("active_rule", SafeText),
    Column("at", Moment, nullable=False),
    Index("ix_policy_shadow_words_cell", "version", "active_ruling", "ruling", "at"),
    Index("ix_policy_shadow_words_thread", "thread_id"),
    Index("ix_policy_shadow_words_request", "request_id"),
)
"""What a version in shadow would have said of a request, beside what counted then."""
