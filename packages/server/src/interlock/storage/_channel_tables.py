"""Tables of channels: who is reached on them, and what they were told."""

from sqlalchemy import Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, UniqueConstraint, text

from interlock.storage._columns import Json, Moment, SafeText, metadata

channels = Table(
    "channels",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("kind", SafeText, nullable=False),
    Column("name", SafeText, nullable=False),
    Column("shows", SafeText, nullable=False),
    Column("ceiling", SafeText, nullable=False),
    Column("settings", Json, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_by", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("removed_at", Moment),
)

addresses = Table(
    "addresses",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("user_id", SafeText, nullable=False),
    Column("channel_id", SafeText, nullable=False),
    Column("external_id", SafeText, nullable=False),
    Column("linked_at", Moment, nullable=False),
    Column("off_at", Moment),
    UniqueConstraint("channel_id", "external_id"),
    Index("ix_addresses_user", "user_id", "channel_id"),
)

link_codes = Table(
    "link_codes",
    metadata,
    Column("user_id", SafeText, nullable=False),
    Column("channel_id", SafeText, nullable=False),
    Column("external_id", SafeText),
    Column("hash", SafeText, nullable=False),
    Column("made_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("tries", Integer, nullable=False),
    PrimaryKeyConstraint("user_id", "channel_id"),
)

preferences = Table(
    "preferences",
    metadata,
    Column("user_id", SafeText, primary_key=True),
    Column("wanted", Json, nullable=False),
)

_OPEN = text("ending IS NULL AND status IN ('waiting', 'sent')")
_DUE = text("due_at IS NOT NULL")
_TOLD_TOGETHER = text("digest IS NOT NULL")

notices = Table(
    "notices",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("channel_id", SafeText, nullable=False),
    Column("address_id", SafeText, nullable=False),
    Column("request_id", SafeText, nullable=False),
    Column("status", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("due_at", Moment),
    Column("attempts", Integer, nullable=False),
    Column("ref", SafeText),
    Column("ending", Json),
    Column("last_error", SafeText),
    Column("sent_at", Moment),
    Column("digest", SafeText),
    Column("digest_ref", SafeText),
    UniqueConstraint("request_id", "address_id"),
    Index("ix_notices_due", "due_at", sqlite_where=_DUE, postgresql_where=_DUE),
    Index("ix_notices_open", "request_id", sqlite_where=_OPEN, postgresql_where=_OPEN),
    Index("ix_notices_channel", "channel_id", "created_at", "id"),
    Index("ix_notices_digest", "digest", sqlite_where=_TOLD_TOGETHER, postgresql_where=_TOLD_TOGETHER),
)

notice_tokens = Table(
    "notice_tokens",
    metadata,
    Column("hash", SafeText, primary_key=True),
    Column("notice_id", SafeText, nullable=False),
    Column("request_id", SafeText, nullable=False),
    Column("digest", SafeText, nullable=False),
    Column("action", SafeText, nullable=False),
    Column("ends_at", Moment, nullable=False),
    Index("ix_notice_tokens_ends", "ends_at"),
)

taps = Table(
    "taps",
    metadata,
    Column("channel_id", SafeText, nullable=False),
    Column("event_id", SafeText, nullable=False),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("channel_id", "event_id"),
    Index("ix_taps_at", "at"),
)

channel_holds = Table(
    "channel_holds",
    metadata,
    Column("channel_id", SafeText, primary_key=True),
    Column("holder", SafeText, nullable=False),
    Column("held_until", Moment, nullable=False),
)
