"""The tables. Alembic's migrations build them; a test holds the two against each other."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    text,
)

from interlock.storage._access_tables import (
    api_keys,
    deliveries,
    ended_tokens,
    grants,
    holds,
    replies,
    saved_secrets,
    server_keys,
    sign_ins,
    tickets,
    users,
    webhooks,
)
from interlock.storage._columns import Json, Moment, SafeText, metadata, storable
from interlock.storage._policy_tables import policy_activations, policy_versions
from interlock.storage._sign_on_tables import identities, sign_on_states

__all__ = [
    "Json",
    "Moment",
    "SafeText",
    "answers",
    "api_keys",
    "audit",
    "audit_heads",
    "checkpoint_blobs",
    "checkpoint_writes",
    "checkpoints",
    "deliveries",
    "effects",
    "ended_tokens",
    "events",
    "grants",
    "holds",
    "identities",
    "marks",
    "metadata",
    "pauses",
    "policy_activations",
    "policy_versions",
    "removals",
    "replies",
    "requests",
    "runs",
    "saved_secrets",
    "secrets",
    "server_keys",
    "sign_ins",
    "sign_on_states",
    "storable",
    "threads",
    "tickets",
    "tool_pins",
    "unfollowed",
    "upstream_calls",
    "users",
    "waiting_runs",
    "webhooks",
    "workers",
]

threads = Table(
    "threads",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("owner_id", SafeText, nullable=False),
    Column("agent", SafeText, nullable=False),
    Column("asker_id", SafeText),
    Column("face", SafeText, nullable=False, server_default=""),
    Column("title", SafeText, nullable=False),
    Column("status", SafeText, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("message_count", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("lease_worker", SafeText),
    Column("lease_run", SafeText),
    Column("lease_until", Moment),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("metadata", Json, nullable=False, server_default="{}"),
    Index("ix_threads_owner", "owner_id", "updated_at"),
    Index("ix_threads_face", "face", "owner_id"),
    Index(
        "ix_threads_lease",
        "lease_until",
        sqlite_where=text("lease_worker IS NOT NULL"),
        postgresql_where=text("lease_worker IS NOT NULL"),
    ),
)

removals = Table(
    "removals",
    metadata,
    Column("thread_id", SafeText, primary_key=True),
    Column("by_id", SafeText, nullable=False),
    Column("by_name", SafeText, nullable=False),
    Column("at", Moment, nullable=False),
)
"""Deleted threads of which rows are left: nobody sees them any more, and they are dropped bit by bit."""

runs = Table(
    "runs",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("thread_id", SafeText, nullable=False),
    Column("cause", SafeText, nullable=False),
    Column("status", SafeText, nullable=False),
    Column("input", Json, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("started_seq", BigInteger, nullable=False),
    Column("stop_reason", SafeText),
    Column("detached", Boolean, nullable=False),
    Column("error", SafeText),
    Column("created_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Index("ix_runs_thread", "thread_id", "number"),
    Index(
        "ix_runs_queued",
        "created_at",
        sqlite_where=text("status = 'queued'"),
        postgresql_where=text("status = 'queued'"),
    ),
    Index(
        "uq_runs_active",
        "thread_id",
        unique=True,
        sqlite_where=text("status IN ('queued', 'running')"),
        postgresql_where=text("status IN ('queued', 'running')"),
    ),
)

waiting_runs = Table(
    "waiting_runs",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("thread_id", SafeText, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("input", Json, nullable=False),
    Column("detached", Boolean, nullable=False),
    Column("by_id", SafeText, nullable=False),
    Column("by_name", SafeText, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("ix_waiting_runs_thread", "thread_id", "number"),
)

pauses = Table(
    "pauses",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("thread_id", SafeText, nullable=False),
    Column("run_id", SafeText, nullable=False),
    Column("status", SafeText, nullable=False),
    Column("origin", SafeText, nullable=False),
    Column("node", SafeText, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("opened_seq", BigInteger),
    Column("created_at", Moment, nullable=False),
    Column("changed_at", Moment),
    Index("ix_pauses_thread", "thread_id", "status", "seq"),
)

requests = Table(
    "requests",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("pause_id", SafeText, nullable=False),
    Column("thread_id", SafeText, nullable=False),
    Column("kind", SafeText, nullable=False),
    Column("status", SafeText, nullable=False),
    Column("position", Integer, nullable=False),
    Column("body", Json, nullable=False),
    Column("interrupt_id", SafeText),
    Column("form", Json, nullable=False),
    Column("call_id", SafeText),
    Column("message_id", SafeText),
    Column("digest", SafeText),
    Column("definition", SafeText),
    Column("toolset", SafeText),
    Column("timeout_seconds", Float),
    Column("deadline", Moment),
    Column("warn_at", Moment),
    Column("owner_id", SafeText, nullable=False, server_default=""),
    Column("agent", SafeText, nullable=False, server_default=""),
    Column("risk", SafeText, nullable=False, server_default=""),
    Column("tool", SafeText, nullable=False, server_default=""),
    Column("created_at", Moment, nullable=False),
    Column("settled_at", Moment),
    Column("ended_by", SafeText),
    Column("ended_source", SafeText),
    Column("ended_reason", SafeText),
    Index("ix_requests_pause", "pause_id", "position"),
    Index("ix_requests_thread", "thread_id", "status"),
    Index("ix_requests_settled", "settled_at", "id"),
    Index("ix_requests_settled_owner", "owner_id", "settled_at", "id"),
    Index(
        "ix_requests_deadline",
        "deadline",
        sqlite_where=text("status = 'pending' AND deadline IS NOT NULL"),
        postgresql_where=text("status = 'pending' AND deadline IS NOT NULL"),
    ),
    Index(
        "ix_requests_warn",
        "warn_at",
        sqlite_where=text("status = 'pending' AND warn_at IS NOT NULL"),
        postgresql_where=text("status = 'pending' AND warn_at IS NOT NULL"),
    ),
    *(
        Index(
            f"ix_requests_pending_{name}",
            *columns,
            "created_at",
            "id",
            sqlite_where=text("status = 'pending'"),
            postgresql_where=text("status = 'pending'"),
        )
        for name, columns in {
            "all": (),
            "owner": ("owner_id",),
            "agent": ("agent",),
            "kind": ("kind",),
            "risk": ("risk",),
        }.items()
    ),
)

answers = Table(
    "answers",
    metadata,
    Column("request_id", SafeText, primary_key=True),
    Column("value", Json, nullable=False),
    Column("by_id", SafeText, nullable=False),
    Column("by_name", SafeText, nullable=False),
    Column("source", SafeText, nullable=False),
    Column("origin", SafeText, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("at", Moment, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("thread_id", SafeText, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("type", SafeText, nullable=False),
    Column("data", Json, nullable=False),
    Column("at", Moment, nullable=False),
    PrimaryKeyConstraint("thread_id", "seq"),
)

effects = Table(
    "effects",
    metadata,
    Column("thread_id", SafeText, nullable=False),
    Column("task_id", SafeText, nullable=False),
    Column("call_id", SafeText, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("run_id", SafeText, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("tool", SafeText, nullable=False),
    Column("args", Json, nullable=False),
    Column("digest", SafeText, nullable=False),
    Column("state", SafeText, nullable=False),
    Column("idempotent", Boolean, nullable=False),
    Column("asks", Integer, nullable=False),
    Column("result", LargeBinary),
    Column("parent_task_id", SafeText),
    Column("parent_call_id", SafeText),
    Column("error", SafeText),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    PrimaryKeyConstraint("thread_id", "task_id", "call_id"),
    Index("ix_effects_order", "thread_id", "number"),
    Index("ix_effects_open", "thread_id", "state"),
)

audit = Table(
    "audit",
    metadata,
    Column("thread_id", SafeText, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("at", Moment, nullable=False),
    Column("actor_id", SafeText, nullable=False),
    Column("actor_name", SafeText, nullable=False),
    Column("action", SafeText, nullable=False),
    Column("data", Json, nullable=False),
    Column("hash", SafeText, nullable=False),
    PrimaryKeyConstraint("thread_id", "number"),
    Index("ix_audit_at", "at", "thread_id", "number"),
)

audit_heads = Table(
    "audit_heads",
    metadata,
    Column("thread_id", SafeText, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("hash", SafeText, nullable=False),
    Column("mac", SafeText, nullable=False),
)

secrets = Table(
    "secrets",
    metadata,
    Column("handle", SafeText, primary_key=True),
    Column("thread_id", SafeText, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("request_id", SafeText, nullable=False),
    Column("name", SafeText, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    Index("ix_secrets_thread", "thread_id", "number"),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("thread_id", SafeText, nullable=False),
    Column("ns", SafeText, nullable=False),
    Column("id", SafeText, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("parent_id", SafeText),
    Column("run_id", SafeText),
    Column("type", SafeText, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("metadata", Json, nullable=False),
    PrimaryKeyConstraint("thread_id", "ns", "id"),
    Index("ix_checkpoints_order", "thread_id", "ns", "seq"),
)

checkpoint_blobs = Table(
    "checkpoint_blobs",
    metadata,
    Column("thread_id", SafeText, nullable=False),
    Column("ns", SafeText, nullable=False),
    Column("channel", SafeText, nullable=False),
    Column("version", SafeText, nullable=False),
    Column("type", SafeText, nullable=False),
    Column("body", LargeBinary),
    PrimaryKeyConstraint("thread_id", "ns", "channel", "version"),
)

checkpoint_writes = Table(
    "checkpoint_writes",
    metadata,
    Column("thread_id", SafeText, nullable=False),
    Column("ns", SafeText, nullable=False),
    Column("checkpoint_id", SafeText, nullable=False),
    Column("task_id", SafeText, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("task_path", SafeText, nullable=False),
    Column("channel", SafeText, nullable=False),
    Column("type", SafeText, nullable=False),
    Column("body", LargeBinary),
    PrimaryKeyConstraint("thread_id", "ns", "checkpoint_id", "task_id", "idx"),
)

marks = Table(
    "marks",
    metadata,
    Column("name", SafeText, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

unfollowed = Table(
    "unfollowed",
    metadata,
    Column("thread_id", SafeText, primary_key=True),
    Column("mark", SafeText, nullable=False),
    Column("at", Moment, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("node", SafeText, nullable=False),
    Column("kind", SafeText, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("capacity", Integer, nullable=False),
    Column("running", Integer, nullable=False),
    Column("measured", Json, nullable=False),
)

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
