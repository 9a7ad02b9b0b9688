"""Tables of the gateway: calls whose end is not known, and the definitions that people approved."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table

from interlock.storage._columns import Moment, SafeText, metadata

upstream_calls = Table(
    "upstream_calls",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("asker_id", SafeText, nullable=False),
    Column("thread_id", SafeText, nullable=False),
    Column("upstream", SafeText, nullable=False),
    Column("digest", SafeText, nullable=False),
    Column("holder", SafeText, nullable=False),
    Column("held_until", Moment, nullable=False),
    Column("doubt_id", SafeText),
    Index("ix_upstream_calls_same", "asker_id", "digest"),
    Index("ix_upstream_calls_until", "held_until"),
)

tool_pins = Table(
    "tool_pins",
    metadata,
    Column("owner_id", SafeText, nullable=False),
    Column("upstream", SafeText, nullable=False),
    Column("tool", SafeText, nullable=False),
    Column("digest", SafeText, nullable=False),
    PrimaryKeyConstraint("owner_id", "upstream", "tool"),
)
