"""Tables of single sign-on: who is who at the provider, and which attempts were used up."""

from sqlalchemy import Boolean, Column, Index, Table, UniqueConstraint

from interlock.storage._columns import Json, Moment, SafeText, metadata

identities = Table(
    "identities",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("user_id", SafeText, nullable=False),
    Column("issuer", SafeText, nullable=False),
    Column("subject", SafeText, nullable=False),
    Column("label", SafeText, nullable=False),
    Column("groups", Json, nullable=False),
    Column("groups_left_out", Boolean, nullable=False),
    Column("linked_at", Moment, nullable=False),
    Column("used_at", Moment),
    UniqueConstraint("issuer", "subject"),
    Index("ix_identities_user", "user_id"),
)

sign_on_states = Table(
    "sign_on_states",
    metadata,
    Column("state", SafeText, primary_key=True),
    Column("expires_at", Moment, nullable=False),
)
