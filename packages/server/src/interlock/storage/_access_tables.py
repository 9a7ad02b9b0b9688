"""Tables about who may do what: people, keys, grants, saved values, and who is told of it outside."""

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from interlock.storage._columns import Json, Moment, Words, metadata

users = Table(
    "users",
    metadata,
    Column("id", Words, primary_key=True),
    Column("username", Words, nullable=False, unique=True),
    Column("password_hash", Words, nullable=False),
    Column("role", Words, nullable=False),
    Column("reviews", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("tokens_after", Moment, nullable=False),
)

ended_tokens = Table(
    "ended_tokens",
    metadata,
    Column("user_id", Words, nullable=False),
    Column("issued_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    PrimaryKeyConstraint("user_id", "issued_at"),
    Index("ix_ended_tokens_expires", "expires_at"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Words, primary_key=True),
    Column("name", Words, nullable=False),
    Column("role", Words, nullable=False),
    Column("owner_id", Words, nullable=False),
    Column("agent", Words),
    Column("hash", Words, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
    Index("ix_api_keys_owner", "owner_id", "created_at"),
)

tickets = Table(
    "tickets",
    metadata,
    Column("hash", Words, primary_key=True),
    Column("user_id", Words),
    Column("key_id", Words),
    Column("issued_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("token_key", Integer),
    Index("ix_tickets_expires", "expires_at"),
)

grants = Table(
    "grants",
    metadata,
    Column("id", Words, primary_key=True),
    Column("owner_id", Words, nullable=False),
    Column("agent", Words, nullable=False),
    Column("thread_id", Words),
    Column("scope", Words, nullable=False),
    Column("tool", Words),
    Column("definition", Words, nullable=False),
    Column("action", Words),
    Column("allow", Boolean, nullable=False),
    Column("by_id", Words, nullable=False),
    Column("by_name", Words, nullable=False),
    Column("request_id", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("revoked_at", Moment),
    Column("revoked_by", Words),
    Column("uses", Integer, nullable=False),
    Column("last_used_at", Moment),
    Index(
        "ix_grants_live",
        "owner_id",
        "agent",
        sqlite_where=text("revoked_at IS NULL"),
        postgresql_where=text("revoked_at IS NULL"),
    ),
)

saved_secrets = Table(
    "saved_secrets",
    metadata,
    Column("id", Words, primary_key=True),
    Column("owner_id", Words, nullable=False),
    Column("agent", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("sensitive", Boolean, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("request_id", Words, nullable=False),
    Column("by_name", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("owner_id", "agent", "name"),
)

replies = Table(
    "replies",
    metadata,
    Column("principal_id", Words, nullable=False),
    Column("operation", Words, nullable=False),
    Column("key", Words, nullable=False),
    Column("body_hash", Words, nullable=False),
    Column("reply", LargeBinary),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("principal_id", "operation", "key"),
    Index("ix_replies_created", "created_at"),
)

server_keys = Table(
    "server_keys",
    metadata,
    Column("purpose", Words, nullable=False),
    Column("id", Words, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("purpose", "id"),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Words, primary_key=True),
    Column("url", Words, nullable=False),
    Column("events", Json, nullable=False),
    Column("agents", Json, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_by", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("removed_at", Moment),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Words, primary_key=True),
    Column("webhook_id", Words, nullable=False),
    Column("event", Words, nullable=False),
    Column("thread_id", Words, nullable=False),
    Column("request_id", Words, nullable=False),
    Column("body", Json, nullable=False),
    Column("status", Words, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", Moment),
    Column("last_status", Integer),
    Column("last_error", Words),
    Column("created_at", Moment, nullable=False),
    Column("delivered_at", Moment),
    Index(
        "ix_deliveries_due",
        "due_at",
        sqlite_where=text("status = 'waiting'"),
        postgresql_where=text("status = 'waiting'"),
    ),
    Index("ix_deliveries_thread", "thread_id"),
    Index("ix_deliveries_webhook", "webhook_id", "created_at", "id"),
)
