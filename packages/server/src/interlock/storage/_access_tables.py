"""Tables about who may do what: people, their sign-ins and identities at a provider, keys, grants, saved values, and
who is told of it outside."""

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

from interlock.storage._columns import Json, Moment, SafeText, metadata

users = Table(
    "users",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("username", SafeText, nullable=False, unique=True),
    Column("password_hash", SafeText, nullable=False),
    Column("role", SafeText, nullable=False),
    Column("reviews", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("tokens_after", Moment, nullable=False),
    Column("disabled_at", Moment),
    Column("deleted_at", Moment),
    Column("cleared_at", Moment),
)

sign_ins = Table(
    "sign_ins",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("user_id", SafeText, nullable=False),
    Column("issued_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("token_key", Integer, nullable=False),
    Column("how", SafeText),
    Column("address", SafeText),
    Column("program", SafeText),
    Column("used_at", Moment, nullable=False),
    Column("identity_id", SafeText),
    UniqueConstraint("user_id", "issued_at"),
    Index("ix_sign_ins_expires", "expires_at"),
)

ended_tokens = Table(
    "ended_tokens",
    metadata,
    Column("user_id", SafeText, nullable=False),
    Column("issued_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    PrimaryKeyConstraint("user_id", "issued_at"),
    Index("ix_ended_tokens_expires", "expires_at"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("name", SafeText, nullable=False),
    Column("role", SafeText, nullable=False),
    Column("owner_id", SafeText, nullable=False),
    Column("agent", SafeText),
    Column("hash", SafeText, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
    Index("ix_api_keys_owner", "owner_id", "created_at"),
)

tickets = Table(
    "tickets",
    metadata,
    Column("hash", SafeText, primary_key=True),
    Column("user_id", SafeText),
    Column("key_id", SafeText),
    Column("issued_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("token_key", Integer),
    Index("ix_tickets_expires", "expires_at"),
)

grants = Table(
    "grants",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("owner_id", SafeText, nullable=False),
    Column("agent", SafeText, nullable=False),
    Column("thread_id", SafeText),
    Column("scope", SafeText, nullable=False),
    Column("tool", SafeText),
    Column("definition", SafeText, nullable=False),
    Column("action", SafeText),
    Column("allow", Boolean, nullable=False),
    Column("by_id", SafeText, nullable=False),
    Column("by_name", SafeText, nullable=False),
    Column("request_id", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("revoked_at", Moment),
    Column("revoked_by", SafeText),
    Column("uses", Integer, nullable=False),
    Column("last_used_at", Moment),
    Column("ceiling", SafeText),
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
    Column("id", SafeText, primary_key=True),
    Column("owner_id", SafeText, nullable=False),
    Column("agent", SafeText, nullable=False),
    Column("name", SafeText, nullable=False),
    Column("sensitive", Boolean, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("request_id", SafeText, nullable=False),
    Column("by_name", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("owner_id", "agent", "name"),
)

replies = Table(
    "replies",
    metadata,
    Column("principal_id", SafeText, nullable=False),
    Column("operation", SafeText, nullable=False),
    Column("key", SafeText, nullable=False),
    Column("body_hash", SafeText, nullable=False),
    Column("reply", LargeBinary),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("principal_id", "operation", "key"),
    Index("ix_replies_created", "created_at"),
)

holds = Table(
    "holds",
    metadata,
    Column("request_id", SafeText, primary_key=True),
    Column("asker_id", SafeText, nullable=False),
    Column("digest", SafeText, nullable=False),
    Column("holder", SafeText, nullable=False),
    Column("held_until", Moment, nullable=False),
    Column("call", SafeText),
    Index("ix_holds_orphans", "asker_id", "digest"),
    Index("ix_holds_until", "held_until"),
)

server_keys = Table(
    "server_keys",
    metadata,
    Column("purpose", SafeText, nullable=False),
    Column("id", SafeText, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("purpose", "id"),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("url", SafeText, nullable=False),
    Column("events", Json, nullable=False),
    Column("agents", Json, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_by", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("removed_at", Moment),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("webhook_id", SafeText, nullable=False),
    Column("event", SafeText, nullable=False),
    Column("thread_id", SafeText, nullable=False),
    Column("request_id", SafeText, nullable=False),
    Column("body", Json, nullable=False),
    Column("status", SafeText, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", Moment),
    Column("last_status", Integer),
    Column("last_error", SafeText),
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
